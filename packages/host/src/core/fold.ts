import { definitionOf, startsState, type ThreadRecord } from "./records.ts";
import type { ThreadState } from "./state.ts";

/** The state after one more record. The first record is `created` or a checkpoint. */
export function fold(state: ThreadState | undefined, record: ThreadRecord): ThreadState {
  if (state === undefined && !startsState(record))
    throw new Error(`a journal starts with created, not ${record.type}`);
  const after = definitionOf(record).fold(state!, record);
  return !("at" in record) || record.at === after.lastAt ? after : { ...after, lastAt: record.at };
}
