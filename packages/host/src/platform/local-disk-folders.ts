import { lstatSync, type Stats, statfs } from "node:fs";
import { dirname, sep } from "node:path";

/** `statfs` types of local file systems: ext, XFS, Btrfs, tmpfs, overlay, ZFS, F2FS, bcachefs; APFS on macOS. */
const LOCAL = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e,
]);
const APFS = 0x1a;

const RECHECK_MS = 30_000;
const SLOW_MS = 20;
const MAX_FOLDERS = 2048;

interface Folder {
  isLocalDisk: boolean;
  readonly checkedAt: number;
}

/**
 * Decides where a file call may run synchronously instead of in Node's thread pool: on a local disk, a lookup takes
 * microseconds, and the thread pool takes twenty times as long. A folder counts as local while its file system is a
 * local one and no call in it was slow, because a file system that can stall (network, FUSE, a failing disk) must not
 * block the event loop. The file system of an unknown folder is queried in the background.
 */
export class LocalDiskFolders {
  readonly #folders = new Map<string, Folder>();

  /** Runs `run` synchronously and returns its result; undefined if the call must go through the thread pool. */
  at<T>(path: string, run: () => T): { readonly value: T } | undefined {
    // The path is invalid. The asynchronous call reports the error.
    if (path.includes("\0")) return undefined;
    const now = Date.now();
    const known = this.#folder(path, now);
    if (known?.isLocalDisk !== true) return undefined;
    try {
      return { value: run() };
    } finally {
      if (Date.now() - now > SLOW_MS) known.isLocalDisk = false;
    }
  }

  /** Metadata of the name itself (symlinks are not followed); `value` is undefined if it does not exist. */
  lstatIfExists(path: string): { readonly value: Stats | undefined } | undefined {
    return this.at(path, () => lstatOrUndefined(path));
  }

  #folder(path: string, now: number): Folder | undefined {
    const folder = folderOf(path);
    const known = this.#folders.get(folder);
    if (known === undefined || Math.abs(now - known.checkedAt) > RECHECK_MS)
      this.#check(folder, known?.isLocalDisk ?? false, now);
    return known;
  }

  #check(path: string, isLocalDisk: boolean, checkedAt: number): void {
    if (this.#folders.size >= MAX_FOLDERS) this.#folders.clear();
    const folder: Folder = { isLocalDisk, checkedAt };
    this.#folders.set(path, folder);
    const query = (existing: string): void =>
      statfs(existing, (cause, found) => {
        // A missing folder counts as local if the closest existing folder above it is local, because a lookup that
        // finds nothing is just as fast.
        const isMissing = cause !== null && isMissingPath(cause) && dirname(existing) !== existing;
        if (isMissing) return query(dirname(existing));
        folder.isLocalDisk = cause === null && isLocal(found.type >>> 0);
        if (cause !== null && this.#folders.get(path) === folder) this.#folders.delete(path);
      });
    query(path);
  }
}

/** The folder of a path. Faster than `dirname` for ordinary paths. */
function folderOf(path: string): string {
  const at = path.lastIndexOf(sep);
  return at > 0 && at < path.length - 1 ? path.slice(0, at) : dirname(path);
}

/**
 * Whether an error means that nothing can be at the path: no such name, a parent that is not a folder, or an invalid
 * path (too long, a loop of symlinks, a NUL character).
 */
export function isMissingPath(cause: unknown): boolean {
  return MISSING_CODES.has((cause as { code?: string }).code ?? "");
}

const MISSING_CODES = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ELOOP", "ERR_INVALID_ARG_VALUE"]);
const NO_THROW = { throwIfNoEntry: false } as const;

function lstatOrUndefined(path: string): Stats | undefined {
  try {
    return lstatSync(path, NO_THROW);
  } catch (cause) {
    if (isMissingPath(cause)) return undefined;
    throw cause;
  }
}

function isLocal(type: number): boolean {
  return process.platform === "darwin" ? type === APFS : process.platform === "linux" && LOCAL.has(type);
}
