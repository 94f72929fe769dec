import {
  array,
  enumeration,
  experimental,
  filePath,
  nullable,
  object,
  optional,
  type Static,
  string,
} from "../schema-language.ts";
import { cursor } from "./cursor.ts";
import { ThreadEnvironment } from "./environment.ts";
import { ActivePermissionProfile, SandboxPolicy } from "./permission.ts";
import {
  ApprovalsReviewer,
  AskForApproval,
  CollaborationMode,
  MultiAgentMode,
  Personality,
  ReasoningEffort,
  ReasoningSummary,
} from "./settings.ts";
import { TurnEnvironmentParams } from "./turn.ts";

export const ThreadMemoryMode = enumeration("ThreadMemoryMode", ["enabled", "disabled"]);
export type ThreadMemoryMode = Static<typeof ThreadMemoryMode>;

export const ThreadMemoryModeSetParams = object("ThreadMemoryModeSetParams", () => ({
  mode: ThreadMemoryMode,
  threadId: string(),
}));
export type ThreadMemoryModeSetParams = Static<typeof ThreadMemoryModeSetParams>;

export const ThreadMemoryModeSetResponse = object("ThreadMemoryModeSetResponse", () => ({}));
export type ThreadMemoryModeSetResponse = Static<typeof ThreadMemoryModeSetResponse>;

export const ThreadSettings = object("ThreadSettings", () => ({
  activePermissionProfile: nullable(ActivePermissionProfile),
  approvalPolicy: AskForApproval,
  approvalsReviewer: ApprovalsReviewer,
  collaborationMode: CollaborationMode,
  cwd: string(),
  disabledPluginIds: array(string()),
  effort: nullable(ReasoningEffort),
  environments: experimental(array(ThreadEnvironment)),
  model: string(),
  modelProvider: string(),
  multiAgentMode: experimental.omittable(MultiAgentMode),
  personality: nullable(Personality),
  sandboxPolicy: SandboxPolicy,
  serviceTier: nullable(string()),
  summary: nullable(ReasoningSummary),
}));
export type ThreadSettings = Static<typeof ThreadSettings>;

export const ThreadSettingsUpdateParams = object("ThreadSettingsUpdateParams", () => ({
  approvalPolicy: optional(AskForApproval),
  approvalsReviewer: optional(ApprovalsReviewer),
  collaborationMode: optional(CollaborationMode),
  cwd: optional(filePath()),
  disabledPluginIds: optional(array(string())),
  effort: optional(ReasoningEffort),
  environments: experimental(array(TurnEnvironmentParams)),
  model: optional(string()),
  multiAgentMode: optional(MultiAgentMode),
  permissions: optional(string()),
  personality: optional(Personality),
  sandboxPolicy: optional(SandboxPolicy),
  serviceTier: optional(string()),
  summary: optional(ReasoningSummary),
  threadId: string(),
}));
export type ThreadSettingsUpdateParams = Static<typeof ThreadSettingsUpdateParams>;

export const ThreadSettingsUpdateResponse = object("ThreadSettingsUpdateResponse", () => ({}));
export type ThreadSettingsUpdateResponse = Static<typeof ThreadSettingsUpdateResponse>;

export const ThreadSettingsUpdatedNotification = object("ThreadSettingsUpdatedNotification", () => ({
  threadId: string(),
  threadSettings: ThreadSettings,
  ...cursor(),
}));
export type ThreadSettingsUpdatedNotification = Static<typeof ThreadSettingsUpdatedNotification>;
