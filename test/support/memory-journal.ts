// For unit tests of the store: the journals of one host on a machine in memory, with everything that it reports.
import { fold } from "../../packages/host/src/core/fold.ts";
import type { Commit, ThreadRecord } from "../../packages/host/src/core/records.ts";
import type { ThreadState } from "../../packages/host/src/core/state.ts";
import type { Log } from "../../packages/host/src/observe/log.ts";
import { type FileJournal, fileJournal } from "../../packages/host/src/store/files/file-journal.ts";
import type { FileThreadJournal } from "../../packages/host/src/store/files/file-thread-journal.ts";
import type { Placed } from "../../packages/host/src/store/journal.ts";
import type { ThreadRow } from "../../packages/host/src/store/thread-index.ts";
import { MemoryMachine } from "./memory-machine.ts";
import { firstCommit, renaming } from "./test-thread.ts";

export class MemoryJournal {
  readonly machine: MemoryMachine;
  readonly host: FileJournal;
  /** The calls of the index, for example `record 2` for a row with the number 2. */
  readonly indexed: string[] = [];
  readonly rows: ThreadRow[] = [];
  readonly warnings: { readonly message: string; readonly [field: string]: unknown }[] = [];
  readonly lost: string[] = [];

  constructor(machine = new MemoryMachine()) {
    this.machine = machine;
    const log: Log = {
      debug() {},
      info() {},
      warn: (message, fields) => void this.warnings.push({ message, ...fields }),
      error() {},
    };
    const index = {
      record: (row: ThreadRow) => {
        this.indexed.push(`record ${row.seq}`);
        this.rows.push(row);
      },
      forget: async (threadId: string) => void this.indexed.push(`forget ${threadId}`),
      flush: async () => void this.indexed.push("flush"),
    };
    this.host = fileJournal(machine.home, machine.platform(), log, () => index);
    this.host.onLost((threadId) => void this.lost.push(threadId));
  }

  /** A thread that was started, and has its first commits. */
  async started(threadId: string, commits = 1): Promise<FileThreadJournal> {
    const journal = (await this.host.create(threadId)) as FileThreadJournal;
    const rest = Array.from({ length: commits - 1 }, (_, nth) => renaming(nth + 2));
    await journal.append([firstCommit(threadId), ...rest]);
    return journal;
  }

  /** Opens a stored thread, which must not be held. */
  async opened(threadId: string): Promise<FileThreadJournal> {
    const taken = await this.host.open(threadId);
    if (taken?.kind !== "mine") throw new Error(`${threadId} cannot be opened`);
    return taken.journal as FileThreadJournal;
  }
}

/** The state after commits, of which the first creates the thread. */
export function stateAfter(commits: readonly Commit[]): ThreadState {
  const records = commits.flatMap((commit): readonly ThreadRecord[] => commit.records);
  return records.reduce<ThreadState | undefined>((state, record) => fold(state, record), undefined)!;
}

/** The sequence numbers of commits that are read. */
export async function seqsOf(commits: AsyncIterable<Placed>): Promise<number[]> {
  const found: number[] = [];
  for await (const { commit } of commits) found.push(commit.seq);
  return found;
}
