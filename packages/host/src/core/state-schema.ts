import {
  array,
  boolean,
  enumeration,
  inline,
  integer,
  nullable,
  number,
  omittable,
  record,
  string,
  unknown,
} from "@bobbin/protocol/schema";
import {
  GitInfo,
  LoadSettings,
  QueuedSubmission,
  ThreadItem,
  ThreadStatus,
  ThreadTokenUsage,
  TurnStatus,
} from "@bobbin/protocol/types";
import { ASIDE_REVIEW, DENIAL } from "./approval-reviews/record-field-schemas.ts";
import { CHILD, HELPERS } from "./children/record-field-schemas.ts";
import { GOAL_STATE } from "./goal/record-field-schemas.ts";
import { LAST_HOOKS } from "./hooks/record-field-schemas.ts";
import { PROJECT_DOC, THREAD_FACTS, THREAD_SETTINGS } from "./life/record-field-schemas.ts";
import { count, time } from "./number-schemas.ts";
import { RAP_STATE } from "./rap/record-field-schemas.ts";
import { READ_STATE } from "./read-state/record-field-schemas.ts";
import { DUE_NETWORK_RULE, PENDING_REQUEST } from "./requests/record-field-schemas.ts";
import { TERMINAL_STATE } from "./terminals/record-field-schemas.ts";
import {
  CALL_STAGE,
  CONTEXT_ENTRY,
  compacting,
  TOOL_CALL,
  TURN_CHANGES,
  TURN_KIND,
} from "./turn/record-field-schemas.ts";
import { TURN_SETTINGS } from "./turn/turn-settings.ts";

const TURN_STATE = inline(() => ({
  id: string(),
  startedAt: time(),
  outputSchema: unknown(),
  kind: TURN_KIND,
  attempt: count(),
  unheard: boolean(),
  sampled: boolean(),
  retries: count(),
  retryAt: nullable(time()),
  shown: boolean(),
  lostHosts: count(),
  injected: boolean(),
  answers: count(),
  compacting: nullable(inline(compacting)),
  compacted: enumeration("", ["no", "done", "failed"]),
  plans: count(),
  calls: array(inline(() => ({ call: TOOL_CALL, stage: CALL_STAGE }))),
  servedBy: nullable(string()),
  answer: nullable(ThreadItem),
  open: array(ThreadItem),
  saved: record(string()),
  strictReview: omittable(boolean()),
  reviews: omittable(array(boolean())),
  settings: omittable(TURN_SETTINGS),
  stepSettings: omittable(TURN_SETTINGS),
  changes: omittable(TURN_CHANGES),
  rootTurnId: omittable(string()),
  lastHooks: omittable(LAST_HOOKS),
  stopBlocks: omittable(count()),
}));

/**
 * The thread state in a checkpoint. A new field must be `omittable` here and get its value in `foldCheckpoint`,
 * because checkpoints of earlier versions lack the field.
 */
export const THREAD_STATE = inline(() => ({
  facts: THREAD_FACTS,
  settings: THREAD_SETTINGS,
  load: LoadSettings,
  docs: array(PROJECT_DOC),
  pendingLoad: nullable(LoadSettings),
  epoch: integer("uint32", { minimum: 1 }),
  loadEpoch: integer("uint32", { minimum: 1 }),
  createdAt: time(),
  updatedAt: time(),
  lastAt: omittable(time()),
  preview: string(),
  hasUserMessage: boolean(),
  name: nullable(string()),
  gitInfo: nullable(GitInfo),
  section: nullable(inline(() => ({ id: string(), position: nullable(number()), since: time() }))),
  readState: omittable(READ_STATE),
  status: ThreadStatus,
  untold: boolean(),
  toldAt: nullable(time()),
  usage: nullable(ThreadTokenUsage),
  contextTokens: integer(),
  accepted: array(inline(() => ({ id: string(), turnId: string() }))),
  context: array(CONTEXT_ENTRY),
  queue: inline(() => ({ items: array(QueuedSubmission), paused: boolean() })),
  rap: RAP_STATE,
  goal: nullable(GOAL_STATE),
  turn: nullable(TURN_STATE),
  terminals: omittable(array(TERMINAL_STATE)),
  children: omittable(array(CHILD)),
  helpers: omittable(HELPERS),
  requests: array(PENDING_REQUEST),
  networkRules: omittable(array(DUE_NETWORK_RULE)),
  grants: array(string()),
  grantTimes: omittable(record(time())),
  asideReviews: omittable(array(ASIDE_REVIEW)),
  denials: omittable(array(DENIAL)),
  callIds: array(string()),
  callCount: count(),
  undiffed: omittable(inline(() => ({ turnId: string(), changes: TURN_CHANGES }))),
  startHooks: omittable(inline(() => ({ epoch: count() }))),
  lastTurn: nullable(inline(() => ({ id: string(), status: TurnStatus }))),
  mayHaveDropped: omittable(boolean()),
}));
