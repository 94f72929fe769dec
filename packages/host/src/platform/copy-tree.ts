import { constants, type Dirent } from "node:fs";
import { type FileHandle, lstat, open, opendir, readlink, symlink } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { fileStats, inTargetFolder, makeFolders, replaceable } from "./bounded-file-access.ts";
import { realPath } from "./confined-files.ts";
import { ANYWHERE, ENTRIES_PER_READ, NO_SYMLINK_FOLDER, TreeProgress } from "./folder-tree-limits.ts";
import { type Bounds, coded } from "./machine-file-access.ts";
import { inParentFolder, type PathHandle, withPathHandle } from "./path-handle.ts";
import { replaceFile } from "./replace-file.ts";

/**
 * Files are copied in pieces of this size, because a read or write occupies one of the few threads of Node's thread
 * pool.
 */
const PIECE_BYTES = 1024 * 1024;

/** Copies a file, a symlink as a symlink, or with `recursive` a folder with its content. */
export async function copyTree(from: string, to: string, recursive: boolean, bounds: Bounds): Promise<void> {
  // The source must be in the allowed folders. Its parent folder need not be, because nothing is written there.
  await inParentFolder(from, { ...bounds, ...ANYWHERE }, async (folder) => {
    const at = join(folder.path, basename(from));
    if (!bounds.isAllowed(join(folder.real, basename(from))))
      throw coded("EOUTSIDE", `${from} is outside the allowed folders`);
    const found = await lstat(at);
    if (found.isDirectory()) {
      if (!recursive) throw coded("ERECURSIVE", `${from} is a folder`);
      await copyFolderTo(at, to, bounds);
    } else if (found.isSymbolicLink()) {
      const text = await readlink(at);
      await inParentFolder(to, bounds, (target) => copyLink(text, target, basename(to), bounds));
    } else if (found.isFile()) await copyFile(at, to, bounds);
    else throw coded("ENOTCOPIED", `${from} is a pipe, a device or the like`);
  });
}

async function copyFolderTo(from: string, to: string, bounds: Bounds): Promise<void> {
  await withPathHandle(from, bounds, NO_SYMLINK_FOLDER, async (source) => {
    await refuseWithin(source.real, to);
    await makeFolders(to, bounds);
    await withPathHandle(to, bounds, { folder: true }, (target) =>
      copyFolder(source, target, bounds, new TreeProgress(bounds), 1),
    );
  });
}

/** Throws if a folder is copied into itself, which would never end. */
async function refuseWithin(source: string, to: string): Promise<void> {
  const target = await realPath(to);
  const inside = source.endsWith(sep) ? source : source + sep;
  if (target === source || target.startsWith(inside)) throw coded("EWITHIN", `${to} is inside of ${source}`);
}

async function copyFolder(
  source: PathHandle,
  target: PathHandle,
  bounds: Bounds,
  progress: TreeProgress,
  depth: number,
): Promise<void> {
  progress.enter(depth);
  for await (const entry of await opendir(source.path, { bufferSize: ENTRIES_PER_READ })) {
    progress.step();
    await copyEntry(entry, source, target, bounds, progress, depth);
  }
}

async function copyEntry(
  entry: Dirent,
  source: PathHandle,
  target: PathHandle,
  bounds: Bounds,
  progress: TreeProgress,
  depth: number,
): Promise<void> {
  const from = join(source.path, entry.name);
  if (entry.isSymbolicLink()) await copyLink(await readlink(from), target, entry.name, bounds);
  else if (entry.isFile()) await copyFile(from, join(target.path, entry.name), bounds);
  else if (entry.isDirectory()) {
    const to = join(target.path, entry.name);
    await withPathHandle(from, bounds, NO_SYMLINK_FOLDER, async (held) => {
      await makeFolders(to, bounds);
      await withPathHandle(to, bounds, { folder: true }, (made) =>
        copyFolder(held, made, bounds, progress, depth + 1),
      );
    });
  }
}

async function copyLink(text: string, target: PathHandle, name: string, bounds: Bounds): Promise<void> {
  if (!bounds.isAllowed(join(target.real, name)))
    throw coded("EOUTSIDE", `${name} is outside the allowed folders`);
  await symlink(text, join(target.path, name));
}

async function copyFile(from: string, to: string, bounds: Bounds): Promise<void> {
  await withPathHandle(from, bounds, {}, async (held) => {
    const { mode, dev, ino } = await fileStats(held, from);
    await inTargetFolder(to, bounds, async (folder, name) => {
      const before = await replaceable(folder, name);
      if (before?.dev === dev && before.ino === ino) return;
      const file = await open(held.path, constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        await replaceFile({
          folder: folder.path,
          name,
          // The set-user-id and set-group-id bits are not copied, as with `cp`.
          mode: mode & 0o777,
          synced: false,
          fill: (draft) => copyBytes(file, draft, bounds.signal),
        });
      } finally {
        await file.close();
      }
    });
  });
}

async function copyBytes(from: FileHandle, to: FileHandle, signal: AbortSignal): Promise<void> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await from.read(piece, 0, piece.length, null);
    if (bytesRead === 0) return;
    await to.writeFile(piece.subarray(0, bytesRead));
  }
}
