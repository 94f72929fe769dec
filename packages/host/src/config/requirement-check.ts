import type { ThreadSettings } from "../core/life/records.ts";
import { fault } from "../errors.ts";
import { allowsPolicy, modeOf, type Profiles, type Requirements } from "./requirements.ts";

/** Throws a fault if a request asks for settings that the requirements do not allow. */
export function checkRequestedSettings(
  requirements: Requirements,
  requested: Partial<ThreadSettings>,
  profiles: Profiles,
): void {
  const { approvalPolicy, approvalsReviewer, sandbox, permissionProfile } = requested;
  if (approvalPolicy !== undefined && !allowsPolicy(requirements, approvalPolicy))
    throw fault("approvalPolicyNotAllowed", named(approvalPolicy));
  if (
    approvalsReviewer !== undefined &&
    requirements.approvalsReviewers?.includes(approvalsReviewer) === false
  )
    throw fault("approvalsReviewerNotAllowed", approvalsReviewer);
  if (sandbox === undefined) return;
  const mode = modeOf({ sandbox, permissionProfile }, profiles);
  if (requirements.sandboxModes?.includes(mode) === false) throw fault("sandboxModeNotAllowed", mode);
}

function named(policy: ThreadSettings["approvalPolicy"]): string {
  return typeof policy === "string" ? policy : "granular";
}
