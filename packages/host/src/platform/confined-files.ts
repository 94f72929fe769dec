import nodeFs, { type Dirent } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { isMissingPath } from "./local-disk-folders.ts";
import { promised } from "./node-append-file.ts";
import { NodeReadFile, openFile, type ReadCalls, readOpened } from "./node-read-file.ts";
import type { Files, ReadableFiles } from "./platform.ts";

const fstat = promisify(nodeFs.fstat);
const readdir = promisify(nodeFs.readdir);
const readlink = promisify(nodeFs.readlink);
const open = promisify(nodeFs.open);
const native = promisify(nodeFs.realpath.native);
const stat = promisify(nodeFs.stat);

/** Resolves all symlinks of a path. Names that do not exist yet, at its end, are appended unchanged. */
export async function realPath(path: string): Promise<string> {
  const missing: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return join(await native(at), ...missing);
    } catch (cause) {
      const { code } = cause as NodeJS.ErrnoException;
      if ((code !== "ENOENT" && code !== "ENOTDIR") || dirname(at) === at) throw cause;
      missing.unshift(basename(at));
    }
  }
}

/**
 * A read-only view of the file system for a caller with restricted access: a path whose real path `isAllowed` refuses
 * does not exist in it.
 */
export function confinedFiles(
  calls: ReadCalls,
  files: Files,
  isAllowed: (realPath: string) => Promise<boolean>,
): ReadableFiles {
  const leadsToAllowed = async (path: string): Promise<boolean> => {
    try {
      return await isAllowed(await realPath(path));
    } catch {
      return false;
    }
  };
  /**
   * Opens the file, and then checks the path of the open descriptor, so that swapping a symlink in between has no
   * effect.
   */
  const openAllowed = async (
    path: string,
  ): Promise<{ readonly fd: number; readonly size: number } | undefined> => {
    // A path that visibly leads outside is refused before the open, because opening a device may have side effects.
    if (!(await leadsToAllowed(path))) return undefined;
    let file: { readonly fd: number; readonly size: number };
    try {
      file = await openFile(calls, path);
    } catch (cause) {
      if (isMissingPath(cause)) return undefined;
      throw cause;
    }
    if (await isInside(file.fd, path)) return file;
    await promised((answer) => calls.close(file.fd, answer));
    return undefined;
  };
  const isInside = async (fd: number, path: string): Promise<boolean> => {
    const real = await openedPath(fd, path).catch(() => undefined);
    return real !== undefined && isAllowed(real);
  };

  return {
    async readText(path) {
      const file = await openAllowed(path);
      return file && readOpened(calls, file, path);
    },

    async openRead(path) {
      const file = await openAllowed(path);
      return file && new NodeReadFile(calls, file.fd, path);
    },

    async list(folder) {
      if (!(await leadsToAllowed(folder))) return [];
      try {
        const entries = await listOpened(folder, isInside);
        return entries.map((entry) => ({ name: entry.name, folder: entry.isDirectory() }));
      } catch (cause) {
        if (isMissingPath(cause)) return [];
        throw cause;
      }
    },

    // A symlink in a readable folder exists, wherever it points. Reading its target is checked separately.
    async exists(path) {
      return (await leadsToAllowed(dirname(path))) && files.exists(path);
    },

    async stamps(paths) {
      const stamps: number[] = [];
      for (const path of paths) {
        const found = (await leadsToAllowed(path)) ? await files.stamps([path]) : [0, 0, 0];
        if (found === undefined) return undefined;
        stamps.push(...found);
      }
      return stamps;
    },
  };
}

/** The real path of an open descriptor. Throws if it cannot be determined. */
async function openedPath(fd: number, path: string): Promise<string> {
  if (process.platform === "linux") return readlink(`/proc/self/fd/${fd}`);
  const real = await realPath(path);
  const [opened, found] = await Promise.all([fstat(fd), stat(real)]);
  if (opened.ino !== found.ino || opened.dev !== found.dev) throw new Error(`${path} has changed`);
  return real;
}

/** Lists a folder if the folder that was opened is inside the allowed ones. */
async function listOpened(
  path: string,
  isInside: (fd: number, path: string) => Promise<boolean>,
): Promise<readonly Dirent[]> {
  // Only Linux can list a folder by its descriptor.
  if (process.platform !== "linux") return readdir(await realPath(path), { withFileTypes: true });
  const { O_RDONLY, O_DIRECTORY, O_NONBLOCK } = nodeFs.constants;
  const fd = await open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
  try {
    return (await isInside(fd, path)) ? await readdir(`/proc/self/fd/${fd}`, { withFileTypes: true }) : [];
  } finally {
    await promised((answer) => nodeFs.close(fd, answer));
  }
}
