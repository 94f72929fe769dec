import {
  array,
  boolean,
  enumeration,
  inline,
  integer,
  nullable,
  omittable,
  optional,
  string,
} from "@bobbin/protocol/schema";
import {
  ApprovalsReviewer,
  AskForApproval,
  ModeKind,
  Personality,
  ReasoningSummary,
  SandboxPolicy,
  SessionSource,
  Verbosity,
} from "@bobbin/protocol/types";

export const PROJECT_DOC = inline(() => ({
  path: string(),
  text: string(),
  as: omittable(enumeration("", ["base", "developer"])),
}));

export const UNLOAD_REASON = enumeration("", [
  "unsubscribed",
  "requested",
  "archived",
  "deleted",
  "shutdown",
  "moved",
  "lost",
]);

export const THREAD_FACTS = inline(() => ({
  id: string(),
  owner: string(),
  ephemeral: boolean(),
  source: SessionSource,
  originator: nullable(string()),
  cliVersion: string(),
  serviceName: nullable(string()),
  threadSource: nullable(string()),
  forkedFromId: nullable(string()),
  parentThreadId: nullable(string()),
  ancestors: omittable(array(string())),
  startKey: omittable(string()),
}));

export const THREAD_SETTINGS = inline(() => ({
  model: string(),
  modelProvider: string(),
  serviceTier: nullable(string()),
  cwd: string(),
  roots: omittable(array(string())),
  approvalPolicy: AskForApproval,
  approvalsReviewer: ApprovalsReviewer,
  sandbox: SandboxPolicy,
  permissionProfile: optional(string()),
  effort: nullable(string()),
  summary: nullable(ReasoningSummary),
  personality: nullable(Personality),
  mode: optional(inline(() => ({ kind: ModeKind, instructions: nullable(string()) }))),
  verbosity: optional(Verbosity),
  contextWindow: optional(integer()),
  autoCompactTokens: optional(integer()),
  compactPrompt: optional(string()),
  reviewModel: optional(string()),
  webSearch: optional(enumeration("", ["live", "cached", "disabled"])),
}));
