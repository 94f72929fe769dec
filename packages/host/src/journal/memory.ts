import type { Place } from "../core/life/views.ts";
import type { Commit } from "../core/records.ts";
import type { AppendOutcome, Placed, ThreadJournal } from "./journal.ts";

const NOWHERE: Place = { path: null, archived: false };

/** What an ephemeral thread may keep beside its journal. */
const MAX_BLOB_BYTES = 16 * 1024 * 1024;

/** For ephemeral threads: nothing outlives the load, all else is as with files. A place is an index. */
export class MemoryJournal implements ThreadJournal {
  readonly place = NOWHERE;
  readonly undone = false;
  readonly folder = undefined;
  readonly #commits: Commit[] = [];
  readonly #blobs = new Map<string, Uint8Array>();

  async append(...commits: Commit[]): Promise<AppendOutcome> {
    if (commits[0]?.prev !== (this.#commits.at(-1)?.seq ?? 0)) return { kind: "conflict" };
    this.#commits.push(...commits);
    return { kind: "committed", bytes: 0 };
  }

  async *backwards(before = this.#commits.length): AsyncIterable<Placed> {
    for (let at = Math.min(before, this.#commits.length) - 1; at >= 0; at--)
      yield { commit: this.#commits[at]!, start: at, end: at + 1 };
  }

  async *forwards(from = 0): AsyncIterable<Placed> {
    for (let at = from; at < this.#commits.length; at++) {
      yield { commit: this.#commits[at]!, start: at, end: at + 1 };
    }
  }

  async *naming(text: string, from = 0): AsyncIterable<Placed> {
    for await (const placed of this.forwards(from)) {
      if (JSON.stringify(placed.commit).includes(text)) yield placed;
    }
  }

  async locate(seq: number): Promise<number> {
    const found = this.#commits.findIndex((commit) => commit.seq > seq);
    return found < 0 ? this.#commits.length : found;
  }

  async isEmpty(): Promise<boolean> {
    return this.#commits.length === 0;
  }

  async blob(name: string): Promise<Uint8Array | undefined> {
    return this.#blobs.get(name);
  }

  /** Beyond its bound the oldest ones are gone. */
  async keep(name: string, bytes: Uint8Array): Promise<void> {
    this.#blobs.delete(name);
    this.#blobs.set(name, bytes);
    let total = 0;
    for (const blob of this.#blobs.values()) total += blob.length;
    for (const [oldest, { length }] of this.#blobs) {
      if (total <= MAX_BLOB_BYTES) break;
      this.#blobs.delete(oldest);
      total -= length;
    }
  }

  leaveUndone(): void {}
  madeGood(): void {}
  async sync(): Promise<void> {}
  async rest(): Promise<void> {}
  async close(): Promise<void> {}
  async destroy(): Promise<void> {}

  async archive(): Promise<void> {
    throw new Error("a thread that is kept in memory has no archive");
  }
}
