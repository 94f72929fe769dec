import { fold } from "../core/fold.ts";
import { type Commit, startsState } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { fault } from "../errors.ts";
import type { JournalReader } from "./journal.ts";

/** A thread's head: the state, and the last commit that it is made of. */
export interface Head {
  readonly state: ThreadState;
  readonly seq: number;
}

/**
 * Reads back to the last checkpoint that is not damaged and folds from there; undefined if the journal holds no thread.
 * Throws `journalDamaged` if nothing is left that a thread can start from.
 */
export async function recall(reader: JournalReader): Promise<Head | undefined> {
  const newestFirst: Commit[] = [];
  for await (const { commit } of reader.backwards()) {
    // What stands before a commit is older: what is not, someone has put there again.
    while (newestFirst.length > 0 && newestFirst.at(-1)!.seq <= commit.seq) newestFirst.pop();
    newestFirst.push(commit);
    if (isStart(commit)) break;
  }
  return wholeHead(reader, newestFirst.toReversed());
}

/** The head that commits make, the first of which is a start; undefined if there are none because there is no thread. */
export async function wholeHead(
  reader: JournalReader,
  commits: readonly Commit[],
): Promise<Head | undefined> {
  const head = headOf(commits);
  if (head === undefined && !(await reader.isEmpty())) throw fault("journalDamaged", NO_START);
  return head;
}

const NO_START = "none of the records that a thread can start from is left whole; the host's log says where";

/** A head can be folded from here on. */
export function isStart({ records }: Commit): boolean {
  return records.some(startsState);
}

function headOf(commits: readonly Commit[]): Head | undefined {
  let state: ThreadState | undefined;
  for (const { records } of commits) {
    for (const record of records) {
      if (state !== undefined || startsState(record)) state = fold(state, record);
    }
  }
  return state && { state, seq: commits.at(-1)!.seq };
}
