import {
  array,
  boolean,
  enumeration,
  inline,
  integer,
  nullable,
  omittable,
  type Schema,
  string,
  tagged,
  unknown,
} from "@bobbin/protocol/schema";
import { AdditionalContextKind, TurnError, UserInput } from "@bobbin/protocol/types";
import { runningReview } from "../approval-reviews/record-field-schemas.ts";
import { BLOBS } from "../blobs-schema.ts";
import { AWAITED } from "../children/record-field-schemas.ts";
import { count, time } from "../number-schemas.ts";
import { REQUEST_ANSWER, REQUEST_METHOD } from "../requests/record-field-schemas.ts";
import type { TextPart } from "./item-texts.ts";

/** Any string is accepted: a text of an unknown part is never looked up, and does no harm. */
export const TEXT_PART = string() as Schema<TextPart>;

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

/** The outcome of a turn. */
export const outcome = () => ({
  status: enumeration("", ["completed", "interrupted", "failed"]),
  error: nullable(TurnError),
});

export const compacting = () => ({
  covers: enumeration("", ["past", "all"]),
  lighter: count(),
  because: nullable(TurnError),
});

/** See `Retained` in records.ts. */
export const RETAINED = tagged("", "kind", () => ({
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
  proposed: { hooked: omittable(boolean()), undecided: omittable(boolean()) },
  asking: { requestId: integer() },
  reviewing: runningReview(),
  heard: {
    method: REQUEST_METHOD,
    question: omittable(string()),
    answer: REQUEST_ANSWER,
    undecided: omittable(boolean()),
  },
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
    awaits: omittable(AWAITED),
  },
  settled: {},
}));
