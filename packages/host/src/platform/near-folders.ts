import { lstatSync, type Stats, statfs } from "node:fs";
import { dirname, sep } from "node:path";

/** File systems of this very machine: ext, XFS, Btrfs, tmpfs, overlay, ZFS, F2FS, bcachefs; APFS on macOS. */
const LOCAL = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e,
]);
const APFS = 0x1a;

const ASK_AGAIN_MS = 30_000;
const SLOW_MS = 20;
const MAX_FOLDERS = 2048;

interface Folder {
  near: boolean;
  readonly askedAt: number;
}

/**
 * Where a call may be made at once instead of in the thread pool: on a disk of this machine a look at a name takes
 * a few microseconds, and the way to the pool and back twenty times as long. A folder is near when its file system
 * is known for it, and as long as no call there was slow: what can stall (network, FUSE, a tired disk) must not
 * hold up everybody else. Unknown folders are asked about on the side.
 */
export class NearFolders {
  readonly #folders = new Map<string, Folder>();

  /** What `run` found, or undefined if it has to be done in the thread pool. */
  at<T>(path: string, run: () => T): { readonly value: T } | undefined {
    // No name at all: the call itself has to say so.
    if (path.includes("\0")) return undefined;
    const now = Date.now();
    const known = this.#folder(path, now);
    if (known?.near !== true) return undefined;
    try {
      return { value: run() };
    } finally {
      if (Date.now() - now > SLOW_MS) known.near = false;
    }
  }

  /** The name itself, not what a link points to: undefined in `value` if there is none. */
  lookAt(path: string): { readonly value: Stats | undefined } | undefined {
    return this.at(path, () => look(path));
  }

  #folder(path: string, now: number): Folder | undefined {
    const folder = folderOf(path);
    const known = this.#folders.get(folder);
    if (known === undefined || Math.abs(now - known.askedAt) > ASK_AGAIN_MS)
      this.#ask(folder, known?.near ?? false, now);
    return known;
  }

  #ask(path: string, near: boolean, askedAt: number): void {
    if (this.#folders.size >= MAX_FOLDERS) this.#folders.clear();
    const folder: Folder = { near, askedAt };
    this.#folders.set(path, folder);
    statfs(path, (cause, found) => {
      folder.near = cause === null && isLocal(found.type >>> 0);
      // A folder that is made later is asked about then.
      if (cause !== null && this.#folders.get(path) === folder) this.#folders.delete(path);
    });
  }
}

/** Most paths are in order, and then this is all that there is to do. */
function folderOf(path: string): string {
  const at = path.lastIndexOf(sep);
  return at > 0 && at < path.length - 1 ? path.slice(0, at) : dirname(path);
}

/**
 * There is nothing of that name, below what is no folder, or under what can be no name at all: too long, in a circle of
 * links, with a NUL in it.
 */
export function leadsNowhere(cause: unknown): boolean {
  return NOWHERE.has((cause as { code?: string }).code ?? "");
}

const NOWHERE = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG", "ELOOP", "ERR_INVALID_ARG_VALUE"]);
const ORDINARY = { throwIfNoEntry: false } as const;

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, ORDINARY);
  } catch (cause) {
    if (leadsNowhere(cause)) return undefined;
    throw cause;
  }
}

function isLocal(type: number): boolean {
  return process.platform === "darwin" ? type === APFS : process.platform === "linux" && LOCAL.has(type);
}
