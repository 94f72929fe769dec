import { Fault, fault, messageOf } from "../errors.ts";

/** What the disk refuses is told as that, and not as a fault of ours. */
export async function saved<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof Fault) throw cause;
    throw fault("storageFailed", messageOf(cause));
  }
}

/** Codes of the operating system with which files fail, whatever the program does. */
const FILE_CODES: ReadonlySet<unknown> = new Set([
  ...["EIO", "ENOSPC", "EDQUOT", "EROFS", "EFBIG", "EACCES", "EPERM", "EMFILE", "ENFILE"],
  ...["ENOTDIR", "EISDIR", "ELOOP", "ENAMETOOLONG", "EBUSY", "ESTALE", "ENODEV", "ENXIO"],
]);

/** Maps errors of files and of SQLite to the client error `storageFailed`; undefined for any other error. */
export function storageFault(cause: unknown): Fault | undefined {
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  if (code !== "ERR_SQLITE_ERROR" && !FILE_CODES.has(code)) return undefined;
  return fault("storageFailed", messageOf(cause));
}
