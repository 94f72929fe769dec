import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";

/** The mode of a new file, from the process's umask. */
const NEW_FILE_MODE = 0o666 & ~process.umask();

const DRAFT_END = ".bobbin-draft";
const DRAFT = /^\.[0-9a-f]{16}\.bobbin-draft$/;

/** A file to create or replace. */
export interface Replacement {
  /** A path to the folder, which must exist. */
  readonly folder: string;
  readonly name: string;
  /** The mode to set; undefined for a new file. */
  readonly mode: number | undefined;
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
  /** Whether the content is synced; the directory entry is synced separately, by `syncFolder`. */
  readonly synced: boolean;
  fill(draft: FileHandle): Promise<void>;
}

/** Creates or replaces a file atomically: it is written under a temporary name in the same folder and renamed. */
export async function replaceFile({ folder, name, mode, owner, synced, fill }: Replacement): Promise<void> {
  const draft = join(folder, `.${randomBytes(8).toString("hex")}${DRAFT_END}`);
  try {
    const file = await open(draft, "wx", mode ?? NEW_FILE_MODE);
    try {
      await fill(file);
      await keepOwner(file, owner);
      // Set explicitly: the umask must not change the mode of an existing file, and a change of owner clears some of
      // its bits.
      if (mode !== undefined) await file.chmod(mode);
      if (synced) await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, join(folder, name));
  } catch (cause) {
    await rm(draft, { force: true });
    throw cause;
  }
}

/** Removes the drafts that killed processes left in a folder. A newer one than this process may be in use. */
export async function removeOldDrafts(folder: string): Promise<void> {
  const startedAt = performance.timeOrigin;
  for (const name of await readdir(folder)) {
    if (!DRAFT.test(name)) continue;
    const path = join(folder, name);
    if ((await lstat(path)).mtimeMs < startedAt) await rm(path, { force: true });
  }
}

/**
 * Sets the owner. Best effort: only root can give files away; for other users the file becomes their own, as with
 * most editors.
 */
async function keepOwner(file: FileHandle, owner: Replacement["owner"]): Promise<void> {
  if (owner === undefined) return;
  const { uid, gid } = await file.stat();
  if (uid !== owner.uid || gid !== owner.gid) await file.chown(owner.uid, owner.gid).catch(() => {});
}

/** Fsyncs a folder, so that its entries survive a power cut. */
export async function syncFolder(path: string): Promise<void> {
  let folder: FileHandle;
  try {
    folder = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch (cause) {
    // A folder that is writable but not readable cannot be opened for a sync.
    if ((cause as NodeJS.ErrnoException).code === "EACCES") return;
    throw cause;
  }
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
