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

interface Content {
  readonly rows: Map<string, ThreadRow>;
  readonly texts: Map<string, readonly IndexedText[]>;
}

/** The index's file without SQLite, which no fake disk could hold: what hosts have flushed, which outlives them. */
export class IndexFile {
  flushed: Content = { rows: new Map(), texts: new Map() };
  /** What was flushed since something was last synced: a power cut takes the last ones, or none. */
  unsynced: Content[] = [];
  readonly #open = new Set<MemoryIndex>();

  /** As one host sees it. */
  open(): MemoryIndex {
    const index = new MemoryIndex(this);
    this.#open.add(index);
    return index;
  }

  /** All that hosts know of each thread: its row, and what can be found of it. */
  async known(): Promise<
    ReadonlyMap<string, { readonly row: ThreadRow; readonly texts: readonly string[] }>
  > {
    for (const index of this.#open) await index.flush();
    const { rows, texts } = this.flushed;
    const found = (id: string) => (texts.get(id) ?? []).map(({ itemId, text }) => `${itemId}: ${text}`);
    return new Map([...rows].map(([id, row]) => [id, { row, texts: found(id).sort() }]));
  }

  keep(): void {
    this.unsynced.push(copy(this.flushed));
  }

  powerCut(random: Random): void {
    if (this.unsynced.length > 0 && random.chance(0.5)) this.flushed = copy(random.pick(this.unsynced));
    this.unsynced = [];
  }
}

function copy({ rows, texts }: Content): Content {
  return { rows: new Map(rows), texts: new Map(texts) };
}

interface Waiting {
  readonly row: ThreadRow;
  readonly texts: readonly IndexedText[];
  readonly goneTurns: readonly string[];
}

export class MemoryIndex implements ThreadIndex {
  readonly #file: IndexFile;
  /** What was recorded since the last flush, in its order. */
  waiting: readonly Waiting[] = [];

  constructor(file: IndexFile) {
    this.#file = file;
  }

  record(row: ThreadRow, texts: readonly IndexedText[], goneTurns: readonly string[] = []): void {
    this.waiting = [...this.waiting, { row, texts, goneTurns }];
  }

  async forget(threadId: string): Promise<void> {
    await this.flush();
    this.#file.flushed.rows.delete(threadId);
    this.#file.flushed.texts.delete(threadId);
    this.#file.unsynced = [];
  }

  async restate(row: ThreadRow, texts: readonly IndexedText[]): Promise<void> {
    this.waiting = this.waiting.filter((waiting) => waiting.row.id !== row.id);
    await this.flush();
    this.#file.flushed.rows.set(row.id, row);
    this.#file.flushed.texts.set(row.id, texts);
  }

  async ids(): Promise<readonly string[]> {
    return [...(await this.#rows()).keys()];
  }

  /** The host died: of what waited, the first ones may have been written. */
  lose(random: Random): void {
    this.#write(this.waiting.slice(0, random.between(0, this.waiting.length)));
    this.waiting = [];
  }

  async get(threadId: string): Promise<ThreadRow | undefined> {
    return (await this.#rows()).get(threadId);
  }

  async list(query: ThreadQuery): Promise<ThreadPage> {
    const rows = referenceList([...(await this.#rows()).values()], query).slice(0, query.limit);
    return { rows, nextCursor: null, backwardsCursor: null };
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    const { rows } = await this.list({ ...query, searchTerm: undefined });
    const hits = rows.flatMap((row) => {
      const found = this.#file.flushed.texts.get(row.id)?.find(({ text }) => text.includes(query.searchTerm));
      return found === undefined ? [] : [{ row, snippet: found.text }];
    });
    return { hits, nextCursor: null, backwardsCursor: null };
  }

  async flush(): Promise<void> {
    this.#file.keep();
    this.#write(this.waiting);
    this.waiting = [];
  }

  async close(): Promise<void> {
    await this.flush();
    this.#file.unsynced = [];
  }

  /** Whoever asks is told of what waits, too. */
  async #rows(): Promise<ReadonlyMap<string, ThreadRow>> {
    if (this.waiting.length > 0) await this.flush();
    return this.#file.flushed.rows;
  }

  #write(waiting: readonly Waiting[]): void {
    const { rows, texts } = this.#file.flushed;
    for (const { row, texts: more, goneTurns } of waiting) {
      if ((rows.get(row.id)?.seq ?? 0) <= row.seq) rows.set(row.id, row);
      const kept = (texts.get(row.id) ?? []).filter(
        ({ itemId }) => !more.some((text) => text.itemId === itemId),
      );
      texts.set(
        row.id,
        [...kept, ...more].filter(({ turnId }) => !goneTurns.includes(turnId)),
      );
    }
  }
}
