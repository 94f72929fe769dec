import {
  array,
  boolean,
  enumeration,
  inline,
  nullable,
  omittable,
  optional,
  string,
  tagged,
} from "@bobbin/protocol/schema";
import {
  ApprovalsReviewer,
  AskForApproval,
  CollabAgentState,
  Personality,
  ReasoningSummary,
  SandboxPolicy,
  UserInput,
  Verbosity,
} from "@bobbin/protocol/types";
import { count } from "../number-schemas.ts";
import { RAP_EVENT } from "../rap/record-field-schemas.ts";

export const CHILD = inline(() => ({
  childId: string(),
  task: nullable(inline(() => ({ kind: enumeration("", ["event"]), event: RAP_EVENT }))),
}));

export const HELPER_START = inline(() => ({
  callId: string(),
  fork: boolean(),
  settings: inline(() => ({
    model: omittable(string()),
    effort: omittable(nullable(string())),
    summary: omittable(nullable(ReasoningSummary)),
    verbosity: omittable(nullable(Verbosity)),
    personality: omittable(nullable(Personality)),
    serviceTier: omittable(nullable(string())),
  })),
  developerInstructions: nullable(string()),
}));

const PERMISSIONS = inline(() => ({
  cwd: string(),
  roots: omittable(array(string())),
  approvalPolicy: AskForApproval,
  approvalsReviewer: ApprovalsReviewer,
  sandbox: SandboxPolicy,
  permissionProfile: optional(string()),
}));

export const HELPER_INPUT = inline(() => ({
  id: string(),
  input: array(UserInput),
  rootTurnId: string(),
  permissions: omittable(PERMISSIONS),
}));

/** See `Awaited` in helper-calls.ts. */
export const AWAITED = tagged("", "kind", () => ({
  thread: { childId: string() },
  ends: { childIds: array(string()) },
}));

const HELPER = inline(() => ({
  childId: string(),
  nickname: string(),
  role: nullable(string()),
  start: nullable(HELPER_START),
  state: CollabAgentState,
  heard: count(),
  inputs: array(HELPER_INPUT),
  permissions: omittable(PERMISSIONS),
}));

export const HELPERS = inline(() => ({
  open: array(HELPER),
  news: array(inline(() => ({ childId: string(), seq: count(), state: CollabAgentState }))),
  had: boolean(),
}));
