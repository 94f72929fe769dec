import { lstat, opendir, rmdir, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { ANYWHERE, ENTRIES_PER_READ, NO_SYMLINK_FOLDER, TreeProgress } from "./folder-tree-limits.ts";
import { type Bounds, coded, codeOf } from "./machine-file-access.ts";
import { inParentFolder, withPathHandle } from "./path-handle.ts";

/** Limit on how often a folder is emptied again, if other processes add files while it is removed. */
const MAX_SWEEPS = 16;

/** Removes a file, a symlink itself, or with `recursive` a folder with its content. */
export async function removeTree(path: string, recursive: boolean, bounds: Bounds): Promise<void> {
  if (dirname(path) === path) throw coded("EPERM", "the root of the file system cannot be removed");
  await inParentFolder(path, bounds, async (folder) => {
    const name = basename(path);
    if (!bounds.isAllowed(join(folder.real, name)))
      throw coded("EOUTSIDE", `${path} is outside the allowed folders`);
    const at = join(folder.path, name);
    if (!(await lstat(at)).isDirectory()) await unlink(at);
    else if (recursive) await removeFolder(at, new TreeProgress(bounds), 1);
    else await rmdir(at);
  });
}

async function removeFolder(path: string, progress: TreeProgress, depth: number): Promise<void> {
  progress.enter(depth);
  // `removeTree` has checked the top folder. Folders below are opened without following symlinks, so they are inside
  // the top folder and are not checked again.
  const bounds = { ...ANYWHERE, signal: NEVER };
  for (let sweep = 1; ; sweep++) {
    await withPathHandle(path, bounds, NO_SYMLINK_FOLDER, async (held) => {
      for await (const entry of await opendir(held.path, { bufferSize: ENTRIES_PER_READ })) {
        progress.step();
        const at = join(held.path, entry.name);
        await unlessMissing(entry.isDirectory() ? removeFolder(at, progress, depth + 1) : unlink(at));
      }
    });
    try {
      return await rmdir(path);
    } catch (cause) {
      if (codeOf(cause) !== "ENOTEMPTY" || sweep === MAX_SWEEPS) throw cause;
    }
  }
}

const NEVER = new AbortController().signal;

async function unlessMissing(removal: Promise<void>): Promise<void> {
  try {
    await removal;
  } catch (cause) {
    if (codeOf(cause) !== "ENOENT") throw cause;
  }
}
