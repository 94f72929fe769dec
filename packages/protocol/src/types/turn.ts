import {
  array,
  boolean,
  enumeration,
  exact,
  experimental,
  filePath,
  inline,
  integer,
  nullable,
  object,
  omittable,
  optional,
  record,
  retired,
  type Static,
  string,
  union,
  unknown,
} from "../schema-language.ts";
import { cursor } from "./cursor.ts";
import { ThreadItem } from "./item.ts";
import { FunctionCallOutputBody } from "./item-part.ts";
import { SandboxPolicy } from "./permission.ts";
import {
  ApprovalsReviewer,
  AskForApproval,
  CollaborationMode,
  CyberAccessProgram,
  MultiAgentMode,
  Personality,
  ReasoningEffort,
  ReasoningSummary,
} from "./settings.ts";
import { AdditionalContextEntry, UserInput } from "./turn-input.ts";

export const CodexErrorInfo = union("CodexErrorInfo", () => [
  enumeration("", [
    "contextWindowExceeded",
    "sessionBudgetExceeded",
    "usageLimitExceeded",
    "rateLimitExceeded",
    "flexUnavailable",
    "serverOverloaded",
    "modelNotFound",
    "policyCapacityUnavailable",
    "cyberPolicy",
    "misalignmentPolicyViolation",
    "tooManyDenials",
    "internalServerError",
    "unauthorized",
    "badRequest",
    "threadRollbackFailed",
    "sandboxError",
    "inferenceHookDenied",
    "other",
  ]),
  inline(() => ({ httpConnectionFailed: inline(() => ({ httpStatusCode: nullable(integer("uint16")) })) })),
  inline(() => ({
    responseStreamConnectionFailed: inline(() => ({ httpStatusCode: nullable(integer("uint16")) })),
  })),
  inline(() => ({
    responseStreamDisconnected: inline(() => ({ httpStatusCode: nullable(integer("uint16")) })),
  })),
  inline(() => ({
    responseTooManyFailedAttempts: inline(() => ({ httpStatusCode: nullable(integer("uint16")) })),
  })),
  inline(() => ({ activeTurnNotSteerable: inline(() => ({ turnKind: NonSteerableTurnKind })) })),
]);
export type CodexErrorInfo = Static<typeof CodexErrorInfo>;

export const MisalignmentErrorDetails = object("MisalignmentErrorDetails", () => ({
  detailedExplanation: nullable(string()),
  errorType: nullable(string()),
  reviewTarget: optional(string()),
  steer: nullable(MisalignmentSteer),
}));
export type MisalignmentErrorDetails = Static<typeof MisalignmentErrorDetails>;

export const MisalignmentSteer = object("MisalignmentSteer", () => ({ message: string() }));
export type MisalignmentSteer = Static<typeof MisalignmentSteer>;

export const NonSteerableTurnKind = enumeration("NonSteerableTurnKind", ["review", "compact"]);
export type NonSteerableTurnKind = Static<typeof NonSteerableTurnKind>;

export const Turn = object("Turn", () => ({
  completedAt: nullable(integer()),
  durationMs: nullable(integer()),
  error: nullable(TurnError),
  id: string(),
  items: array(ThreadItem),
  itemsView: TurnItemsView,
  rootTurnId: nullable(string()),
  startedAt: nullable(integer()),
  status: TurnStatus,
}));
export type Turn = Static<typeof Turn>;

export const TurnCompletedNotification = object("TurnCompletedNotification", () => ({
  threadId: string(),
  turn: Turn,
  ...cursor(),
}));
export type TurnCompletedNotification = Static<typeof TurnCompletedNotification>;

export const TurnDiffUpdatedNotification = object("TurnDiffUpdatedNotification", () => ({
  diff: string(),
  threadId: string(),
  turnId: string(),
  ...cursor(),
}));
export type TurnDiffUpdatedNotification = Static<typeof TurnDiffUpdatedNotification>;

export const TurnError = object("TurnError", () => ({
  additionalDetails: nullable(string()),
  // Stable code of the error, if the host's error catalogue has one for it.
  code: experimental(string(), { ours: true }),
  codexErrorInfo: nullable(CodexErrorInfo),
  message: string(),
  misalignment: nullable(MisalignmentErrorDetails),
}));
export type TurnError = Static<typeof TurnError>;

export const TurnInterruptParams = object("TurnInterruptParams", () => ({
  threadId: string(),
  turnId: string(),
}));
export type TurnInterruptParams = Static<typeof TurnInterruptParams>;

export const TurnInterruptResponse = object("TurnInterruptResponse", () => ({}));
export type TurnInterruptResponse = Static<typeof TurnInterruptResponse>;

export const TurnItemsView = enumeration("TurnItemsView", ["notLoaded", "summary", "full"]);
export type TurnItemsView = Static<typeof TurnItemsView>;

export const TurnPlanStep = object("TurnPlanStep", () => ({ status: TurnPlanStepStatus, step: string() }));
export type TurnPlanStep = Static<typeof TurnPlanStep>;

export const TurnPlanStepStatus = enumeration("TurnPlanStepStatus", ["pending", "inProgress", "completed"]);
export type TurnPlanStepStatus = Static<typeof TurnPlanStepStatus>;

export const TurnPlanUpdatedNotification = object("TurnPlanUpdatedNotification", () => ({
  explanation: nullable(string()),
  plan: array(TurnPlanStep),
  threadId: string(),
  turnId: string(),
  ...cursor(),
}));
export type TurnPlanUpdatedNotification = Static<typeof TurnPlanUpdatedNotification>;

export const TurnSettingsUpdateParams = exact(
  object("TurnSettingsUpdateParams", () => ({
    approvalsReviewer: optional(ApprovalsReviewer),
    effort: optional(ReasoningEffort),
    environments: experimental(array(TurnEnvironmentParams)),
    model: optional(string()),
    serviceTier: optional(string()),
    summary: optional(ReasoningSummary),
    threadId: string(),
    turnId: string(),
  })),
);
export type TurnSettingsUpdateParams = Static<typeof TurnSettingsUpdateParams>;

export const TurnSettingsUpdateStatus = enumeration("TurnSettingsUpdateStatus", [
  "applied",
  "targetUnavailable",
]);
export type TurnSettingsUpdateStatus = Static<typeof TurnSettingsUpdateStatus>;

export const TurnSettingsUpdateResponse = object("TurnSettingsUpdateResponse", () => ({
  status: TurnSettingsUpdateStatus,
}));
export type TurnSettingsUpdateResponse = Static<typeof TurnSettingsUpdateResponse>;

export const TurnEnvironmentParams = object("TurnEnvironmentParams", () => ({
  cwd: filePath(),
  environmentId: string(),
  runtimeWorkspaceRoots: optional(array(filePath())),
}));
export type TurnEnvironmentParams = Static<typeof TurnEnvironmentParams>;

export const TurnStartParams = object("TurnStartParams", () => ({
  additionalContext: experimental(record(AdditionalContextEntry)),
  approvalPolicy: optional(AskForApproval),
  approvalsReviewer: optional(ApprovalsReviewer),
  clientUserMessageId: optional(string()),
  collaborationMode: experimental(CollaborationMode),
  cwd: optional(filePath()),
  cyberAccessProgram: experimental(CyberAccessProgram),
  disabledPluginIds: optional(array(string())),
  effort: optional(ReasoningEffort),
  environments: experimental(array(TurnEnvironmentParams)),
  input: array(UserInput),
  model: optional(string()),
  multiAgentMode: experimental(MultiAgentMode),
  outputSchema: optional(unknown()),
  parentTurnId: optional(string()),
  permissionProfile: retired(),
  permissions: experimental(string()),
  personality: optional(Personality),
  responsesapiClientMetadata: experimental(record(string())),
  responsesapiClientMetadataPatch: experimental(record(string())),
  rootTurnId: optional(string()),
  runtimeWorkspaceRoots: experimental(array(filePath())),
  sandboxPolicy: optional(SandboxPolicy),
  serviceTier: optional(string()),
  serviceTierForTurn: optional(string()),
  summary: optional(ReasoningSummary),
  threadId: string(),
  toolOutput: optional(TurnToolOutput),
  turnTrigger: optional(string()),
}));
export type TurnStartParams = Static<typeof TurnStartParams>;

export const TurnStartResponse = object("TurnStartResponse", () => ({ turn: Turn }));
export type TurnStartResponse = Static<typeof TurnStartResponse>;

export const TurnStartedNotification = object("TurnStartedNotification", () => ({
  threadId: string(),
  turn: Turn,
  ...cursor(),
}));
export type TurnStartedNotification = Static<typeof TurnStartedNotification>;

export const TurnStatus = enumeration("TurnStatus", ["completed", "interrupted", "failed", "inProgress"]);
export type TurnStatus = Static<typeof TurnStatus>;

export const TurnSteerParams = object("TurnSteerParams", () => ({
  additionalContext: experimental(record(AdditionalContextEntry)),
  clientUserMessageId: optional(string()),
  expectedTurnId: string(),
  input: array(UserInput),
  responsesapiClientMetadata: experimental(record(string())),
  responsesapiClientMetadataPatch: experimental(record(string())),
  threadId: string(),
}));
export type TurnSteerParams = Static<typeof TurnSteerParams>;

export const TurnSteerResponse = object("TurnSteerResponse", () => ({ turnId: string() }));
export type TurnSteerResponse = Static<typeof TurnSteerResponse>;

export const TurnToolOutput = object("TurnToolOutput", () => ({
  name: string(),
  namespace: optional(string()),
  output: FunctionCallOutputBody,
  retain: omittable(boolean()),
}));
export type TurnToolOutput = Static<typeof TurnToolOutput>;
