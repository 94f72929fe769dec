import type { HostRules } from "./network/hosts.ts";

/** What commands may do by a profile of `[permissions]`. All that it does not name cannot even be read. */
export interface PermissionProfile {
  readonly id: string;
  readonly description: string | null;
  /** The profile that it goes on from. */
  readonly extends: string | null;
  /** Further folders of the workspace. */
  readonly workspaceRoots: readonly string[];
  readonly rules: readonly FileRule[];
  /** How many folders deep patterns with `**` are looked for. */
  readonly globScanMaxDepth: number;
  /** Everything, nothing, or only some hosts. */
  readonly network: boolean | HostRules;
}

export type FileAccess = "read" | "write" | "deny";

/** Of two rules for one path, the one for the longer path counts. */
export interface FileRule {
  readonly place: FilePlace;
  readonly access: FileAccess;
}

export type FilePlace =
  /** Everything; what programs need to start at all; temporary folders. */
  | { readonly kind: "root" | "minimal" | "tmpdir" | "slashTmp" }
  /** Something in each folder of the workspace; "" is the folder itself. */
  | { readonly kind: "workspace"; readonly below: string }
  | { readonly kind: "path"; readonly path: string }
  /** Files by a pattern, from a folder on or, with null, from each folder of the workspace on. Only to deny them. */
  | { readonly kind: "pattern"; readonly folder: string | null; readonly pattern: string };
