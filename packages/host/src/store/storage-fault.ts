import { Fault, fault, messageOf } from "../errors.ts";

/** Runs work on the store. An error that is no `Fault` becomes the client error `storageFailed`. */
export async function guardStorage<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw fault("storageFailed", messageOf(cause));
  }
}

/** Error codes of the operating system for file failures that are not caused by a bug. */
const FILE_CODES: ReadonlySet<unknown> = new Set([
  ...["EIO", "ENOSPC", "EDQUOT", "EROFS", "EFBIG", "EACCES", "EPERM", "EMFILE", "ENFILE"],
  ...["ENOTDIR", "EISDIR", "ELOOP", "ENAMETOOLONG", "EBUSY", "ESTALE", "ENODEV", "ENXIO"],
  // A pipe or a device where the home has a file.
  "ENOTFILE",
]);

/** Maps errors of files and of SQLite to the client error `storageFailed`; undefined for any other error. */
export function storageFault(cause: unknown): Fault | undefined {
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  if (code !== "ERR_SQLITE_ERROR" && !FILE_CODES.has(code)) return undefined;
  return fault("storageFailed", messageOf(cause));
}
