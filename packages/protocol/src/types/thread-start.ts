import {
  array,
  boolean,
  enumeration,
  experimental,
  filePath,
  inline,
  nullable,
  object,
  omittable,
  optional,
  record,
  retired,
  type Static,
  string,
  tagged,
  unknown,
} from "../schema-language.ts";
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
import { TurnEnvironmentParams } from "./turn.ts";

export const CapabilityRootLocation = tagged("CapabilityRootLocation", "type", () => ({
  environment: { environmentId: string(), path: filePath() },
}));
export type CapabilityRootLocation = Static<typeof CapabilityRootLocation>;

export const SelectedCapabilityRoot = object("SelectedCapabilityRoot", () => ({
  id: string(),
  location: CapabilityRootLocation,
}));
export type SelectedCapabilityRoot = Static<typeof SelectedCapabilityRoot>;

/** Settings that a client may override when it loads a thread by start, resume or fork. */
const loadOverrides = () => ({
  approvalPolicy: optional(AskForApproval),
  approvalsReviewer: optional(ApprovalsReviewer),
  baseInstructions: optional(string()),
  config: optional(record(unknown())),
  cwd: optional(filePath()),
  developerInstructions: optional(string()),
  model: optional(string()),
  modelProvider: optional(string()),
  permissionProfile: retired(),
  permissions: experimental(string()),
  runtimeWorkspaceRoots: experimental(array(filePath())),
  sandbox: optional(SandboxMode),
  serviceTier: optional(string()),
  toolServers: experimental(record(unknown()), { ours: true, gated: false }),
});

/** Fields of every reply that loads a thread. */
const loadedThread = () => ({
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
});

export const ThreadForkParams = object("ThreadForkParams", () => ({
  ...loadOverrides(),
  attachToSource: experimental.omittable(boolean()),
  beforeTurnId: experimental(string()),
  deferGoalContinuation: experimental.omittable(boolean()),
  ephemeral: omittable(boolean()),
  excludeTurns: omittable(boolean()),
  experimentalDisablePredictionMcp: experimental.omittable(boolean()),
  experimentalPredictionMode: experimental.omittable(boolean()),
  lastTurnId: optional(string()),
  path: experimental(filePath()),
  threadId: string(),
  threadSource: optional(string()),
}));
export type ThreadForkParams = Static<typeof ThreadForkParams>;

export const ThreadForkResponse = object("ThreadForkResponse", loadedThread);
export type ThreadForkResponse = Static<typeof ThreadForkResponse>;

export const ThreadResumeParams = object("ThreadResumeParams", () => ({
  ...loadOverrides(),
  excludeTurns: omittable(boolean()),
  history: experimental(array(unknown())),
  initialTurnsPage: experimental(ThreadResumeInitialTurnsPageParams),
  path: experimental(filePath()),
  personality: optional(Personality),
  threadId: string(),
  afterCursor: experimental(string(), { ours: true }),
}));
export type ThreadResumeParams = Static<typeof ThreadResumeParams>;

export const ThreadResumeResponse = object("ThreadResumeResponse", () => ({
  ...loadedThread(),
  collaborationMode: nullable(CollaborationMode),
  initialTurnsPage: experimental(TurnsPage),
  itemsBackwardsCursor: nullable(string()),
  turnsBackwardsCursor: nullable(string()),
  replay: experimental(
    inline(() => ({ gap: boolean() })),
    { ours: true },
  ),
}));
export type ThreadResumeResponse = Static<typeof ThreadResumeResponse>;

export const ThreadStartParams = object("ThreadStartParams", () => ({
  ...loadOverrides(),
  allowProviderModelFallback: experimental.omittable(boolean()),
  daybreakEnabled: experimental(boolean()),
  dynamicTools: experimental(array(DynamicToolInput)),
  environments: experimental(array(TurnEnvironmentParams)),
  ephemeral: optional(boolean()),
  experimentalRawEvents: experimental.omittable(boolean()),
  historyMode: experimental(ThreadHistoryMode),
  mockExperimentalField: experimental(string()),
  multiAgentMode: experimental(MultiAgentMode),
  personality: optional(Personality),
  projectId: experimental(string()),
  selectedCapabilityRoots: experimental(array(SelectedCapabilityRoot)),
  serviceName: optional(string()),
  sessionStartSource: optional(ThreadStartSource),
  threadSource: optional(string()),
  idempotencyKey: experimental(string(), { ours: true }),
}));
export type ThreadStartParams = Static<typeof ThreadStartParams>;

export const ThreadStartResponse = object("ThreadStartResponse", loadedThread);
export type ThreadStartResponse = Static<typeof ThreadStartResponse>;

export const ThreadStartSource = enumeration("ThreadStartSource", ["startup", "clear"]);
export type ThreadStartSource = Static<typeof ThreadStartSource>;
