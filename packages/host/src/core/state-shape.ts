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
import { CHILD } from "./children/shapes.ts";
import { GOAL_STATE } from "./goal/shapes.ts";
import { PROJECT_DOC, THREAD_FACTS, THREAD_SETTINGS } from "./life/shapes.ts";
import { RAP_STATE } from "./rap/shapes.ts";
import { DUE_NETWORK_RULE, PENDING_REQUEST } from "./requests/shapes.ts";
import { ASIDE_REVIEW, DENIAL } from "./reviews/shapes.ts";
import { count, time } from "./shapes.ts";
import { TERMINAL_STATE } from "./terminals/shapes.ts";
import { CALL_STAGE, CONTEXT_ENTRY, compacting, TOOL_CALL, TURN_CHANGES, TURN_KIND } from "./turn/shapes.ts";

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
  changes: omittable(TURN_CHANGES),
}));

/**
 * The head state of a checkpoint. A field that is added to it has to be `omittable` here, and to get its value in
 * `foldCheckpoint`: checkpoints of earlier versions lack it.
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
  requests: array(PENDING_REQUEST),
  networkRules: omittable(array(DUE_NETWORK_RULE)),
  grants: array(string()),
  grantTimes: omittable(record(time())),
  asideReviews: omittable(array(ASIDE_REVIEW)),
  denials: omittable(array(DENIAL)),
  callIds: array(string()),
  callCount: count(),
  undiffed: omittable(inline(() => ({ turnId: string(), changes: TURN_CHANGES }))),
  lastTurn: nullable(inline(() => ({ id: string(), status: TurnStatus }))),
  mayHaveDropped: omittable(boolean()),
}));
