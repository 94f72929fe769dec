import { type Bounds, coded } from "./machine-file-access.ts";

/** Limit on the nesting of folders, because each level holds one or two folders open. */
const MAX_DEPTH = 256;
const MAX_ENTRIES = 1_000_000;

/** Number of directory entries that one read of a folder returns. */
export const ENTRIES_PER_READ = 256;

/** Options for a handle of a folder inside a tree: a symlink to a folder is refused. */
export const NO_SYMLINK_FOLDER = { folder: true, noLink: true } as const;

/** Bounds that allow every path. */
export const ANYWHERE = { isAllowed: () => true } as const;

/**
 * Counts the entries of one removal or copy. Throws beyond the limit of entries or of depth, and when the operation is
 * aborted.
 */
export class TreeProgress {
  readonly #signal: AbortSignal;
  #entries = 0;

  constructor({ signal }: Bounds) {
    this.#signal = signal;
  }

  step(): void {
    this.#signal.throwIfAborted();
    if (++this.#entries > MAX_ENTRIES) throw coded("ETOOMANY", `there are more than ${MAX_ENTRIES} entries`);
  }

  enter(depth: number): void {
    if (depth > MAX_DEPTH) throw coded("ETOODEEP", `folders are nested more than ${MAX_DEPTH} levels deep`);
  }
}
