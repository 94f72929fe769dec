import { constants } from "node:os";
import { Fault, fault, messageOf } from "../errors.ts";

const SYSTEM = {
  ENOENT: "fileNotFound",
  ENOTDIR: "notAFolder",
  EISDIR: "isAFolder",
  EEXIST: "fileExists",
  ENOTEMPTY: "folderNotEmpty",
  ELOOP: "linkLoop",
  ENAMETOOLONG: "fileNameTooLong",
  ENOSPC: "diskFull",
  EDQUOT: "diskFull",
} as const;

/**
 * Maps a file system error to a client error. `name`: the request's parameter with the path. Returns an unknown error
 * unchanged.
 */
export function fileFault(cause: unknown, name: string, path: string): unknown {
  if (cause instanceof Fault) return cause;
  const { code = "", at = path } = cause as { readonly code?: string; readonly at?: string };
  const found = faultOf(code, cause, name, at);
  return found === undefined ? cause : new Fault(found.code, found.message, { path: at });
}

function faultOf(code: string, cause: unknown, name: string, path: string): Fault | undefined {
  if (code in SYSTEM) return fault(SYSTEM[code as keyof typeof SYSTEM], numberOf(code));
  switch (code) {
    case "EACCES":
      return fault("fileNotPermitted", `Permission denied${numberOf(code)}`);
    case "EPERM":
      return fault("fileNotPermitted", `Operation not permitted${numberOf(code)}`);
    case "EROFS":
      return fault("fileNotPermitted", `Read-only file system${numberOf(code)}`);
    case "ENOTFILE":
      return fault("notAFile", path);
    // The request was aborted, because its connection has ended.
    case "ABORT_ERR":
      return fault("shuttingDown");
    case "EOUTSIDE":
      return fault("pathNotAllowed", name, path);
    case "ETOOMANY":
    case "ETOODEEP":
      return fault("treeTooLarge", messageOf(cause));
    case "EWATCHES":
      return fault("watchesExhausted");
    case "ENOTCOPIED":
      return fault("copyNotSupported");
    case "EWITHIN":
      return fault("copyIntoItself");
    case "ERECURSIVE":
      return fault("copyNotRecursive");
    default:
      return code in constants.errno ? fault("fileFailed", `${wordsOf(cause)}${numberOf(code)}`) : undefined;
  }
}

/** The error number in the Codex CLI's format. */
function numberOf(code: string): string {
  const number = (constants.errno as Readonly<Record<string, number>>)[code];
  return number === undefined ? "" : ` (os error ${number})`;
}

/** The text of Node's message, without the code before it and the system call after it. */
function wordsOf(cause: unknown): string {
  return messageOf(cause)
    .replace(/^E\w+: /, "")
    .replace(/, .*$/s, "");
}
