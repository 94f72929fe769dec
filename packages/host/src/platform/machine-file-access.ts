/**
 * Files anywhere on the machine, by the absolute paths that clients send. Symlinks are followed, except the last name
 * of a path that is removed or copied. Only files and folders are opened: pipes, devices and the like throw
 * `ENOTFILE`, so that nothing blocks. A path outside `bounds` throws `EOUTSIDE`; other failures throw Node's error
 * with its `code`.
 */
export interface MachineFileAccess {
  /** Reads a whole file. Throws `EFBIG` beyond `maxBytes`. */
  read(path: string, maxBytes: number, bounds: Bounds): Promise<Uint8Array>;
  /**
   * Creates or replaces a file atomically and syncs it. Its folder must exist. The mode is kept, and the owner where
   * possible.
   */
  write(path: string, bytes: Uint8Array, bounds: Bounds): Promise<void>;
  /** `recursive` also creates missing parents, and accepts a folder that exists already. */
  makeFolder(path: string, recursive: boolean, bounds: Bounds): Promise<void>;
  look(path: string, bounds: Bounds): Promise<FileMetadata>;
  /**
   * Lists a folder, unordered. Symlinks that are broken or lead outside `bounds` are omitted. Throws `ETOOMANY` beyond
   * `maxEntries`.
   */
  list(path: string, maxEntries: number, bounds: Bounds): Promise<readonly ListedFile[]>;
  /** Removes a file, a symlink or an empty folder; with `recursive` a folder with its content. */
  remove(path: string, recursive: boolean, bounds: Bounds): Promise<void>;
  /**
   * Copies a file atomically, a symlink as a symlink, and with `recursive` a folder: pipes, devices and the like in
   * it are skipped, and existing files are replaced. Throws `ERECURSIVE` for a folder without `recursive`, `EWITHIN`
   * for a folder copied into itself, and `ENOTCOPIED` for a pipe, a device or the like.
   */
  copy(from: string, to: string, recursive: boolean, bounds: Bounds): Promise<void>;
  /**
   * Lists the lookups by which the path is resolved, name by name. Missing or unreadable names end the trace and
   * never throw.
   */
  trace(path: string, bounds: Bounds): Promise<PathTrace>;
  readonly watch: Watch;
}

/**
 * Watches a file, or the direct entries of a folder (created, removed, changed). A callback may still run after
 * `close`, if it was already under way. Throws Node's error if the path cannot be watched.
 */
export type Watch = (path: string, changed: (change: WatchedChange) => void) => { close(): void };

/**
 * `entry`: the named entry of the folder changed. `unsure`: the path itself or anything in it may have changed or
 * disappeared, and the watch may have ended.
 */
export type WatchedChange = { readonly kind: "entry"; readonly name: string } | { readonly kind: "unsure" };

/** How a path was resolved. */
export interface PathTrace {
  /** The names that were looked up, symlinks included, up to the first that does not exist. */
  readonly hops: readonly PathHop[];
  /** The target of the path; undefined if it does not exist or is outside the `bounds` of the call. */
  readonly found: (FileIdentity & { readonly kind: FileKind }) | undefined;
}

/** One lookup of a name in a folder, while a path is resolved. */
export interface PathHop {
  readonly folder: FileIdentity;
  readonly name: string;
  /** Whether this is the last name of the path, or the last name in the target of a symlink that ends it. */
  readonly isLast: boolean;
}

/** Identifies a file, and a version of it. */
export interface FileIdentity {
  /** The real path: absolute, with all symlinks resolved. */
  readonly path: string;
  /** Changes if another file takes the path. */
  readonly id: string;
  /** Changes with each change of the file. */
  readonly stamp: string;
}

/** Restrictions of one file operation: the paths that it may use, and the signal that aborts it. */
export interface Bounds {
  /** Whether a real path may be read and changed. */
  isAllowed(realPath: string): boolean;
  /** Aborts a long operation between two of its steps. */
  readonly signal: AbortSignal;
}

export interface FileMetadata {
  /** For a symlink, the kind of its target. */
  readonly kind: FileKind;
  readonly isLink: boolean;
  /** Milliseconds since the epoch; 0 if the file system does not record it. */
  readonly createdAt: number;
  readonly modifiedAt: number;
}

export type FileKind = "file" | "folder" | "other";

export interface ListedFile {
  readonly name: string;
  /** For a symlink, the kind of its target. */
  readonly kind: FileKind;
}

/**
 * Creates an error with a `code`, some of which are Bobbin's own (`EOUTSIDE`, `ETOOMANY`). `at`: which path of the
 * call failed.
 */
export function coded(code: string, message: string, at?: string): Error {
  return Object.assign(new Error(message), { code, ...(at !== undefined && { at }) });
}

export function codeOf(cause: unknown): string | undefined {
  return (cause as { readonly code?: string } | null)?.code;
}
