// Hosts that share one store, and threads of theirs, for the contract of the store.
import assert from "node:assert/strict";
import { fold } from "../../packages/host/src/core/fold.ts";
import type { Commit, ThreadRecord } from "../../packages/host/src/core/records.ts";
import type { ThreadState } from "../../packages/host/src/core/state.ts";
import type { Placed, ThreadJournal } from "../../packages/host/src/store/journal.ts";
import type { Store } from "../../packages/host/src/store/store.ts";
import { newThread } from "../support/test-thread.ts";

/** Some hosts that share one store. */
export interface Hosts {
  /** Another host. */
  start(): Promise<Store>;
  /** Ends a host that gives nothing back. */
  kill(host: Store): Promise<void>;
  /** Ends hosts by a power cut, which removes what was not made durable. Only on simulated disks. */
  powerCut?(...hosts: readonly Store[]): void;
  /** Waits. Only where time is simulated. */
  pause?(ms: number): Promise<void>;
  /** Gives the claim on a thread to another host, as if the one that has it were taken for dead. */
  takeOver(threadId: string, from: Store): Promise<void>;
  /** An id for a thread. */
  newId(): string;
  /** Whether other hosts see a thread that was started and not used. */
  readonly seesUnused: boolean;
  /** Whether threads have paths. */
  readonly hasPaths: boolean;
  /** The content of a file, where there are some. */
  readFile?(path: string): Promise<string | undefined>;
}

export interface Thread {
  readonly id: string;
  readonly journal: ThreadJournal;
  state: ThreadState;
  seq: number;
}

/** The host that `takeOver` gives a thread to. */
export const THIEF = "00000000-0000-7000-8000-00000000fade";

/** What that host writes to a thread with two commits. */
export function theirCommit(): string {
  const records = [{ type: "renamed", at: 3, name: "theirs" }];
  return `${JSON.stringify({ seq: 3, epoch: 1, prev: 2, records })}\n`;
}

/** A thread that was started. */
export async function start(hosts: Hosts, host: Store): Promise<Thread> {
  const id = hosts.newId();
  const { facts, settings, load, docs } = newThread();
  const created: ThreadRecord = { type: "created", at: 1, facts: { ...facts, id }, settings, load, docs };
  const journal = await host.journal.create(id);
  const state = fold(undefined, created);
  const outcome = await journal.append({ seq: 1, epoch: 1, prev: 0, records: [created] }, "written", state);
  assert.equal(outcome.kind, "committed");
  return { id, journal, state, seq: 1 };
}

/** The thread's next commit, which gives it a name. */
export function rename(thread: Thread, name: string): Commit {
  const record: ThreadRecord = { type: "renamed", at: thread.seq + 1, name };
  thread.state = fold(thread.state, record);
  thread.seq++;
  return { seq: thread.seq, epoch: 1, prev: thread.seq - 1, records: [record] };
}

export async function renameNow(thread: Thread, name: string): Promise<void> {
  const outcome = await thread.journal.append(rename(thread, name), "synced", thread.state);
  assert.equal(outcome.kind, "committed");
}

export async function started(hosts: Hosts, host: Store, ...names: string[]): Promise<Thread> {
  const thread = await start(hosts, host);
  for (const name of names) await renameNow(thread, name);
  return thread;
}

export async function seqs(placed: AsyncIterable<Placed>): Promise<number[]> {
  const found: number[] = [];
  for await (const { commit } of placed) found.push(commit.seq);
  return found;
}
