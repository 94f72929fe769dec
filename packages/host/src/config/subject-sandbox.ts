import type { SandboxPolicy } from "@bobbin/protocol";
import type { Config } from "./config.ts";
import { ofProfile, type SandboxChoice } from "./sandbox.ts";
import type { Grant, SubjectRules } from "./subjects.ts";

/** What a sandbox needs that the rules do not grant. */
export function missingGrant(sandbox: SandboxPolicy, { allow }: SubjectRules): Grant | undefined {
  return neededGrants(sandbox).find((grant) => !allow.includes(grant));
}

function neededGrants(sandbox: SandboxPolicy): readonly Grant[] {
  switch (sandbox.type) {
    case "dangerFullAccess":
      return ["full-access"];
    case "externalSandbox":
      return sandbox.networkAccess === "enabled" ? ["full-access", "network"] : ["full-access"];
    case "readOnly":
    case "workspaceWrite":
      return sandbox.networkAccess ? ["network"] : [];
  }
}

/** A sandbox that the rules grant: the one given, or one that allows as little as can be. */
export function grantedSandbox(choice: SandboxChoice, rules: SubjectRules): SandboxChoice {
  // Profiles that people have written name folders of the host's own user.
  if (choice.permissionProfile !== null && !choice.permissionProfile.startsWith(":"))
    return ofProfile(":read-only");
  return missingGrant(choice.sandbox, rules) === undefined ? choice : ofProfile(":read-only");
}

/** The configuration as a subject's threads start with it: what it may not ask for is not its default, either. */
export function configOfSubject(config: Config, rules: SubjectRules): Config {
  // Folders that the host's own user may write to are not the subject's.
  const workspaceWrite = {
    ...config.workspaceWrite,
    writableRoots: [],
    networkAccess: config.workspaceWrite.networkAccess === true && rules.allow.includes("network"),
  };
  const { sandbox, permissionProfile } = grantedSandbox(config.sandbox, rules);
  const isWrite = sandbox.type === "workspaceWrite";
  return {
    ...config,
    workspaceWrite,
    permissionProfiles: new Map(),
    // The host's own user trusts folders, and so only for threads of its own.
    projects: new Map(),
    sandbox: { sandbox: isWrite ? workspaceWrite : sandbox, permissionProfile },
  };
}
