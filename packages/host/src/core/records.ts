import { REVIEW_RECORDS } from "./approval-reviews/record-definitions.ts";
import type { ReviewRecord } from "./approval-reviews/records.ts";
import { CHILD_RECORDS } from "./children/record-definitions.ts";
import type { ChildRecord } from "./children/records.ts";
import { GOAL_RECORDS } from "./goal/record-definitions.ts";
import type { GoalRecord } from "./goal/records.ts";
import { HOOK_RECORDS } from "./hooks/record-definitions.ts";
import type { HookRecord } from "./hooks/records.ts";
import { LIFE_RECORDS } from "./life/record-definitions.ts";
import type { LifeRecord } from "./life/records.ts";
import { QUEUE_RECORDS } from "./queue/record-definitions.ts";
import type { QueueRecord } from "./queue/records.ts";
import { RAP_RECORDS } from "./rap/record-definitions.ts";
import type { RapRecord } from "./rap/records.ts";
import { READ_STATE_RECORDS } from "./read-state/record-definitions.ts";
import type { ReadStateRecord } from "./read-state/records.ts";
import type { RecordDefinition, RecordTable } from "./record-table.ts";
import { REQUEST_RECORDS } from "./requests/record-definitions.ts";
import type { RequestRecord } from "./requests/records.ts";
import { TERMINAL_RECORDS } from "./terminals/record-definitions.ts";
import type { TerminalRecord } from "./terminals/records.ts";
import { TURN_RECORDS } from "./turn/record-definitions.ts";
import type { TurnRecord } from "./turn/records.ts";

/** One durable fact about a thread. A journal contains nothing else. */
export type ThreadRecord =
  | LifeRecord
  | ReadStateRecord
  | RequestRecord
  | ReviewRecord
  | HookRecord
  | TurnRecord
  | QueueRecord
  | GoalRecord
  | TerminalRecord
  | ChildRecord
  | RapRecord;

/** The definitions of all record types that were ever written. */
export const RECORDS: RecordTable<ThreadRecord> = {
  ...LIFE_RECORDS,
  ...READ_STATE_RECORDS,
  ...REQUEST_RECORDS,
  ...REVIEW_RECORDS,
  ...HOOK_RECORDS,
  ...TURN_RECORDS,
  ...QUEUE_RECORDS,
  ...GOAL_RECORDS,
  ...TERMINAL_RECORDS,
  ...CHILD_RECORDS,
  ...RAP_RECORDS,
};

/** The definition of a record's type. */
export function definitionOf<R extends ThreadRecord>(record: R): RecordDefinition<R> {
  return RECORDS[record.type] as unknown as RecordDefinition<R>;
}

/** Whether the state can be folded starting with this record. */
export function startsState({ type }: ThreadRecord): boolean {
  return type === "created" || type === "checkpoint";
}

/**
 * What one append writes: one or more records. `prev`: the number of the commit before it. If the journal ends with
 * another commit, the writer has lost the thread, and the append is refused.
 */
export interface Commit {
  readonly seq: number;
  readonly epoch: number;
  readonly prev: number;
  readonly records: readonly ThreadRecord[];
}
