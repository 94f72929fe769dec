import { constants, type Dirent, type Stats } from "node:fs";
import { type FileHandle, open, opendir } from "node:fs/promises";
import { basename, join } from "node:path";
import {
  fileStats,
  inTargetFolder,
  lstatIfExists,
  makeFolders,
  makeIn,
  replaceable,
} from "./bounded-file-access.ts";
import { copyTree } from "./copy-tree.ts";
import {
  type Bounds,
  coded,
  type FileKind,
  type ListedFile,
  type MachineFileAccess,
} from "./machine-file-access.ts";
import { nodeWatch } from "./node-watch.ts";
import { inParentFolder, type PathHandle, withPathHandle } from "./path-handle.ts";
import { tracePath } from "./path-trace.ts";
import { removeTree } from "./remove-tree.ts";
import { replaceFile, syncFolder } from "./replace-file.ts";

const LIST_BATCH = 512;

/** Access to files anywhere on the machine, by Node's file API and handles that symlinks cannot redirect. */
export const nodeMachineFileAccess: MachineFileAccess = {
  read: (path, maxBytes, bounds) =>
    withPathHandle(path, bounds, {}, async (held) => {
      const { size } = await fileStats(held, path);
      const file = await open(held.path, constants.O_RDONLY | constants.O_NONBLOCK);
      try {
        return await readAll(file, { size, maxBytes, path, signal: bounds.signal });
      } finally {
        await file.close();
      }
    }),

  async write(path, bytes, bounds) {
    await inTargetFolder(path, bounds, async (folder, name) => {
      const before = await replaceable(folder, name);
      await replaceFile({
        folder: folder.path,
        name,
        mode: before && before.mode & 0o7777,
        owner: before,
        synced: true,
        fill: (draft) => draft.writeFile(bytes, { signal: bounds.signal }),
      });
      await syncFolder(folder.path);
    });
  },

  async makeFolder(path, recursive, bounds) {
    if (!recursive) {
      await inParentFolder(path, bounds, (folder) => makeIn(folder, basename(path), bounds));
      return;
    }
    await makeFolders(path, bounds);
  },

  async look(path, bounds) {
    const found = await withPathHandle(path, bounds, {}, (held) => held.stats());
    const named = await lstatIfExists(path);
    return {
      kind: kindOf(found),
      isLink: named?.isSymbolicLink() ?? false,
      createdAt: millisecondsOf(found.birthtimeMs),
      modifiedAt: millisecondsOf(found.mtimeMs),
    };
  },

  list: (path, maxEntries, bounds) =>
    withPathHandle(path, bounds, { folder: true }, async (held) => {
      const listed: ListedFile[] = [];
      let count = 0;
      for await (const entry of await opendir(held.path, { bufferSize: LIST_BATCH })) {
        bounds.signal.throwIfAborted();
        if (++count > maxEntries) throw coded("ETOOMANY", `${path} has more than ${maxEntries} entries`);
        const kind = entry.isSymbolicLink() ? await kindOfTarget(held, entry, bounds) : kindOf(entry);
        if (kind !== undefined) listed.push({ name: entry.name, kind });
      }
      return listed;
    }),

  remove: removeTree,
  copy: copyTree,
  trace: tracePath,
  watch: nodeWatch,
};

async function readAll(
  file: FileHandle,
  {
    size,
    maxBytes,
    path,
    signal,
  }: {
    readonly size: number;
    readonly maxBytes: number;
    readonly path: string;
    readonly signal: AbortSignal;
  },
): Promise<Uint8Array> {
  const tooLarge = (): Error => coded("EFBIG", `${path} is larger than ${maxBytes} bytes`);
  if (size > maxBytes) throw tooLarge();
  // Files in /proc report size 0, and a file may grow. The buffer has one byte more than expected, so that a longer
  // file is noticed.
  let bytes = Buffer.allocUnsafe(Math.max(size, 4096) + 1);
  let at = 0;
  for (;;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(bytes, at, Math.min(bytes.length - at, READ_BYTES), at);
    if (bytesRead === 0) return bytes.subarray(0, at);
    at += bytesRead;
    if (at > maxBytes) throw tooLarge();
    if (at === bytes.length) bytes = Buffer.concat([bytes], Math.min(bytes.length * 2, maxBytes + 1));
  }
}

/** Large files are read in pieces of this size: a read occupies one of the few threads of Node's thread pool. */
const READ_BYTES = 4 * 1024 * 1024;

/** The kind of a symlink's target; undefined if the target does not exist or is outside of `bounds`. */
async function kindOfTarget(
  folder: PathHandle,
  { name }: Dirent,
  bounds: Bounds,
): Promise<FileKind | undefined> {
  try {
    return await withPathHandle(join(folder.path, name), bounds, {}, async (held) =>
      kindOf(await held.stats()),
    );
  } catch {
    return undefined;
  }
}

function kindOf(found: Stats | Dirent): FileKind {
  return found.isFile() ? "file" : found.isDirectory() ? "folder" : "other";
}

function millisecondsOf(time: number): number {
  return Math.max(0, Math.floor(time));
}
