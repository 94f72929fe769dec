import { referenceList } from "../../packages/host/src/journal/index/reference-index.ts";
import type {
  IndexedText,
  KnownThread,
  SearchPage,
  SearchQuery,
  ThreadIndex,
  ThreadPage,
  ThreadQuery,
  ThreadRow,
} from "../../packages/host/src/journal/index/thread-index.ts";
import { saved } from "../../packages/host/src/journal/saved.ts";
import type { Disk } from "./disk.ts";
import type { Random } from "./random.ts";

/** Where faults of the disk say that it is. */
const PATH = "threads.sqlite";

interface Content {
  readonly rows: Map<string, ThreadRow>;
  readonly texts: Map<string, readonly IndexedText[]>;
}

/**
 * The index's file without SQLite, which no fake disk could hold: what hosts have flushed, which outlives them. While
 * the disk fails for `index`, nothing is written to it, and hosts answer from memory.
 */
export class IndexFile {
  readonly #disk: Disk | undefined;
  flushed: Content = { rows: new Map(), texts: new Map() };
  /** What was flushed since something was last synced: a power cut takes the last ones, or none. */
  unsynced: Content[] = [];
  readonly #open = new Set<MemoryIndex>();

  constructor(disk?: Disk) {
    this.#disk = disk;
  }

  /** Throws `storageFailed` while the disk fails. */
  check(): Promise<void> {
    return saved(async () => this.#disk?.check("index", PATH));
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
  /** Takes the place of whatever is known. */
  readonly restated?: boolean;
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

  /** The host died: of what waited, the first ones may have been written. */
  lose(random: Random): void {
    const written = random.between(0, this.waiting.length);
    if (this.#file.reachable) write(this.#file.flushed, this.waiting.slice(0, written));
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
    const { texts } = await this.#content();
    const hits = rows.flatMap((row) => {
      const found = texts.get(row.id)?.find(({ text }) => text.includes(query.searchTerm));
      return found === undefined ? [] : [{ row, snippet: found.text }];
    });
    return { hits, nextCursor: null, backwardsCursor: null };
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

  /** Whoever asks is told of what waits, too, whether or not it can be written. */
  async #content(): Promise<Content> {
    if (this.waiting.length > 0) await this.flush().catch(() => {});
    const content = copy(this.#file.flushed);
    write(content, this.waiting);
    return content;
  }
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
