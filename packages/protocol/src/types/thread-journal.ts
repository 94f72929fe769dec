import {
  array,
  boolean,
  enumeration,
  integer,
  nullable,
  object,
  optional,
  type Static,
  string,
} from "../schema-language.ts";
import { SortDirection } from "./thread-list.ts";
import { TokenUsageBreakdown } from "./thread-usage.ts";
import { TurnStatus } from "./turn.ts";

export const ThreadJournalReadParams = object("ThreadJournalReadParams", () => ({
  cursor: optional(string()),
  /** Adds the JSON of records and of the messages that they caused. Without it, records have only a preview. */
  includeJson: optional(boolean()),
  limit: optional(integer("uint32")),
  /** A text that the record's JSON contains, regardless of case. */
  searchTerm: optional(string()),
  /** `desc` (newest first) by default. */
  sortDirection: optional(SortDirection),
  threadId: string(),
  turnId: optional(string()),
  types: optional(array(string())),
}));
export type ThreadJournalReadParams = Static<typeof ThreadJournalReadParams>;

export const JournalMessageKind = enumeration("JournalMessageKind", [
  "notification",
  "request",
  "toolServerNotice",
]);
export type JournalMessageKind = Static<typeof JournalMessageKind>;

/** A message that a record causes: to clients, or to tool servers. */
export const JournalMessage = object("JournalMessage", () => ({
  kind: JournalMessageKind,
  method: string(),
  /** `everyone`, `subscribers`, or the names of tool servers. */
  to: array(string()),
  json: nullable(string()),
  /** Whether `json` is cut after its beginning. */
  isCut: boolean(),
}));
export type JournalMessage = Static<typeof JournalMessage>;

export const JournalEntry = object("JournalEntry", () => ({
  /** The time of the record, or of the last record before it that has one. */
  atMs: nullable(integer()),
  bytes: integer(),
  /** A cursor that includes this record. */
  cursor: string(),
  epoch: integer(),
  /** The index of the record in its commit. */
  index: integer(),
  isCut: boolean(),
  json: nullable(string()),
  /** The beginning of the JSON of the record's fields. */
  preview: string(),
  sent: array(JournalMessage),
  seq: integer(),
  turnId: nullable(string()),
  type: string(),
}));
export type JournalEntry = Static<typeof JournalEntry>;

export const ThreadJournalReadResponse = object("ThreadJournalReadResponse", () => ({
  data: array(JournalEntry),
  /** A cursor from which reading `asc` returns later records. Null if no record was read. */
  newestCursor: nullable(string()),
  /** Null at the end. A page with a `nextCursor` may be empty: filters are applied to a part of the journal at a time. */
  nextCursor: nullable(string()),
}));
export type ThreadJournalReadResponse = Static<typeof ThreadJournalReadResponse>;

export const TurnTimelineReadParams = object("TurnTimelineReadParams", () => ({
  threadId: string(),
  turnId: string(),
}));
export type TurnTimelineReadParams = Static<typeof TurnTimelineReadParams>;

export const TimelineSpanKind = enumeration("TimelineSpanKind", [
  "model",
  "message",
  "tool",
  "wait",
  "question",
  "hook",
]);
export type TimelineSpanKind = Static<typeof TimelineSpanKind>;

/** One part of a turn that took time, such as a model call or a tool call. */
export const TimelineSpan = object("TimelineSpan", () => ({
  /** In millionths of a dollar; null without tokens, and for a model without a configured price. */
  costUsdMicros: nullable(integer()),
  endedAtMs: nullable(integer()),
  id: string(),
  kind: TimelineSpanKind,
  label: string(),
  model: nullable(string()),
  /** Why it failed. */
  problem: nullable(string()),
  startedAtMs: integer(),
  status: TurnStatus,
  usage: nullable(TokenUsageBreakdown),
}));
export type TimelineSpan = Static<typeof TimelineSpan>;

export const TurnTimelineReadResponse = object("TurnTimelineReadResponse", () => ({
  completedAtMs: nullable(integer()),
  /** The sum of known costs, in millionths of a dollar; null if none is known. */
  costUsdMicros: nullable(integer()),
  /** The number of spans that are left out of a very long turn. */
  omittedSpans: integer(),
  /** In the order of their start. */
  spans: array(TimelineSpan),
  startedAtMs: integer(),
  status: TurnStatus,
  turnId: string(),
  /** Models of the turn that have no configured price. */
  unpricedModels: array(string()),
  usage: TokenUsageBreakdown,
}));
export type TurnTimelineReadResponse = Static<typeof TurnTimelineReadResponse>;
