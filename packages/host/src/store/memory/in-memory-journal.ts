import type { JournalLocation } from "../../core/life/thread-view.ts";
import type { Durability } from "../../core/record-table.ts";
import type { Commit } from "../../core/records.ts";
import type { StoredBlob } from "../blobs.ts";
import { type AppendOutcome, listOf, type Placed, type Position, type ThreadJournal } from "../journal.ts";

const NOWHERE: JournalLocation = { path: null, archived: false };

/** Limit on the bytes of all blobs of one ephemeral thread. */
const MAX_BLOB_BYTES = 16 * 1024 * 1024;

/** The journal of an ephemeral thread, in memory. It is lost when the thread is unloaded. */
export class MemoryJournal implements ThreadJournal {
  readonly place = NOWHERE;
  readonly needsRecovery = false;
  readonly folder = null;
  readonly #commits: Commit[] = [];
  readonly #blobs = new Map<string, Uint8Array>();

  async append(batch: Commit | readonly Commit[], _durability?: Durability): Promise<AppendOutcome> {
    const commits = listOf(batch);
    if (commits.length > 0 && commits[0]!.prev !== this.#lastSeq) return { kind: "conflict" };
    this.#commits.push(...commits);
    return { kind: "committed", bytes: 0 };
  }

  async reopen(): Promise<void> {}

  async settle(commits: readonly Commit[]): Promise<number> {
    return commits.filter(({ seq }) => seq <= this.#lastSeq).length;
  }

  get #lastSeq(): number {
    return this.#commits.at(-1)?.seq ?? 0;
  }

  async *backwards(through?: Position): AsyncIterable<Placed> {
    for (let at = through === undefined ? this.#commits.length : this.#behind(through.seq); at > 0; at--)
      yield { commit: this.#commits[at - 1]!, start: 0, end: 0 };
  }

  async *forwards(from?: Position): AsyncIterable<Placed> {
    for (let at = from === undefined ? 0 : this.#behind(from.seq - 1); at < this.#commits.length; at++)
      yield { commit: this.#commits[at]!, start: 0, end: 0 };
  }

  async *naming(text: string, from?: Position): AsyncIterable<Placed> {
    for await (const placed of this.forwards(from)) {
      if (JSON.stringify(placed.commit).includes(text)) yield placed;
    }
  }

  /** The number of commits up to `seq`, which follows from `seq`, because the numbers are consecutive. */
  #behind(seq: number): number {
    const first = this.#commits[0]?.seq ?? 1;
    return Math.min(Math.max(0, seq - first + 1), this.#commits.length);
  }

  async isEmpty(): Promise<boolean> {
    return this.#commits.length === 0;
  }

  async blob(name: string): Promise<Uint8Array | undefined> {
    return this.#blobs.get(name);
  }

  /** Stores a blob. Beyond the limit, the oldest blobs are removed. */
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

  async blobs(prefix: string): Promise<readonly StoredBlob[]> {
    const found = [...this.#blobs].filter(([name]) => name.startsWith(prefix));
    return found.map(([name, { length }]) => ({ name, bytes: length }));
  }

  async removeBlob(name: string): Promise<void> {
    this.#blobs.delete(name);
  }

  async isHeld(): Promise<boolean> {
    return true;
  }

  markNeedsRecovery(): void {}
  markRecovered(): void {}
  async flush(): Promise<void> {}
  async rest(): Promise<void> {}
  async close(): Promise<void> {}
  async destroy(): Promise<void> {}

  async archive(): Promise<void> {
    throw new Error("a thread that is kept in memory has no archive");
  }
}
