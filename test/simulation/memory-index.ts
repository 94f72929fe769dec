import { referenceList } from "../../packages/host/src/journal/index/reference-index.ts";
import type {
  IndexedText,
  SearchPage,
  SearchQuery,
  ThreadIndex,
  ThreadPage,
  ThreadQuery,
  ThreadRow,
} from "../../packages/host/src/journal/index/thread-index.ts";
import type { Random } from "./random.ts";

/** The index without SQLite, which no fake disk could hold. It outlives its host, but for what was not flushed. */
export class MemoryIndex implements ThreadIndex {
  #rows = new Map<string, ThreadRow>();
  readonly #texts = new Map<string, IndexedText[]>();
  #flushed = new Map<string, ThreadRow>();
  /** What was flushed since something was last synced: a power cut takes the last ones, or none. */
  #unsynced: ReadonlyMap<string, ThreadRow>[] = [];
  /** What was recorded since the last flush, in its order. */
  #waiting: ThreadRow[] = [];

  get rows(): ReadonlyMap<string, ThreadRow> {
    return this.#rows;
  }

  record(row: ThreadRow, texts: readonly IndexedText[]): void {
    this.#waiting.push(row);
    if (put(this.#rows, row)) this.#texts.set(row.id, [...(this.#texts.get(row.id) ?? []), ...texts]);
  }

  async forget(threadId: string): Promise<void> {
    await this.flush();
    this.#rows.delete(threadId);
    this.#flushed.delete(threadId);
    this.#texts.delete(threadId);
    this.#unsynced = [];
  }

  async restate(row: ThreadRow, texts: readonly IndexedText[]): Promise<void> {
    this.#waiting = this.#waiting.filter(({ id }) => id !== row.id);
    this.#rows.set(row.id, row);
    this.#texts.set(row.id, [...texts]);
    await this.flush();
  }

  async ids(): Promise<readonly string[]> {
    return [...this.#rows.keys()];
  }

  /** The host died: of what waited, the first ones may have been written. */
  lose(random: Random, kind: "kill" | "power"): void {
    for (const row of this.#waiting.slice(0, random.between(0, this.#waiting.length)))
      put(this.#flushed, row);
    this.#waiting = [];
    if (kind === "power" && this.#unsynced.length > 0 && random.chance(0.5)) {
      this.#flushed = new Map(random.pick(this.#unsynced));
    }
    this.#unsynced = [];
    this.#rows = new Map(this.#flushed);
  }

  async get(threadId: string): Promise<ThreadRow | undefined> {
    return this.rows.get(threadId);
  }

  async list(query: ThreadQuery): Promise<ThreadPage> {
    const rows = referenceList([...this.rows.values()], query).slice(0, query.limit);
    return { rows, nextCursor: null, backwardsCursor: null };
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    const { rows } = await this.list({ ...query, searchTerm: undefined });
    const hits = rows.flatMap((row) => {
      const found = this.#texts.get(row.id)?.find(({ text }) => text.includes(query.searchTerm));
      return found === undefined ? [] : [{ row, snippet: found.text }];
    });
    return { hits, nextCursor: null, backwardsCursor: null };
  }

  async flush(): Promise<void> {
    this.#unsynced.push(this.#flushed);
    this.#flushed = new Map(this.#rows);
    this.#waiting = [];
  }

  async close(): Promise<void> {
    await this.flush();
    this.#unsynced = [];
  }
}

function put(rows: Map<string, ThreadRow>, row: ThreadRow): boolean {
  if ((rows.get(row.id)?.seq ?? 0) > row.seq) return false;
  rows.set(row.id, row);
  return true;
}
