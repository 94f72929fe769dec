import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readlink, realpath, rename, rm, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { WorkspaceFiles } from "./platform.ts";

/** Files that were made without a mode of their own. */
const USUAL_MODE = 0o666 & ~process.umask();

export const nodeWorkspace: WorkspaceFiles = {
  async read(path, maxBytes) {
    let file: FileHandle;
    try {
      file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    } catch (cause) {
      if (isMissing(cause)) return undefined;
      throw cause;
    }
    try {
      const { size, mode, isFile } = await statsOf(file);
      if (!isFile) throw coded("ENOTFILE", `${path} is not a file`);
      if (size > maxBytes) throw coded("EFBIG", `${path} is larger than ${maxBytes} bytes`);
      return { bytes: await file.readFile(), mode };
    } finally {
      await file.close();
    }
  },

  async replace(path, bytes, { mode, isAllowed }) {
    const target = await realPathOf(path);
    if (!isAllowed(target)) throw refused(target);
    await mkdir(dirname(target), { recursive: true });
    await inFolder(dirname(target), async (folder, real) => {
      if (!isAllowed(join(real, basename(target)))) throw refused(join(real, basename(target)));
      const draft = join(folder, `.${randomBytes(8).toString("hex")}.bobbin-draft`);
      try {
        const file = await open(draft, "wx", mode ?? USUAL_MODE);
        try {
          await file.writeFile(bytes);
          // The mask of the process does not count for a file that had a mode before.
          if (mode !== undefined) await file.chmod(mode);
          await file.sync();
        } finally {
          await file.close();
        }
        await rename(draft, join(folder, basename(target)));
      } catch (cause) {
        await rm(draft, { force: true });
        throw cause;
      }
    });
  },

  async remove(path, { isAllowed }) {
    // The link itself goes, not what it leads to.
    const target = join(await realPathOf(dirname(path)), basename(path));
    await inFolder(dirname(target), async (folder, real) => {
      if (!isAllowed(join(real, basename(target)))) throw refused(join(real, basename(target)));
      await unlink(join(folder, basename(target)));
    }).catch((cause: unknown) => {
      if (!isMissing(cause)) throw cause;
    });
  },
};

/**
 * Works in a folder that cannot be exchanged for another meanwhile: it is held open, and its files are reached by way of
 * that. `real`: where the folder is that was opened.
 */
async function inFolder(path: string, work: (folder: string, real: string) => Promise<void>): Promise<void> {
  if (process.platform !== "linux") return work(path, await realpath(path));
  const folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    const held = `/proc/self/fd/${folder.fd}`;
    await work(held, await readlink(held));
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Where a path leads; names behind the last one that exists are kept. */
async function realPathOf(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (cause) {
    if (!isMissing(cause) || dirname(path) === path) throw cause;
    const linked = await readlink(path).catch(() => undefined);
    if (linked !== undefined) throw coded("ELOOP", `${path} is a link to ${linked}, which does not exist`);
    return join(await realPathOf(dirname(path)), basename(path));
  }
}

async function statsOf(file: FileHandle): Promise<{ size: number; mode: number; isFile: boolean }> {
  const stats = await file.stat();
  return { size: stats.size, mode: stats.mode & 0o7777, isFile: stats.isFile() };
}

function isMissing(cause: unknown): boolean {
  const { code } = cause as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}

function refused(path: string): Error {
  return coded("EACCES", `${path} is outside of the folders that may be written`);
}

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
