import { fold } from "../core/fold.ts";
import { type Commit, startsState } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { fault } from "../errors.ts";
import type { JournalReader } from "./journal.ts";

/** The head of a thread: its state, and the number of its last commit. */
export interface Head {
  readonly state: ThreadState;
  readonly seq: number;
}

/**
 * Reads a journal back to the last undamaged checkpoint, and folds the state from there; undefined if the journal is
 * empty. Throws `journalDamaged` if there is neither a checkpoint nor the first record.
 */
export async function readHead(reader: JournalReader): Promise<Head | undefined> {
  const newestFirst: Commit[] = [];
  for await (const { commit } of reader.backwards()) {
    // Read backwards, the sequence numbers must decrease. Commits that break the order are repetitions, and are
    // dropped.
    while (newestFirst.length > 0 && newestFirst.at(-1)!.seq <= commit.seq) newestFirst.pop();
    newestFirst.push(commit);
    if (isStart(commit)) break;
  }
  return wholeHead(reader, newestFirst.toReversed());
}

/** Folds commits to a head. The first commit must start a state. Undefined if the journal is empty. */
export async function wholeHead(
  reader: JournalReader,
  commits: readonly Commit[],
): Promise<Head | undefined> {
  const head = headOf(commits);
  if (head === undefined && !(await reader.isEmpty())) throw fault("journalDamaged", NO_START);
  return head;
}

const NO_START =
  "it has no readable checkpoint and no readable first record; the host's log has the positions";

/** Whether the state can be folded starting with this commit. */
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
