import {
  array,
  enumeration,
  integer,
  nullable,
  object,
  type Static,
  string,
  tagged,
  unknown,
} from "../schema-language.ts";
import { NetworkApprovalProtocol } from "./approval.ts";
import { RequestPermissionProfile } from "./permission.ts";

export const AutoReviewDecisionSource = enumeration("AutoReviewDecisionSource", ["agent"]);
export type AutoReviewDecisionSource = Static<typeof AutoReviewDecisionSource>;

export const GuardianApprovalReview = object("GuardianApprovalReview", () => ({
  rationale: nullable(string()),
  riskLevel: nullable(GuardianRiskLevel),
  status: GuardianApprovalReviewStatus,
  userAuthorization: nullable(GuardianUserAuthorization),
}));
export type GuardianApprovalReview = Static<typeof GuardianApprovalReview>;

export const GuardianApprovalReviewAction = tagged("GuardianApprovalReviewAction", "type", () => ({
  command: { command: string(), cwd: string(), source: GuardianCommandSource },
  execve: { argv: array(string()), cwd: string(), program: string(), source: GuardianCommandSource },
  writeStdin: { approvalId: string(), cwd: string(), processId: string(), stdin: string() },
  applyPatch: { cwd: string(), files: array(string()) },
  networkAccess: {
    host: string(),
    port: integer("uint16"),
    protocol: NetworkApprovalProtocol,
    target: string(),
  },
  mcpToolCall: {
    connectorId: nullable(string()),
    connectorName: nullable(string()),
    server: string(),
    toolName: string(),
    toolTitle: nullable(string()),
  },
  requestPermissions: { permissions: RequestPermissionProfile, reason: nullable(string()) },
}));
export type GuardianApprovalReviewAction = Static<typeof GuardianApprovalReviewAction>;

export const GuardianApprovalReviewStatus = enumeration("GuardianApprovalReviewStatus", [
  "inProgress",
  "approved",
  "denied",
  "timedOut",
  "aborted",
]);
export type GuardianApprovalReviewStatus = Static<typeof GuardianApprovalReviewStatus>;

export const GuardianCommandSource = enumeration("GuardianCommandSource", ["shell", "unifiedExec"]);
export type GuardianCommandSource = Static<typeof GuardianCommandSource>;

export const GuardianRiskLevel = enumeration("GuardianRiskLevel", ["low", "medium", "high", "critical"]);
export type GuardianRiskLevel = Static<typeof GuardianRiskLevel>;

export const GuardianUserAuthorization = enumeration("GuardianUserAuthorization", [
  "unknown",
  "low",
  "medium",
  "high",
]);
export type GuardianUserAuthorization = Static<typeof GuardianUserAuthorization>;

export const ThreadApproveGuardianDeniedActionParams = object(
  "ThreadApproveGuardianDeniedActionParams",
  () => ({ event: unknown(), threadId: string() }),
);
export type ThreadApproveGuardianDeniedActionParams = Static<typeof ThreadApproveGuardianDeniedActionParams>;

export const ThreadApproveGuardianDeniedActionResponse = object(
  "ThreadApproveGuardianDeniedActionResponse",
  () => ({}),
);
export type ThreadApproveGuardianDeniedActionResponse = Static<
  typeof ThreadApproveGuardianDeniedActionResponse
>;

export const GuardianWarningNotification = object("GuardianWarningNotification", () => ({
  message: string(),
  threadId: string(),
}));
export type GuardianWarningNotification = Static<typeof GuardianWarningNotification>;

export const ItemGuardianApprovalReviewStartedNotification = object(
  "ItemGuardianApprovalReviewStartedNotification",
  () => ({
    action: GuardianApprovalReviewAction,
    review: GuardianApprovalReview,
    reviewId: string(),
    startedAtMs: integer(),
    targetItemId: nullable(string()),
    threadId: string(),
    turnId: string(),
  }),
);
export type ItemGuardianApprovalReviewStartedNotification = Static<
  typeof ItemGuardianApprovalReviewStartedNotification
>;

export const ItemGuardianApprovalReviewCompletedNotification = object(
  "ItemGuardianApprovalReviewCompletedNotification",
  () => ({
    action: GuardianApprovalReviewAction,
    completedAtMs: integer(),
    decisionSource: AutoReviewDecisionSource,
    review: GuardianApprovalReview,
    reviewId: string(),
    startedAtMs: integer(),
    targetItemId: nullable(string()),
    threadId: string(),
    turnId: string(),
  }),
);
export type ItemGuardianApprovalReviewCompletedNotification = Static<
  typeof ItemGuardianApprovalReviewCompletedNotification
>;
