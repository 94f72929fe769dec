import { snippetOf, wordsOf } from "../../packages/host/src/store/files/index/search-query.ts";
import { folded } from "../../packages/host/src/store/files/index/text-folding.ts";
import { readCursor, writeCursor } from "../../packages/host/src/store/list-cursor.ts";
import { findOccurrences } from "../../packages/host/src/store/occurrence-search.ts";
import { guardStorage } from "../../packages/host/src/store/storage-fault.ts";
import type {
  IndexedText,
  KnownThread,
  OccurrencePage,
  OccurrenceQuery,
  SearchPage,
  SearchQuery,
  ThreadIndex,
  ThreadPage,
  ThreadQuery,
  ThreadRow,
} from "../../packages/host/src/store/thread-index.ts";
import { referenceList, sortValue } from "../support/reference-list.ts";
import type { Disk } from "./disk.ts";
import type { Random } from "./random.ts";

/** The path of the index in faults of the disk. */
const PATH = "threads.sqlite";

interface Content {
  readonly rows: Map<string, ThreadRow>;
  readonly texts: Map<string, readonly IndexedText[]>;
}

/**
 * The index file without SQLite, which cannot run on the fake disk: the data that hosts have flushed. It outlives the
 * hosts. While the disk fails for `index`, nothing is written, and hosts answer from memory.
 */
export class IndexFile {
  readonly #disk: Disk | undefined;
  flushed: Content = { rows: new Map(), texts: new Map() };
  /** The contents that were flushed since the last sync. A power cut removes the last ones, or none. */
  unsynced: Content[] = [];
  readonly #open = new Set<MemoryIndex>();

  constructor(disk?: Disk) {
    this.#disk = disk;
  }

  /** Throws `storageFailed` while the disk fails. */
  check(): Promise<void> {
    return guardStorage(async () => this.#disk?.check("index", PATH));
  }

  get reachable(): boolean {
    try {
      this.#disk?.check("index", PATH);
      return true;
    } catch {
      return false;
    }
  }

  /** As one host sees it. */
  open(): MemoryIndex {
    const index = new MemoryIndex(this);
    this.#open.add(index);
    return index;
  }

  /** Everything that is known about each thread: its row and its searchable texts. */
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
  /** Whether it replaces everything that is known. */
  readonly restated?: boolean;
}

export class MemoryIndex implements ThreadIndex {
  readonly #file: IndexFile;
  /** The entries since the last flush, in order. */
  waiting: readonly Waiting[] = [];

  constructor(file: IndexFile) {
    this.#file = file;
  }

  record(row: ThreadRow, texts: readonly IndexedText[], goneTurns: readonly string[] = []): void {
    this.waiting = [...this.waiting, { row, texts, goneTurns }];
  }

  mustBeOnDisk(): Promise<void> {
    return this.#file.check();
  }

  async forget(threadId: string): Promise<void> {
    await this.flush();
    this.#file.flushed.rows.delete(threadId);
    this.#file.flushed.texts.delete(threadId);
    this.#file.unsynced = [];
  }

  async restate(row: ThreadRow, texts: readonly IndexedText[]): Promise<void> {
    const others = this.waiting.filter((waiting) => waiting.row.id !== row.id);
    this.waiting = [...others, { row, texts, goneTurns: [], restated: true }];
    await this.#content();
  }

  async known(): Promise<ReadonlyMap<string, KnownThread>> {
    return this.#rows();
  }

  /** The host died: of the waiting entries, the first ones may have been written. */
  lose(random: Random): void {
    const written = random.between(0, this.waiting.length);
    if (this.#file.reachable) write(this.#file.flushed, this.waiting.slice(0, written));
    this.waiting = [];
  }

  async get(threadId: string): Promise<ThreadRow | undefined> {
    return (await this.#rows()).get(threadId);
  }

  async list(query: ThreadQuery): Promise<ThreadPage> {
    return page([...(await this.#rows()).values()], query);
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    const words = wordsOf(query.searchTerm);
    const { rows, texts } = await this.#content();
    const snippets = new Map<string, string>();
    for (const [id, said] of texts) {
      const hit = said.find(({ text }) => words.every((word) => isIn(text, word)));
      if (hit !== undefined && words.length > 0)
        snippets.set(id, snippetOf(hit.text, folded(hit.text) ?? hit.text, words));
    }
    const { rows: found, ...cursors } = page(
      [...rows.values()],
      { ...query, searchTerm: undefined },
      ({ id }) => snippets.has(id),
    );
    return { hits: found.map((row) => ({ row, snippet: snippets.get(row.id)! })), ...cursors };
  }

  async occurrences(query: OccurrenceQuery): Promise<OccurrencePage> {
    const { texts } = await this.#content();
    const messages = (texts.get(query.threadId) ?? []).toSorted((one, other) => one.place - other.place);
    const textOf = ({ text, said }: IndexedText) => ({ text, said: said ?? null });
    const { limit } = query;
    // One occurrence more than the limit shows whether there is a next page.
    const { found } = findOccurrences(messages, textOf, (answer) => answer, { ...query, limit: limit + 1 });
    const next = found[limit] ?? null;
    return { occurrences: found.slice(0, limit), next: next && { place: next.place, nth: next.nth } };
  }

  async flush(): Promise<void> {
    await this.#file.check();
    this.#file.keep();
    write(this.#file.flushed, this.waiting);
    this.waiting = [];
  }

  async close(): Promise<void> {
    const flushed = await this.flush().then(
      () => true,
      () => false,
    );
    if (flushed) this.#file.unsynced = [];
  }

  async #rows(): Promise<ReadonlyMap<string, ThreadRow>> {
    return (await this.#content()).rows;
  }

  /** Queries also see waiting entries, whether or not they can be written. */
  async #content(): Promise<Content> {
    if (this.waiting.length > 0) await this.flush().catch(() => {});
    const content = copy(this.#file.flushed);
    write(content, this.waiting);
    return content;
  }
}

/** One page of the rows that match a query. */
function page(
  rows: readonly ThreadRow[],
  query: ThreadQuery,
  isFound: (row: ThreadRow) => boolean = () => true,
): ThreadPage {
  const { sortKey, sortDirection, cursor, limit } = query;
  const from = cursor === undefined ? undefined : readCursor(sortKey, cursor);
  const isBeyond = (row: ThreadRow): boolean => {
    if (from === undefined) return true;
    const [sort, sign] = [sortValue(row, query), sortDirection === "asc" ? 1 : -1];
    if (sort === from.sort && row.id === from.id) return from.inclusive;
    return sign * (sort - from.sort || (row.id < from.id ? -1 : 1)) > 0;
  };
  const left = referenceList(rows, query).filter((row) => isFound(row) && isBeyond(row));
  const shown = left.slice(0, limit);
  const at = (row: ThreadRow | undefined, inclusive: boolean): string | null =>
    row === undefined ? null : writeCursor(sortKey, { sort: sortValue(row, query), id: row.id, inclusive });
  return {
    rows: shown,
    nextCursor: left.length > limit ? at(shown.at(-1), false) : null,
    backwardsCursor: at(shown[0], true),
  };
}

function isIn(text: string, word: string): boolean {
  return (folded(text) ?? text).toLowerCase().includes(word.toLowerCase());
}

function write({ rows, texts }: Content, waiting: readonly Waiting[]): void {
  for (const { row, texts: more, goneTurns, restated } of waiting) {
    if (restated || (rows.get(row.id)?.seq ?? 0) <= row.seq) rows.set(row.id, row);
    const known = restated ? [] : (texts.get(row.id) ?? []);
    const kept = known.filter(({ itemId }) => !more.some((text) => text.itemId === itemId));
    texts.set(
      row.id,
      [...kept, ...more].filter(({ turnId }) => !goneTurns.includes(turnId)),
    );
  }
}
