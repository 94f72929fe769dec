import { resolve } from "node:path";
import type { SandboxMode, SandboxPolicy } from "@bobbin/protocol";
import type { PermissionProfile } from "../sandbox/permission-profile.ts";
import { ConfigError } from "./config-error.ts";
import { policyOfProfile } from "./permission-profiles.ts";
import { flag, list, oneOf, subtable, type Table, text } from "./table.ts";

type WorkspaceWrite = Extract<SandboxPolicy, { type: "workspaceWrite" }>;

/** What may be touched: by a mode, or by the profile that it was chosen by. */
export interface SandboxChoice {
  readonly sandbox: SandboxPolicy;
  readonly permissionProfile: string | null;
}

/** The profiles that are built in, and the sandbox that each of them is. */
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

/** `[sandbox_workspace_write]`; what it does not say is as `below`. Folders are found from the home. */
export function readWorkspaceWrite(
  table: Table,
  home: string,
  below: WorkspaceWrite = PLAIN,
): WorkspaceWrite {
  const at = "sandbox_workspace_write.";
  const given = subtable(table, "sandbox_workspace_write") ?? {};
  const roots = list(given, "writable_roots", at)?.map((root) => resolve(home, root));
  return {
    type: "workspaceWrite",
    writableRoots: roots ?? below.writableRoots,
    networkAccess: flag(given, "network_access", at) ?? below.networkAccess,
    excludeTmpdirEnvVar: flag(given, "exclude_tmpdir_env_var", at) ?? below.excludeTmpdirEnvVar,
    excludeSlashTmp: flag(given, "exclude_slash_tmp", at) ?? below.excludeSlashTmp,
  };
}

/** `default_permissions` goes before `sandbox_mode`. `own`: the profiles that people have written. */
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

/** The sandbox in which the workspace may be written to: the built-in profile, unless people configured more about it. */
export function workspaceChoice(workspaceWrite: WorkspaceWrite): SandboxChoice {
  const isPlain = JSON.stringify(workspaceWrite) === JSON.stringify(PLAIN);
  return { sandbox: workspaceWrite, permissionProfile: isPlain ? ":workspace" : null };
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
