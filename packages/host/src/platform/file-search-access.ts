import type { AllowedFolders } from "./allowed-folders.ts";

type Maybe<T> = T | Promise<T>;

/**
 * File access of the file search. Nothing throws: what cannot be read is empty or missing. A path outside `allowed`
 * does not exist, even if a symlink leads to it in the meantime.
 */
export interface FileSearchAccess {
  list(folder: string, allowed: AllowedFolders | null): Maybe<readonly SearchEntry[]>;
  /** Resolves a path; undefined if it does not exist. */
  follow(
    path: string,
    allowed: AllowedFolders | null,
  ): Maybe<{ readonly real: string; readonly isFolder: boolean } | undefined>;
  /** The text of a file of at most 1 MiB; undefined if it does not exist or is larger. */
  readText(path: string, allowed: AllowedFolders | null): Maybe<string | undefined>;
  /** The user's home folder, and the configuration folder (`XDG_CONFIG_HOME`). */
  readonly userFolders: { readonly home: string; readonly config: string };
}

export interface SearchEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link";
}
