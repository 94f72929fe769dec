import type { HostRules } from "./network/hosts.ts";

/**
 * What a confined command may do, as plain data that each operating system's sandbox is made from. Paths are real:
 * absolute, with all links followed. Of two entries, the one for the longer path counts.
 */
export interface Access {
  readonly writable: readonly string[];
  /** Inside of `writable`, and read-only nevertheless. */
  readonly protected: readonly string[];
  /** Not visible at all. */
  readonly hidden: readonly HiddenPath[];
  /** Inside of `hidden`, and readable nevertheless. */
  readonly readable: readonly string[];
  /** All that can be read besides; null: everything. */
  readonly readOnly: readonly string[] | null;
  readonly network: NetworkAccess;
  /** With `byHost`: the rules for hosts. */
  readonly hosts?: HostRules | null;
  /** Temporary files are in memory, seen by the command alone, and gone with it. */
  readonly ownTemporary?: boolean;
}

/** `byHost`: only through the host's proxy, which decides about each host. */
export type NetworkAccess = "none" | "all" | "byHost";

export interface HiddenPath {
  readonly path: string;
  readonly kind: "file" | "folder";
}

/** Whether a path is a folder or something in it. Both are absolute and have no `..`. */
export function isWithin(path: string, folder: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}
