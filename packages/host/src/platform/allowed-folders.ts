import { sep } from "node:path";

/** Folders that a client may read and write, as plain data. All paths are real: absolute, with symlinks resolved. */
export interface AllowedFolders {
  readonly roots: readonly string[];
  /**
   * The host's home, which contains secrets and the threads of all users. It is not allowed, unless a root is inside
   * it.
   */
  readonly home: string;
}

/** Whether a real path is in one of the allowed folders. Null allows every path. */
export function isInAllowedFolders(realPath: string, allowed: AllowedFolders | null): boolean {
  if (allowed === null) return true;
  const { roots, home } = allowed;
  return roots.some(
    (root) => isWithin(realPath, root) && (!isWithin(realPath, home) || isWithin(root, home)),
  );
}

/** Whether a path is the folder itself or inside it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
