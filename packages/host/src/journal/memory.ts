import type { Commit } from "../core/records.ts";
import type { AppendOutcome, Journal, ThreadJournal } from "./journal.ts";

/** For ephemeral threads and tests: nothing outlives the process, all else is as with files. */
export function memoryJournal(): Journal {
  return { create: async () => new MemoryThreadJournal() };
}

class MemoryThreadJournal implements ThreadJournal {
  readonly #commits: Commit[] = [];

  async append(commit: Commit): Promise<AppendOutcome> {
    const head = this.#commits.at(-1)?.seq ?? 0;
    if (commit.prev !== head) return { kind: "conflict", head };
    this.#commits.push(commit);
    return { kind: "committed" };
  }

  async sync(): Promise<void> {}

  async *read(afterSeq: number): AsyncIterable<Commit> {
    // Seqs count up by one from 1, so the place of a commit is known without looking.
    for (let at = afterSeq; at < this.#commits.length; at++) yield this.#commits[at]!;
  }

  async close(): Promise<void> {}
}
