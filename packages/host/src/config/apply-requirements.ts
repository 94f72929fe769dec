import type { ThreadSettings } from "../core/life/records.ts";
import type { Config } from "./config.ts";
import {
  allowsPolicy,
  allowsSearch,
  lowerMode,
  modeOf,
  type Profiles,
  type Requirements,
} from "./requirements.ts";
import { sandboxPolicy, type WorkspaceWrite } from "./sandbox-settings.ts";

type Constrained = Pick<
  ThreadSettings,
  "approvalPolicy" | "approvalsReviewer" | "sandbox" | "permissionProfile" | "webSearch"
>;

interface Defaults {
  readonly workspaceWrite: WorkspaceWrite;
  readonly permissionProfiles: Profiles;
}

/**
 * Returns the changes to a thread's default settings that the requirements demand: each disallowed value is replaced
 * by the first allowed one.
 */
export function requiredChanges(
  requirements: Requirements,
  { approvalPolicy, approvalsReviewer, sandbox, permissionProfile, webSearch }: Constrained,
  { workspaceWrite, permissionProfiles }: Defaults,
): Partial<ThreadSettings> {
  const { approvalPolicies, approvalsReviewers, sandboxModes } = requirements;
  const mode = modeOf({ sandbox, permissionProfile }, permissionProfiles);
  return {
    ...(!allowsPolicy(requirements, approvalPolicy) && { approvalPolicy: approvalPolicies![0]! }),
    ...(approvalsReviewers?.includes(approvalsReviewer) === false && {
      approvalsReviewer: approvalsReviewers[0]!,
    }),
    ...(sandboxModes?.includes(mode) === false && {
      sandbox: sandboxPolicy(lowerMode(requirements), workspaceWrite),
      permissionProfile: null,
    }),
    ...(webSearch != null && !allowsSearch(requirements, webSearch) && { webSearch: "disabled" }),
  };
}

/** Replaces disallowed values of the configuration by allowed ones. */
export function withinRequirements(config: Config): Config {
  const { approvalPolicy, approvalsReviewer, sandbox: choice } = config;
  const configured = { approvalPolicy, approvalsReviewer, ...choice };
  const { sandbox, ...changes } = requiredChanges(config.requirements, configured, config);
  return {
    ...config,
    approvalPolicy: changes.approvalPolicy ?? approvalPolicy,
    approvalsReviewer: changes.approvalsReviewer ?? approvalsReviewer,
    sandbox: sandbox === undefined ? choice : { sandbox, permissionProfile: null },
  };
}
