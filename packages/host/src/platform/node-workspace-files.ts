import { constants } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readlink, realpath, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { holdPath, openHandle, type PathHandle } from "./path-handle.ts";
import type { FolderIdentity, WorkspaceFiles } from "./platform.ts";
import { removeOldDrafts, replaceFile, syncFolder } from "./replace-file.ts";

/** The user's file mode mask restricts the mode of new folders, as for any program. */
const FOLDER_MODE = 0o777;

/** Reads, replaces and removes files in users' folders. */
export const nodeWorkspace: WorkspaceFiles = {
  hold: holdPath,

  async read(path, maxBytes, from) {
    try {
      if (from === undefined) return await readAt(path, path, maxBytes);
      const { folder } = await openWay(dirname(path), { from });
      return await closing(folder, () =>
        readAt(join(folder.path, basename(path)), path, maxBytes, constants.O_NOFOLLOW),
      );
    } catch (cause) {
      if (isMissing(cause)) return undefined;
      throw cause;
    }
  },

  async locate(path, { link = false } = {}) {
    const target = link ? await ownPathOf(path) : await realPathOf(path);
    const { folder } = await nearestFolder(dirname(target));
    return closing(folder, async () => ({
      path: target,
      folder: { path: folder.real, id: await folder.id() },
    }));
  },

  async replace(path, bytes, { mode, from, isAllowed }) {
    const target = await realPathOf(path);
    if (!isAllowed(target)) throw refused(target);
    const { folder, madeFolder } = await openWay(dirname(target), { from, make: true });
    try {
      await inFolder(folder, target, isAllowed, async (at, name) => {
        await replaceFile({
          folder: at,
          name,
          mode,
          owner: await lstat(join(at, name)).catch(() => undefined),
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

  async remove(path, { madeFolder, from, isAllowed }) {
    // A symlink itself is removed, not its target.
    const target = await ownPathOf(path);
    try {
      const { folder } = await openWay(dirname(target), { from });
      await inFolder(folder, target, isAllowed, (at, name) => unlink(join(at, name)));
    } catch (cause) {
      if (!isMissing(cause)) throw cause;
    }
    await removeMadeFolders(dirname(target), madeFolder);
  },

  async removeDrafts(path, { from }) {
    try {
      const { folder } = await openWay(dirname(path), { from });
      await closing(folder, () => removeOldDrafts(folder.path));
    } catch (cause) {
      if (!isMissing(cause)) throw cause;
    }
  },

  async makeFolder(path, { isAllowed }) {
    const target = await ownPathOf(path);
    const { folder } = await openWay(dirname(target), {});
    let isNew = false;
    await inFolder(folder, target, isAllowed, async (at, name) => {
      isNew = await makeFolder(join(at, name));
    });
    return isNew;
  },

  async removeFolder(path, { isAllowed }) {
    const target = await ownPathOf(path);
    try {
      const { folder } = await openWay(dirname(target), {});
      await inFolder(folder, target, isAllowed, (at, name) => rmdir(join(at, name)));
    } catch (cause) {
      if (!isMissing(cause) && (cause as NodeJS.ErrnoException).code !== "ENOTEMPTY") throw cause;
    }
  },
};

async function readAt(
  path: string,
  shown: string,
  maxBytes: number,
  flags = 0,
): Promise<{ readonly bytes: Uint8Array; readonly mode: number }> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | flags).catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code === "ELOOP") throw coded("ELOOP", `${shown} is a symlink`);
    throw cause;
  });
  try {
    const { size, mode, isFile } = await statsOf(file);
    if (!isFile) throw coded("ENOTFILE", `${shown} is not a file`);
    if (size > maxBytes) throw coded("EFBIG", `${shown} is larger than ${maxBytes} bytes`);
    return { bytes: await file.readFile(), mode };
  } finally {
    await file.close();
  }
}

/** Runs `work` in an opened folder if the target there is allowed; syncs and closes the folder. */
async function inFolder(
  folder: PathHandle,
  target: string,
  isAllowed: (realPath: string) => boolean,
  work: (at: string, name: string) => Promise<void>,
): Promise<void> {
  await closing(folder, async () => {
    const name = basename(target);
    if (!isAllowed(join(folder.real, name))) throw refused(join(folder.real, name));
    await work(folder.path, name);
    await syncFolder(folder.path);
  });
}

/**
 * Opens a folder by its real path, name by name from `from`, or from the nearest parent that exists. No symlink is
 * followed. With `make`, missing folders are created; `madeFolder` is the topmost one.
 */
async function openWay(
  path: string,
  { from, make = false }: { readonly from?: FolderIdentity | undefined; readonly make?: boolean },
): Promise<{ readonly folder: PathHandle; readonly madeFolder: string | undefined }> {
  const start = from === undefined ? await nearestFolder(path) : await sameFolder(path, from);
  let { folder } = start;
  const made: string[] = [];
  for (const name of start.names) {
    const parent = folder;
    const next = join(parent.real, name);
    try {
      folder = await closing(parent, async () => {
        if (make && (await makeFolder(join(parent.path, name)))) made.push(next);
        return openDirectly(join(parent.path, name), next);
      });
    } catch (cause) {
      await removeMadeFolders(made.at(-1) ?? next, made[0]);
      throw cause;
    }
  }
  return { folder, madeFolder: made[0] };
}

/** Opens the nearest existing folder on a real path. `names`: the names of the path below it. */
async function nearestFolder(path: string): Promise<OpenedStart> {
  const names: string[] = [];
  for (let at = path; ; at = dirname(at)) {
    try {
      return { folder: await openDirectly(at, at), names };
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "ENOENT" || dirname(at) === at) throw cause;
      names.unshift(basename(at));
    }
  }
}

/** Opens a folder that was opened before, and throws if it is another one now. `names`: those of `path` below it. */
async function sameFolder(path: string, from: FolderIdentity): Promise<OpenedStart> {
  const names = relative(from.path, path).split(sep).filter(Boolean);
  if (names.includes("..")) throw refused(path);
  const folder = await openDirectly(from.path, from.path);
  if ((await folder.id()) === from.id) return { folder, names };
  await folder.close();
  throw coded("EACCES", `${from.path} is another folder now`);
}

interface OpenedStart {
  readonly folder: PathHandle;
  readonly names: readonly string[];
}

/** Opens a folder, and throws if a symlink led to it: its real path must be `real`. */
async function openDirectly(path: string, real: string): Promise<PathHandle> {
  const folder = await openHandle(path, { folder: true, noLink: true }).catch(async (cause: unknown) => {
    throw (await readlink(path).catch(() => undefined)) === undefined ? cause : refused(real);
  });
  if (folder.real === real) return folder;
  await folder.close();
  throw refused(folder.real);
}

/** Creates a folder. Resolves with whether it did not exist. */
async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path, FOLDER_MODE);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw cause;
  }
}

/** Removes a folder and its parents up to `topmost`. Stops at the first folder that is not empty or cannot be removed. */
async function removeMadeFolders(folder: string, topmost: string | undefined): Promise<void> {
  if (topmost === undefined) return;
  try {
    for (let at = folder; at === topmost || at.startsWith(`${topmost}${sep}`); at = dirname(at)) {
      const parent = await openDirectly(dirname(at), dirname(at));
      await closing(parent, async () => {
        await rmdir(join(parent.path, basename(at)));
        await syncFolder(parent.path);
      });
    }
  } catch {
    // The folder is in use.
  }
}

async function closing<T>(folder: PathHandle, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await folder.close();
  }
}

/** Resolves all symlinks except one at the path itself. */
async function ownPathOf(path: string): Promise<string> {
  return join(await realPathOf(dirname(path)), basename(path));
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
