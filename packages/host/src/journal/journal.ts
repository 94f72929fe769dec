import type { Commit } from "../core/records.ts";

/** Where threads are kept. Files, memory and whatever comes later pass the same tests. */
export interface Journal {
  /** Makes an empty journal for a new thread and takes it for writing. */
  create(threadId: string): Promise<ThreadJournal>;
}

/** One thread's journal, held by its only writer. */
export interface ThreadJournal {
  /**
   * Writes one commit behind `commit.prev`. `committed`: it survives a kill of this process. `conflict`: someone
   * else has written there, nothing was. `unknown`: it may or may not be there; read the tail again first.
   */
  append(commit: Commit): Promise<AppendOutcome>;
  /** Makes everything that was committed survive a power cut. A failure is thrown, never swallowed. */
  sync(): Promise<void>;
  /** Commits after `seq`, oldest first, as they are at the time of reading. */
  read(afterSeq: number): AsyncIterable<Commit>;
  close(): Promise<void>;
}

export type AppendOutcome =
  | { readonly kind: "committed" }
  | { readonly kind: "conflict"; readonly head: number }
  | { readonly kind: "unknown"; readonly cause: unknown };
