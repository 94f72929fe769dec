import { constants } from "node:fs";
import { type FileHandle, lstat, open, readlink, realpath, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { holdPath } from "./held-path.ts";
import { makeFolders } from "./make-folders.ts";
import type { WorkspaceFiles } from "./platform.ts";
import { replaceFile } from "./replace-file.ts";

/** The user's file mode mask restricts the mode of new folders, as for any program. */
const FOLDER_MODE = 0o777;

/** Reads, replaces and removes files in users' folders. */
export const nodeWorkspace: WorkspaceFiles = {
  hold: holdPath,

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
    const madeFolder = await makeFolders(dirname(target), FOLDER_MODE);
    try {
      await inFolder(dirname(target), async (folder, real) => {
        if (!isAllowed(join(real, basename(target)))) throw refused(join(real, basename(target)));
        await replaceFile({
          folder,
          name: basename(target),
          mode,
          owner: await lstat(join(folder, basename(target))).catch(() => undefined),
          synced: true,
          fill: (draft) => draft.writeFile(bytes),
        });
      });
    } catch (cause) {
      await removeMadeFolders(dirname(target), madeFolder);
      throw cause;
    }
    return madeFolder;
  },

  async remove(path, { madeFolder, isAllowed }) {
    // A symlink itself is removed, not its target.
    const target = join(await realPathOf(dirname(path)), basename(path));
    await inFolder(dirname(target), async (folder, real) => {
      if (!isAllowed(join(real, basename(target)))) throw refused(join(real, basename(target)));
      await unlink(join(folder, basename(target)));
    }).catch((cause: unknown) => {
      if (!isMissing(cause)) throw cause;
    });
    await removeMadeFolders(dirname(target), madeFolder);
  },
};

/** Removes a folder and its parents up to `topmost`. Stops at the first folder that is not empty or cannot be removed. */
async function removeMadeFolders(folder: string, topmost: string | undefined): Promise<void> {
  if (topmost === undefined) return;
  try {
    for (let at = folder; at === topmost || at.startsWith(`${topmost}${sep}`); at = dirname(at)) {
      await inFolder(dirname(at), async (parent, real) => {
        // A symlink that took the place of a folder must not lead to another folder.
        if (join(real, basename(at)) !== at) throw refused(at);
        await rmdir(join(parent, basename(at)));
      });
    }
  } catch {
    // The folder is in use.
  }
}

/**
 * Runs `work` in a folder that cannot be swapped meanwhile: on Linux the folder is held open, and its files are
 * accessed through the descriptor. `real`: the real path of the opened folder.
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

/** Resolves all symlinks; names at the end that do not exist yet are kept. */
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
  return coded("EACCES", `${path} is outside the writable folders`);
}

function coded(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
