import {
  array,
  boolean,
  enumeration,
  experimental,
  inline,
  nullable,
  object,
  omittable,
  optional,
  record,
  type Static,
  string,
  tagged,
  unknown,
} from "../schema.ts";
import { DynamicToolInput } from "./dynamic-tool.ts";
import { ActivePermissionProfile, SandboxPolicy } from "./permission.ts";
import {
  ApprovalsReviewer,
  AskForApproval,
  CollaborationMode,
  MultiAgentMode,
  Personality,
  ReasoningEffort,
  SandboxMode,
  ThreadHistoryMode,
} from "./settings.ts";
import { Thread } from "./thread.ts";
import { ThreadResumeInitialTurnsPageParams, TurnsPage } from "./thread-list.ts";

export const CapabilityRootLocation = tagged("CapabilityRootLocation", "type", () => ({
  environment: { environmentId: string(), path: string() },
}));
export type CapabilityRootLocation = Static<typeof CapabilityRootLocation>;

export const SelectedCapabilityRoot = object("SelectedCapabilityRoot", () => ({
  id: string(),
  location: CapabilityRootLocation,
}));
export type SelectedCapabilityRoot = Static<typeof SelectedCapabilityRoot>;

export const ThreadForkParams = object("ThreadForkParams", () => ({
  approvalPolicy: optional(AskForApproval),
  approvalsReviewer: optional(ApprovalsReviewer),
  attachToSource: experimental.omittable(boolean()),
  baseInstructions: optional(string()),
  beforeTurnId: experimental(string()),
  config: optional(record(unknown())),
  cwd: optional(string()),
  deferGoalContinuation: experimental.omittable(boolean()),
  developerInstructions: optional(string()),
  ephemeral: omittable(boolean()),
  excludeTurns: omittable(boolean()),
  experimentalDisablePredictionMcp: experimental.omittable(boolean()),
  experimentalPredictionMode: experimental.omittable(boolean()),
  lastTurnId: optional(string()),
  model: optional(string()),
  modelProvider: optional(string()),
  path: experimental(string()),
  permissions: experimental(string()),
  runtimeWorkspaceRoots: experimental(array(string())),
  sandbox: optional(SandboxMode),
  serviceTier: optional(string()),
  threadId: string(),
  threadSource: optional(string()),
}));
export type ThreadForkParams = Static<typeof ThreadForkParams>;

export const ThreadForkResponse = object("ThreadForkResponse", () => ({
  activePermissionProfile: experimental(ActivePermissionProfile),
  approvalPolicy: AskForApproval,
  approvalsReviewer: ApprovalsReviewer,
  cwd: string(),
  disabledPluginIds: array(string()),
  instructionSources: array(string()),
  model: string(),
  modelProvider: string(),
  multiAgentMode: experimental.omittable(MultiAgentMode),
  reasoningEffort: nullable(ReasoningEffort),
  runtimeWorkspaceRoots: experimental.omittable(array(string())),
  sandbox: SandboxPolicy,
  serviceTier: nullable(string()),
  thread: Thread,
}));
export type ThreadForkResponse = Static<typeof ThreadForkResponse>;

export const ThreadResumeParams = object("ThreadResumeParams", () => ({
  approvalPolicy: optional(AskForApproval),
  approvalsReviewer: optional(ApprovalsReviewer),
  baseInstructions: optional(string()),
  config: optional(record(unknown())),
  cwd: optional(string()),
  developerInstructions: optional(string()),
  excludeTurns: omittable(boolean()),
  history: experimental(array(unknown())),
  initialTurnsPage: experimental(ThreadResumeInitialTurnsPageParams),
  model: optional(string()),
  modelProvider: optional(string()),
  path: experimental(string()),
  permissions: experimental(string()),
  personality: optional(Personality),
  runtimeWorkspaceRoots: experimental(array(string())),
  sandbox: optional(SandboxMode),
  serviceTier: optional(string()),
  threadId: string(),
  afterCursor: experimental(string(), { ours: true }),
}));
export type ThreadResumeParams = Static<typeof ThreadResumeParams>;

export const ThreadResumeResponse = object("ThreadResumeResponse", () => ({
  activePermissionProfile: experimental(ActivePermissionProfile),
  approvalPolicy: AskForApproval,
  approvalsReviewer: ApprovalsReviewer,
  collaborationMode: nullable(CollaborationMode),
  cwd: string(),
  disabledPluginIds: array(string()),
  initialTurnsPage: experimental(TurnsPage),
  instructionSources: array(string()),
  itemsBackwardsCursor: nullable(string()),
  model: string(),
  modelProvider: string(),
  multiAgentMode: experimental.omittable(MultiAgentMode),
  reasoningEffort: nullable(ReasoningEffort),
  runtimeWorkspaceRoots: experimental.omittable(array(string())),
  sandbox: SandboxPolicy,
  serviceTier: nullable(string()),
  thread: Thread,
  turnsBackwardsCursor: nullable(string()),
  replay: experimental(
    inline(() => ({ gap: boolean() })),
    { ours: true },
  ),
}));
export type ThreadResumeResponse = Static<typeof ThreadResumeResponse>;

export const ThreadStartParams = object("ThreadStartParams", () => ({
  allowProviderModelFallback: experimental.omittable(boolean()),
  approvalPolicy: optional(AskForApproval),
  approvalsReviewer: optional(ApprovalsReviewer),
  baseInstructions: optional(string()),
  config: optional(record(unknown())),
  cwd: optional(string()),
  daybreakEnabled: experimental(boolean()),
  developerInstructions: optional(string()),
  dynamicTools: experimental(array(DynamicToolInput)),
  environments: experimental(array(TurnEnvironmentParams)),
  ephemeral: optional(boolean()),
  experimentalRawEvents: experimental.omittable(boolean()),
  historyMode: experimental(ThreadHistoryMode),
  mockExperimentalField: experimental(string()),
  model: optional(string()),
  modelProvider: optional(string()),
  multiAgentMode: experimental(MultiAgentMode),
  permissions: experimental(string()),
  personality: optional(Personality),
  projectId: experimental(string()),
  runtimeWorkspaceRoots: experimental(array(string())),
  sandbox: optional(SandboxMode),
  selectedCapabilityRoots: experimental(array(SelectedCapabilityRoot)),
  serviceName: optional(string()),
  serviceTier: optional(string()),
  sessionStartSource: optional(ThreadStartSource),
  threadSource: optional(string()),
  idempotencyKey: experimental(string(), { ours: true }),
}));
export type ThreadStartParams = Static<typeof ThreadStartParams>;

export const ThreadStartResponse = object("ThreadStartResponse", () => ({
  activePermissionProfile: experimental(ActivePermissionProfile),
  approvalPolicy: AskForApproval,
  approvalsReviewer: ApprovalsReviewer,
  cwd: string(),
  disabledPluginIds: array(string()),
  instructionSources: array(string()),
  model: string(),
  modelProvider: string(),
  multiAgentMode: experimental.omittable(MultiAgentMode),
  reasoningEffort: nullable(ReasoningEffort),
  runtimeWorkspaceRoots: experimental.omittable(array(string())),
  sandbox: SandboxPolicy,
  serviceTier: nullable(string()),
  thread: Thread,
}));
export type ThreadStartResponse = Static<typeof ThreadStartResponse>;

export const ThreadStartSource = enumeration("ThreadStartSource", ["startup", "clear"]);
export type ThreadStartSource = Static<typeof ThreadStartSource>;

export const TurnEnvironmentParams = object("TurnEnvironmentParams", () => ({
  cwd: string(),
  environmentId: string(),
  runtimeWorkspaceRoots: optional(array(string())),
}));
export type TurnEnvironmentParams = Static<typeof TurnEnvironmentParams>;
