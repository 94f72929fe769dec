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

/** The index without SQLite, which no fake disk could hold: rows in a map, gone with their host. */
export class MemoryIndex implements ThreadIndex {
  readonly rows = new Map<string, ThreadRow>();
  readonly #texts = new Map<string, IndexedText[]>();

  record(row: ThreadRow, texts: readonly IndexedText[]): void {
    if ((this.rows.get(row.id)?.seq ?? 0) > row.seq) return;
    this.rows.set(row.id, row);
    this.#texts.set(row.id, [...(this.#texts.get(row.id) ?? []), ...texts]);
  }

  async forget(threadId: string): Promise<void> {
    this.rows.delete(threadId);
    this.#texts.delete(threadId);
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

  async flush(): Promise<void> {}
  async close(): Promise<void> {}
}
