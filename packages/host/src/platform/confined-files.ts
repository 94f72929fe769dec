import nodeFs, { type Dirent } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { leadsNowhere } from "./near-folders.ts";
import { called } from "./node-append-file.ts";
import { NodeReadFile, openFile, type ReadCalls, readOpened } from "./node-read-file.ts";
import type { Files, ReadableFiles } from "./platform.ts";

const fstat = promisify(nodeFs.fstat);
const readdir = promisify(nodeFs.readdir);
const readlink = promisify(nodeFs.readlink);
const open = promisify(nodeFs.open);
const native = promisify(nodeFs.realpath.native);
const stat = promisify(nodeFs.stat);

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

/** The file system as far as `isAllowed` lets it be seen. */
export function confinedFiles(
  calls: ReadCalls,
  files: Files,
  isAllowed: (realPath: string) => Promise<boolean>,
): ReadableFiles {
  const leadsInside = async (path: string): Promise<boolean> => {
    try {
      return await isAllowed(await realPath(path));
    } catch {
      return false;
    }
  };
  /** Opens first and asks then: the answer is about what was opened, whatever the path leads to by now. */
  const opened = async (
    path: string,
  ): Promise<{ readonly fd: number; readonly size: number } | undefined> => {
    // What is outside is not even opened, as far as can be told: to open a device may do something.
    if (!(await leadsInside(path))) return undefined;
    let file: { readonly fd: number; readonly size: number };
    try {
      file = await openFile(calls, path);
    } catch (cause) {
      if (leadsNowhere(cause)) return undefined;
      throw cause;
    }
    if (await isInside(file.fd, path)) return file;
    await called((answer) => calls.close(file.fd, answer));
    return undefined;
  };
  const isInside = async (fd: number, path: string): Promise<boolean> => {
    const real = await openedPath(fd, path).catch(() => undefined);
    return real !== undefined && isAllowed(real);
  };

  return {
    async readText(path) {
      const file = await opened(path);
      return file && readOpened(calls, file, path);
    },

    async openRead(path) {
      const file = await opened(path);
      return file && new NodeReadFile(calls, file.fd, path);
    },

    async list(folder) {
      if (!(await leadsInside(folder))) return [];
      try {
        const entries = await listOpened(folder, isInside);
        return entries.map((entry) => ({ name: entry.name, folder: entry.isDirectory() }));
      } catch (cause) {
        if (leadsNowhere(cause)) return [];
        throw cause;
      }
    },

    // A name exists if its folder may be seen, wherever it leads: what it leads to is read under the same rule.
    async exists(path) {
      return (await leadsInside(dirname(path))) && files.exists(path);
    },

    async stamps(paths) {
      const stamps: number[] = [];
      for (const path of paths) {
        const found = (await leadsInside(path)) ? await files.stamps([path]) : [0, 0, 0];
        if (found === undefined) return undefined;
        stamps.push(...found);
      }
      return stamps;
    },
  };
}

/** The path of what is open, without links. Throws if it cannot be found out. */
async function openedPath(fd: number, path: string): Promise<string> {
  if (process.platform === "linux") return readlink(`/proc/self/fd/${fd}`);
  const real = await realPath(path);
  const [opened, found] = await Promise.all([fstat(fd), stat(real)]);
  if (opened.ino !== found.ino || opened.dev !== found.dev) throw new Error(`${path} has changed`);
  return real;
}

/** What is in a folder, if the folder that was really opened is inside. */
async function listOpened(
  path: string,
  isInside: (fd: number, path: string) => Promise<boolean>,
): Promise<readonly Dirent[]> {
  // Elsewhere a folder cannot be listed by its descriptor.
  if (process.platform !== "linux") return readdir(await realPath(path), { withFileTypes: true });
  const { O_RDONLY, O_DIRECTORY, O_NONBLOCK } = nodeFs.constants;
  const fd = await open(path, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
  try {
    return (await isInside(fd, path)) ? await readdir(`/proc/self/fd/${fd}`, { withFileTypes: true }) : [];
  } finally {
    await called((answer) => nodeFs.close(fd, answer));
  }
}
