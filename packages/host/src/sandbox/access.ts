import type { HostRules } from "./network/host-rules.ts";

/**
 * What a sandboxed command may access, as plain data from which each operating system's sandbox is built. Paths are
 * real: absolute, with symlinks resolved. Of two entries, the one with the longer path counts.
 */
export interface Access {
  readonly writable: readonly string[];
  /** Paths inside `writable` that stay read-only. */
  readonly protected: readonly string[];
  /** Paths that are not visible at all. */
  readonly hidden: readonly HiddenPath[];
  /** Paths inside `hidden` that stay readable. */
  readonly readable: readonly string[];
  /** All other paths that can be read; null means everything. */
  readonly readOnly: readonly string[] | null;
  readonly network: NetworkAccess;
  /** With network `byHost`: the rules for network hosts. */
  readonly hosts?: HostRules | null;
  /** Whether /tmp is private to the command. It is then in memory, and is removed when the command ends. */
  readonly ownTemporary?: boolean;
}

/** `byHost`: only through Bobbin's proxy, which decides for each network host. */
export type NetworkAccess = "none" | "all" | "byHost";

/** A path that a command cannot see. */
export interface HiddenPath {
  readonly path: string;
  readonly kind: "file" | "folder";
}

/** Whether a path is the folder itself or inside it. Both must be absolute and without `..`. */
export function isWithin(path: string, folder: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}
