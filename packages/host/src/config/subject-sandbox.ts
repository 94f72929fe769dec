import type { SandboxPolicy } from "@bobbin/protocol";
import type { Config } from "./config.ts";
import { ofProfile, type SandboxChoice } from "./sandbox-settings.ts";
import type { Grant, SubjectRules } from "./subject-permissions.ts";

/** Returns a grant that the sandbox needs and the subject does not have; undefined if none is missing. */
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

/** Returns the sandbox if the subject has the grants for it, else `:read-only`. */
export function grantedSandbox(choice: SandboxChoice, rules: SubjectRules): SandboxChoice {
  // A subject cannot use the user's own profiles, because they contain folders of the host's user.
  if (choice.permissionProfile !== null && !choice.permissionProfile.startsWith(":"))
    return ofProfile(":read-only");
  return missingGrant(choice.sandbox, rules) === undefined ? choice : ofProfile(":read-only");
}

/** The configuration for a subject's threads. Its defaults contain nothing that the subject may not request. */
export function configOfSubject(config: Config, rules: SubjectRules): Config {
  // Folders that the host's user may write to are removed for subjects.
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
    // Trust in a project is the decision of the host's own user, and valid for that user's threads only.
    projects: new Map(),
    sandbox: { sandbox: isWrite ? workspaceWrite : sandbox, permissionProfile },
  };
}
