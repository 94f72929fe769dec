import { fold } from "../core/fold.ts";
import { type Commit, startsState } from "../core/records.ts";
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
    if (isStart(commit)) break;
  }
  return headOf(newestFirst.toReversed());
}

/** A head can be folded from here on. */
export function isStart({ records }: Commit): boolean {
  return records.some(startsState);
}

/** The head that commits make, the first of which is a start. */
export function headOf(commits: readonly Commit[]): Head | undefined {
  let state: ThreadState | undefined;
  for (const { records } of commits) {
    for (const record of records) {
      if (state !== undefined || startsState(record)) state = fold(state, record);
    }
  }
  return state && { state, seq: commits.at(-1)!.seq };
}
