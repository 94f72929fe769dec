import type { HostRules } from "./network/host-rules.ts";

/**
 * What commands may access according to a profile of `[permissions]` in config.toml. Paths that the profile does not
 * name cannot even be read.
 */
export interface PermissionProfile {
  readonly id: string;
  readonly description: string | null;
  /** The profile that this one extends. */
  readonly extends: string | null;
  /** Additional workspace folders. */
  readonly workspaceRoots: readonly string[];
  readonly rules: readonly FileRule[];
  /** Search depth of patterns with `**`, in folders. */
  readonly globScanMaxDepth: number;
  /** True: the whole network; false: none; or the rules for network hosts. */
  readonly network: boolean | HostRules;
}

export type FileAccess = "read" | "write" | "deny";

/** Of two rules that match a path, the one with the longer path counts. */
export interface FileRule {
  readonly place: FilePlace;
  readonly access: FileAccess;
}

/** The paths that a rule applies to. */
export type FilePlace =
  /** `root`: everything. `minimal`: the paths that programs need to start. `tmpdir`, `slashTmp`: temporary folders. */
  | { readonly kind: "root" | "minimal" | "tmpdir" | "slashTmp" }
  /** A path below each workspace folder; "" is the folder itself. */
  | { readonly kind: "workspace"; readonly below: string }
  | { readonly kind: "path"; readonly path: string }
  /**
   * Files that match a pattern below a folder, or below each workspace folder if `folder` is null. Only for `deny`.
   */
  | { readonly kind: "pattern"; readonly folder: string | null; readonly pattern: string };
