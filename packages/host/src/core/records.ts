import { CHILD_RECORDS } from "./children/entries.ts";
import type { ChildRecord } from "./children/records.ts";
import { GOAL_RECORDS } from "./goal/entries.ts";
import type { GoalRecord } from "./goal/records.ts";
import { LIFE_RECORDS } from "./life/entries.ts";
import type { LifeRecord } from "./life/records.ts";
import { QUEUE_RECORDS } from "./queue/entries.ts";
import type { QueueRecord } from "./queue/records.ts";
import { RAP_RECORDS } from "./rap/entries.ts";
import type { RapRecord } from "./rap/records.ts";
import type { RecordEntries, RecordEntry } from "./record-entry.ts";
import { REQUEST_RECORDS } from "./requests/entries.ts";
import type { RequestRecord } from "./requests/records.ts";
import { REVIEW_RECORDS } from "./reviews/entries.ts";
import type { ReviewRecord } from "./reviews/records.ts";
import { TERMINAL_RECORDS } from "./terminals/entries.ts";
import type { TerminalRecord } from "./terminals/records.ts";
import { TURN_RECORDS } from "./turn/entries.ts";
import type { TurnRecord } from "./turn/records.ts";

/** One durable fact about a thread. What a journal can hold is this union, and nothing else. */
export type ThreadRecord =
  | LifeRecord
  | RequestRecord
  | ReviewRecord
  | TurnRecord
  | QueueRecord
  | GoalRecord
  | TerminalRecord
  | ChildRecord
  | RapRecord;

/** The manifest: every record type that was ever written, and all that the host knows about it. */
export const RECORDS: RecordEntries<ThreadRecord> = {
  ...LIFE_RECORDS,
  ...REQUEST_RECORDS,
  ...REVIEW_RECORDS,
  ...TURN_RECORDS,
  ...QUEUE_RECORDS,
  ...GOAL_RECORDS,
  ...TERMINAL_RECORDS,
  ...CHILD_RECORDS,
  ...RAP_RECORDS,
};

/** The entry of a record's type. */
export function entryOf<R extends ThreadRecord>(record: R): RecordEntry<R> {
  return RECORDS[record.type] as unknown as RecordEntry<R>;
}

/** A head can be folded from this record on. */
export function startsState({ type }: ThreadRecord): boolean {
  return type === "created" || type === "checkpoint";
}

/** What one append writes. `prev` is the seq that it was decided upon: a writer that lost its place shows. */
export interface Commit {
  readonly seq: number;
  readonly epoch: number;
  readonly prev: number;
  readonly records: readonly ThreadRecord[];
}
