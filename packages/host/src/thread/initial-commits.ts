import { fold } from "../core/fold.ts";
import { weightOf } from "../core/memory-size.ts";
import type { Durability } from "../core/record-table.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { blobsOf } from "../core/turn/blobs.ts";
import type { Timers } from "../platform/platform.ts";
import { append } from "../store/append.ts";
import type { JournalReader, ThreadJournal } from "../store/journal.ts";
import type { Head } from "../store/thread-head.ts";

/** Limits on the commits of one write. A write per commit would be slow for a long history. */
const BATCH_COMMITS = 64;
const BATCH_WEIGHT = 256 * 1024;

export interface InitialCommitsPorts {
  readonly journal: ThreadJournal;
  /** The thread that the history is copied from. Its blobs are copied, too. */
  readonly origin: JournalReader | undefined;
  readonly timers: Timers;
  readonly durability: Durability;
}

/** Writes the commits that a new thread starts with, in batches. */
export class InitialCommits {
  readonly #ports: InitialCommitsPorts;
  #head: Head | undefined;
  #waiting: { readonly commit: Commit; readonly state: ThreadState }[] = [];
  #weight = 0;

  constructor(ports: InitialCommitsPorts) {
    this.#ports = ports;
  }

  /** The state after all commits so far, written or not. */
  get head(): Head {
    return this.#head!;
  }

  /** Writes the first commit at once. With it the thread exists. */
  async begin(records: readonly ThreadRecord[]): Promise<void> {
    this.#add(records);
    await this.write();
  }

  async add(records: readonly ThreadRecord[]): Promise<void> {
    const { journal, origin } = this.#ports;
    // Blobs are copied first, because a record must not refer to a missing blob.
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

  /** Writes the pending commits. */
  async write(): Promise<void> {
    const { journal, durability, timers } = this.#ports;
    const batch = this.#waiting;
    this.#waiting = [];
    this.#weight = 0;
    if (batch.length === 0) return;
    const commits = batch.map(({ commit }) => commit);
    await append(journal, commits, durability, batch.at(-1)!.state, timers);
  }
}
