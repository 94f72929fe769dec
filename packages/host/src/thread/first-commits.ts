import { fold } from "../core/fold.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { blobsOf } from "../core/turn/blobs.ts";
import { weightOf } from "../core/weight.ts";
import { append, type JournalReader, type ThreadJournal } from "../journal/journal.ts";
import type { Head } from "../journal/recall.ts";
import { saved } from "../journal/saved.ts";

/** What is written in one go: a history of thousands of turns would be as many trips to the disk. */
const BATCH_COMMITS = 64;
const BATCH_WEIGHT = 256 * 1024;

export interface FirstCommitsPorts {
  readonly journal: ThreadJournal;
  /** Whose history it is: what that keeps beside it is taken over. */
  readonly origin: JournalReader | undefined;
  /** Every commit is synced. */
  readonly synced: boolean;
  committed(commit: Commit, state: ThreadState): void;
}

/** Writes the commits that a new thread starts with, some at once. */
export class FirstCommits {
  readonly #ports: FirstCommitsPorts;
  #head: Head | undefined;
  #waiting: { readonly commit: Commit; readonly state: ThreadState }[] = [];
  #weight = 0;

  constructor(ports: FirstCommitsPorts) {
    this.#ports = ports;
  }

  /** What the commits so far make, written or not. */
  get head(): Head {
    return this.#head!;
  }

  /** The first of all is written at once: whatever else is to come, the thread is there from here on. */
  async begin(records: readonly ThreadRecord[]): Promise<void> {
    this.#add(records);
    await this.write();
  }

  async add(records: readonly ThreadRecord[]): Promise<void> {
    const { journal, origin } = this.#ports;
    // First: a message whose pictures are missing would be another one.
    for (const name of new Set(records.flatMap(blobsOf))) {
      const bytes = await origin?.blob(name);
      if (bytes !== undefined) await journal.keep(name, bytes);
    }
    this.#add(records);
    this.#weight += weightOf(records);
    if (this.#waiting.length >= BATCH_COMMITS || this.#weight >= BATCH_WEIGHT) await this.write();
  }

  #add(records: readonly ThreadRecord[]): void {
    const prev = this.#head?.seq ?? 0;
    let state = this.#head?.state;
    for (const record of records) state = fold(state, record);
    this.#head = { state: state!, seq: prev + 1 };
    this.#waiting.push({ commit: { seq: prev + 1, epoch: 1, prev, records }, state: state! });
  }

  /** Writes what waits. */
  async write(): Promise<void> {
    const { journal, synced, committed } = this.#ports;
    const batch = this.#waiting;
    this.#waiting = [];
    this.#weight = 0;
    if (batch.length === 0) return;
    await append(journal, ...batch.map(({ commit }) => commit));
    if (synced) await saved(() => journal.sync());
    for (const { commit, state } of batch) committed(commit, state);
  }
}
