import type { Files } from "./platform.ts";

/** The file calls that a cached read may use: every path is recorded, including paths that do not exist. */
export type NotedFiles = Pick<Files, "readText" | "exists" | "realPath">;

interface Known<T> {
  readonly value: T;
  /** All paths that the read used. */
  readonly paths: ReadonlySet<string>;
  /**
   * Stamps from before the read, so that any later change is detected. Undefined until two reads have used the same
   * files.
   */
  readonly stamps: readonly number[] | undefined;
}

/** Limit on cached values; beyond it the cache is cleared. */
const MAX_KNOWN = 64;

/**
 * Caches values that were computed from files, by key. As long as the stamps of the files stay equal, the files are
 * not read again.
 */
export class StampedReads<T> {
  readonly #files: Pick<Files, "readText" | "exists" | "stamps"> & Partial<Pick<Files, "realPath">>;
  readonly #known = new Map<string, Known<T>>();

  constructor(files: Pick<Files, "readText" | "exists" | "stamps"> & Partial<Pick<Files, "realPath">>) {
    this.#files = files;
  }

  /** The cached value, without checking the files. */
  last(key: string): T | undefined {
    return this.#known.get(key)?.value;
  }

  /**
   * Returns the cached value, or reads it again if a file changed. `read` gets the previous value, to reuse parts of
   * it.
   */
  async get(key: string, read: (files: NotedFiles, before: T | undefined) => Promise<T>): Promise<T> {
    const known = this.#known.get(key);
    const stamps = known && (await this.#files.stamps([...known.paths]).catch(() => undefined));
    if (known?.stamps !== undefined && isSame(known.stamps, stamps)) return known.value;
    const paths = new Set<string>();
    const noting: NotedFiles = {
      readText: (path) => this.#files.readText(paths.add(path) && path),
      exists: (path) => this.#files.exists(paths.add(path) && path),
      realPath: async (path) => (await this.#files.realPath?.(paths.add(path) && path)) ?? path,
    };
    const value = await read(noting, known?.value);
    // Before the first read of a key it is unknown which files the read uses, so there are no stamps of them yet.
    const covered = known !== undefined && [...paths].every((path) => known.paths.has(path));
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(key, {
      value,
      paths: covered ? known.paths : paths,
      stamps: covered ? stamps : undefined,
    });
    return value;
  }
}

function isSame(one: readonly number[], other: readonly number[] | undefined): boolean {
  return one.length === other?.length && one.every((value, at) => value === other[at]);
}
