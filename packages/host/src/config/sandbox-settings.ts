import { resolve } from "node:path";
import type { SandboxMode, SandboxPolicy } from "@bobbin/protocol";
import type { PermissionProfile } from "../sandbox/permission-profile.ts";
import { ConfigError } from "./bad-config-error.ts";
import { policyOfProfile } from "./permission-profile-reader.ts";
import { flag, list, oneOf, subtable, type Table, text } from "./table-reader.ts";

export type WorkspaceWrite = Extract<SandboxPolicy, { type: "workspaceWrite" }>;

/** A sandbox policy, and the permission profile that it was derived from; null if a sandbox mode was chosen. */
export interface SandboxChoice {
  readonly sandbox: SandboxPolicy;
  readonly permissionProfile: string | null;
}

/** The built-in permission profiles, with the sandbox mode of each. */
export const PERMISSION_PROFILES: ReadonlyMap<string, SandboxMode> = new Map([
  [":read-only", "read-only"],
  [":workspace", "workspace-write"],
  [":danger-full-access", "danger-full-access"],
]);

const PLAIN: WorkspaceWrite = {
  type: "workspaceWrite",
  writableRoots: [],
  networkAccess: false,
  excludeTmpdirEnvVar: false,
  excludeSlashTmp: false,
};

/**
 * Reads `[sandbox_workspace_write]`. Missing keys are taken from `below`. Relative folders are resolved against the
 * home.
 */
export function readWorkspaceWrite(
  table: Table,
  home: string,
  below: WorkspaceWrite = PLAIN,
): WorkspaceWrite {
  const at = "sandbox_workspace_write.";
  const section = subtable(table, "sandbox_workspace_write") ?? {};
  const roots = list(section, "writable_roots", at)?.map((root) => resolve(home, root));
  return {
    type: "workspaceWrite",
    writableRoots: roots ?? below.writableRoots,
    networkAccess: flag(section, "network_access", at) ?? below.networkAccess,
    excludeTmpdirEnvVar: flag(section, "exclude_tmpdir_env_var", at) ?? below.excludeTmpdirEnvVar,
    excludeSlashTmp: flag(section, "exclude_slash_tmp", at) ?? below.excludeSlashTmp,
  };
}

/** Reads `default_permissions`, else `sandbox_mode`. `own` contains the user's permission profiles. */
export function readSandbox(
  table: Table,
  workspaceWrite: WorkspaceWrite,
  own: ReadonlyMap<string, PermissionProfile>,
): SandboxChoice {
  const profile = text(table, "default_permissions");
  if (profile !== undefined) {
    if (!profile.startsWith(":") && table["permissions"] === undefined)
      throw new ConfigError("default_permissions requires a `[permissions]` table");
    return ofProfile(profile, own);
  }
  const mode = oneOf(table, "sandbox_mode", ["read-only", "workspace-write", "danger-full-access"]);
  if (mode === undefined) return ofProfile(":read-only");
  return { sandbox: sandboxPolicy(mode, workspaceWrite), permissionProfile: null };
}

export function ofProfile(
  profile: string,
  own: ReadonlyMap<string, PermissionProfile> = new Map(),
): SandboxChoice {
  const mode = PERMISSION_PROFILES.get(profile);
  if (mode !== undefined) return { sandbox: sandboxPolicy(mode, PLAIN), permissionProfile: profile };
  if (profile.startsWith(":"))
    throw new ConfigError(`default_permissions refers to unknown built-in profile \`${profile}\``);
  const written = own.get(profile);
  if (written === undefined)
    throw new ConfigError(`default_permissions refers to undefined profile \`${profile}\``);
  return { sandbox: policyOfProfile(written), permissionProfile: profile };
}

/**
 * The sandbox with a writable workspace. It is the profile `:workspace`, unless the user configured
 * `[sandbox_workspace_write]`.
 */
export function workspaceChoice(workspaceWrite: WorkspaceWrite): SandboxChoice {
  const isPlain = JSON.stringify(workspaceWrite) === JSON.stringify(PLAIN);
  return { sandbox: workspaceWrite, permissionProfile: isPlain ? ":workspace" : null };
}

/** Fills in all fields of a policy, in a fixed order, so that equal policies have equal JSON. */
export function wholeSandbox(policy: SandboxPolicy): SandboxPolicy {
  switch (policy.type) {
    case "readOnly":
      return { type: "readOnly", networkAccess: policy.networkAccess ?? false };
    case "workspaceWrite":
      return {
        type: "workspaceWrite",
        writableRoots: policy.writableRoots ?? PLAIN.writableRoots,
        networkAccess: policy.networkAccess ?? PLAIN.networkAccess,
        excludeTmpdirEnvVar: policy.excludeTmpdirEnvVar ?? PLAIN.excludeTmpdirEnvVar,
        excludeSlashTmp: policy.excludeSlashTmp ?? PLAIN.excludeSlashTmp,
      };
    case "externalSandbox":
      return { type: "externalSandbox", networkAccess: policy.networkAccess ?? "restricted" };
    case "dangerFullAccess":
      return { type: "dangerFullAccess" };
  }
}

export function sandboxPolicy(mode: SandboxMode, workspaceWrite: WorkspaceWrite): SandboxPolicy {
  switch (mode) {
    case "read-only":
      return { type: "readOnly", networkAccess: false };
    case "workspace-write":
      return workspaceWrite;
    case "danger-full-access":
      return { type: "dangerFullAccess" };
  }
}
