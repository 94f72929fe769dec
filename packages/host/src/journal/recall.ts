import { fold } from "../core/fold.ts";
import type { Commit } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { JournalReader } from "./journal.ts";

/** A thread's head: the state, and the last commit that it is made of. */
export interface Head {
  readonly state: ThreadState;
  readonly seq: number;
}

/** Reads back to the last checkpoint and folds from there; undefined if the journal holds no thread. */
export async function recall(reader: JournalReader): Promise<Head | undefined> {
  const newestFirst: Commit[] = [];
  for await (const { commit } of reader.backwards()) {
    newestFirst.push(commit);
    if (commit.records.some((record) => record.type === "checkpoint" || record.type === "created")) break;
  }
  let state: ThreadState | undefined;
  for (const commit of newestFirst.toReversed()) {
    for (const record of commit.records) {
      const isStart = record.type === "checkpoint" || record.type === "created";
      if (state !== undefined || isStart) state = fold(state, record);
    }
  }
  return state && { state, seq: newestFirst[0]!.seq };
}
