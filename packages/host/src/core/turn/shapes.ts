import {
  array,
  boolean,
  enumeration,
  inline,
  integer,
  nullable,
  omittable,
  record,
  type Schema,
  string,
  tagged,
  unknown,
} from "@bobbin/protocol/schema";
import { AdditionalContextKind, TurnError, UserInput } from "@bobbin/protocol/types";
import { REQUEST_ANSWER, REQUEST_METHOD } from "../requests/shapes.ts";
import { runningReview } from "../reviews/shapes.ts";
import { count, time } from "../shapes.ts";
import type { TextPart } from "./texts.ts";

/** Another text names no text of an item, and does no harm. */
export const TEXT_PART = string() as Schema<TextPart>;

export const BLOBS = record(string());

export const WORKING_TREE = inline(() => ({ top: string(), tree: string() }));

export const FILES_BEFORE = inline(() => ({
  pack: nullable(string()),
  files: array(inline(() => ({ path: string(), mode: count(), from: count(), length: nullable(count()) }))),
  trees: array(WORKING_TREE),
  missing: omittable(string()),
}));

export const TURN_CHANGES = inline(() => ({
  before: array(FILES_BEFORE),
  ended: count(),
  shown: count(),
  digest: nullable(string()),
  sent: count(),
}));

export const CARRY = inline(() => ({ provider: string(), data: unknown() }));

export const CONTEXT_ENTRY = inline(() => ({
  key: string(),
  kind: AdditionalContextKind,
  value: string(),
}));

export const TURN_KIND = enumeration("", ["regular", "compact", "review"]);

/** How a turn ended. */
export const outcome = () => ({
  status: enumeration("", ["completed", "interrupted", "failed"]),
  error: nullable(TurnError),
});

export const compacting = () => ({
  covers: enumeration("", ["past", "all"]),
  lighter: count(),
  because: nullable(TurnError),
});

/** What a compaction leaves as it was. */
export const KEPT = tagged("", "kind", () => ({
  user: {
    turnId: string(),
    content: array(UserInput),
    clientId: nullable(string()),
    blobs: omittable(BLOBS),
  },
  injected: { item: unknown() },
  goal: { turnId: string(), text: string() },
  context: { turnId: string(), entries: array(CONTEXT_ENTRY) },
}));

export const TOOL_CALL = inline(() => ({
  callId: string(),
  name: string(),
  namespace: nullable(string()),
  arguments: string(),
  kind: enumeration("", ["function", "custom"]),
}));

export const CALL_STAGE = tagged("", "kind", () => ({
  proposed: {},
  asking: { requestId: integer() },
  reviewing: runningReview(),
  heard: { method: REQUEST_METHOD, question: omittable(string()), answer: REQUEST_ANSWER },
  dispatched: {
    again: boolean(),
    via: omittable(string()),
    at: omittable(time()),
    until: omittable(time()),
    plan: omittable(unknown()),
  },
  waiting: {
    until: nullable(time()),
    via: omittable(string()),
    unacknowledged: omittable(boolean()),
  },
  settled: {},
}));
