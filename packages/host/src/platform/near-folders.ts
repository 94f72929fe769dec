import { lstatSync, type Stats, statfs } from "node:fs";
import { dirname } from "node:path";

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
    const folder = dirname(path);
    const known = this.#folders.get(folder);
    const now = milliseconds();
    if (known === undefined || now - known.askedAt > ASK_AGAIN_MS)
      this.#ask(folder, known?.near ?? false, now);
    if (known?.near !== true) return undefined;
    try {
      return { value: run() };
    } finally {
      if (milliseconds() - now > SLOW_MS) known.near = false;
    }
  }

  /** The name itself, not what a link points to: undefined in `value` if there is none. */
  lookAt(path: string): { readonly value: Stats | undefined } | undefined {
    return this.at(path, () => {
      try {
        return lstatSync(path, { throwIfNoEntry: false });
      } catch (cause) {
        // There is nothing below what is no folder.
        if ((cause as { code?: string }).code === "ENOTDIR") return undefined;
        throw cause;
      }
    });
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

/** Not from `performance`: that loads a module, and the first one to ask is a start. */
function milliseconds(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

function isLocal(type: number): boolean {
  return process.platform === "darwin" ? type === APFS : process.platform === "linux" && LOCAL.has(type);
}
