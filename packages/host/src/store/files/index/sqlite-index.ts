import type { Log } from "../../../observe/log.ts";
import type { Cancel, Clock, Files, Timers, Worker } from "../../../platform/platform.ts";
import { readCursor } from "../../list-cursor.ts";
import type {
  IndexedText,
  KnownThread,
  Occurrence,
  OccurrencePage,
  OccurrencePlace,
  OccurrenceQuery,
  SearchPage,
  SearchQuery,
  ThreadIndex,
  ThreadPage,
  ThreadQuery,
  ThreadRow,
} from "../../thread-index.ts";
import { CurrentIndexFile, mustBeFile } from "./current-index-file.ts";
import { type IndexFile, isBroken, isBusy } from "./index-file.ts";
import { type OpenIndexFile, removeOlder } from "./index-generations.ts";
import type { Entry } from "./index-writes.ts";
import { BATCH_CHARS, BATCH_ROWS, charsOf, PendingRows } from "./pending-rows.ts";
import { WriteBehind } from "./write-behind.ts";

/** A request to the search worker. */
export type SearchQuestion =
  | { readonly path: string; readonly query: SearchQuery }
  | { readonly path: string; readonly occurrences: OccurrenceQuery };

/** Leaves the Markdown of an answer in the text. */
const asWritten = (answer: string): string => answer;

export interface ThreadIndexOptions {
  /**
   * `<home>/threads.sqlite`. The schema version and, after a repair, the generation are inserted before the
   * extension.
   */
  readonly path: string;
  readonly files: Files;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** The worker thread for searches. Without one, searches block the event loop. */
  readonly searcher?: Worker | undefined;
  /** See `CurrentIndexFileOptions`. */
  hasRecordedAll?(): Promise<boolean>;
  /** Yields all threads from their journals, in any order. */
  rebuild(): AsyncIterable<Entry>;
}

const FLUSH_MS = 200;
const FLUSH_ROWS = 500;
const FLUSH_CHARS = 1_000_000;
const BUSY_WAIT_MS = 25;
const BUSY_TRIES = 100;
const FAILED_MS = 5000;
/** Number of rows per step when all rows are read. A step blocks the event loop. */
const KNOWN_ROWS = 1000;
/** Files up to this size are searched in the host's own thread, because starting a worker would take longer. */
const LARGE_BYTES = 4 * 1024 * 1024;
/**
 * Limit on the characters that wait while nothing can be written, for example on a full disk. Beyond it, waiting
 * texts are dropped and later read from the journals.
 */
const MAX_WAITING_CHARS = 32_000_000;

/** Opens nothing before the first row is written or the first page is requested. */
export function openThreadIndex(options: ThreadIndexOptions): ThreadIndex {
  return new SqliteThreadIndex(options);
}

class SqliteThreadIndex implements ThreadIndex {
  readonly #options: ThreadIndexOptions;
  readonly #waiting = new PendingRows();
  readonly #writeBehind: WriteBehind;
  readonly #stores: CurrentIndexFile;
  /** The running or completed rebuild of each file. */
  readonly #built = new WeakMap<OpenIndexFile, Promise<void>>();
  #cancelFlush: Cancel | undefined;
  /** Whether waiting rows were dropped, so that the journals must be read again. */
  #behind = false;
  #closed: Promise<void> | undefined;
  /** The flush of the close, running or done. Later calls get its outcome. */
  #lastFlush: Promise<void> | undefined;
  #over = false;
  #failing = false;
  #searchHere = false;

  constructor(options: ThreadIndexOptions) {
    this.#options = options;
    this.#stores = new CurrentIndexFile(options);
    this.#writeBehind = new WriteBehind(
      this.#waiting,
      () => this.#use((store, open) => this.#writeSome(store, open)),
      () => this.#soon(),
    );
  }

  record(row: ThreadRow, texts: readonly IndexedText[], goneTurns: readonly string[] = []): void {
    if (this.#closed !== undefined) return;
    this.#waiting.add(row, texts, goneTurns);
    if (this.#waiting.chars > MAX_WAITING_CHARS) {
      this.#waiting.dropTexts();
      this.#behind = true;
    }
    this.#arm(FLUSH_MS);
  }

  async restate(row: ThreadRow, texts: readonly IndexedText[]): Promise<void> {
    this.#waiting.drop(row.id);
    await this.#use((store) => store.replace({ row, texts }));
  }

  async forget(threadId: string): Promise<void> {
    await this.#use((store, open) => {
      mustBeFile(open);
      this.#waiting.drop(threadId);
      store.forget(threadId);
    });
    const { current } = this.#stores;
    // The broken file that is kept for inspection may contain the thread, too.
    if (current !== undefined && current.generation > 0) await removeOlder(this.#options, current, 0);
  }

  async mustBeOnDisk(): Promise<void> {
    await this.#stores.openOnDisk();
  }

  async get(threadId: string): Promise<ThreadRow | undefined> {
    // Pending rows are not written first: a caller that looks up many threads would write them one by one.
    const newest = (store: IndexFile): ThreadRow | undefined => {
      const [waiting, written] = [this.#waiting.get(threadId), store.get(threadId)];
      return waiting !== undefined && waiting.seq >= (written?.seq ?? 0) ? waiting : written;
    };
    return (await this.#use(newest)) ?? this.#ask(newest);
  }

  async known(): Promise<ReadonlyMap<string, KnownThread>> {
    await this.#tryFlush();
    const known = new Map<string, KnownThread>();
    let read: OpenIndexFile | undefined;
    for (let after = 0; ; await this.#soon()) {
      const some = await this.#ask((store, open) => {
        // Keys of one index file are not valid in another.
        if (open !== read) {
          known.clear();
          after = 0;
        }
        read = open;
        return store.known(after, KNOWN_ROWS);
      });
      for (const { id, seq, archived } of some) known.set(id, { seq, archived });
      if (some.length < KNOWN_ROWS) return known;
      after = some.at(-1)!.key;
    }
  }

  async list(query: ThreadQuery): Promise<ThreadPage> {
    await this.#tryFlush();
    return this.#ask((store) => store.list(query));
  }

  async search(query: SearchQuery): Promise<SearchPage> {
    await this.#tryFlush();
    if (query.cursor !== undefined) readCursor(query.sortKey, query.cursor);
    return this.#ask((store, { path }) => this.#search(store, path, query));
  }

  async #search(store: IndexFile, path: string, query: SearchQuery): Promise<SearchPage> {
    if (store.bytes < LARGE_BYTES) return store.search(query);
    return this.#elsewhere({ path, query }, () => store.search(query));
  }

  async occurrences(query: OccurrenceQuery): Promise<OccurrencePage> {
    await this.#tryFlush();
    const found: Occurrence[] = [];
    // One occurrence more than the limit shows whether there is a next page.
    const wanted = query.limit + 1;
    for (let from: OccurrencePlace | null = query.from; from !== null && found.length < wanted; ) {
      const rest: OccurrenceQuery = { ...query, from, limit: wanted - found.length };
      const part = await this.#ask((store, { path }) => {
        const question: SearchQuestion = { path, occurrences: rest };
        // Without a worker the answers keep their Markdown, because removing it would block the event loop.
        return this.#elsewhere(question, () => store.occurrences(rest, asWritten));
      });
      found.push(...part.found);
      from = part.next;
      if (from !== null) await this.#soon();
    }
    const next = found[query.limit] ?? null;
    return { occurrences: found.slice(0, query.limit), next: next && { place: next.place, nth: next.nth } };
  }

  /** Asks the search worker if there is one and the index is a file. Otherwise runs `here`. */
  async #elsewhere<T>(question: SearchQuestion, here: () => T): Promise<T> {
    const { searcher, log } = this.#options;
    if (searcher === undefined || question.path === ":memory:" || this.#searchHere) return here();
    try {
      return (await searcher.ask(question)) as T;
    } catch (cause) {
      if (isBusy(cause) || isBroken(cause) || this.#over) throw cause;
      log.warn("the search worker failed; searches run on the main thread and delay other requests", {
        cause,
      });
      this.#searchHere = true;
      return here();
    }
  }

  flush(): Promise<void> {
    return this.#lastFlush ?? this.#flush();
  }

  async #flush(): Promise<void> {
    await this.#writeAll();
    await this.#stores.mustBeOnDisk();
  }

  #writeAll(): Promise<void> {
    this.#cancelFlush?.();
    this.#cancelFlush = undefined;
    return this.#writeBehind.written();
  }

  close(): Promise<void> {
    this.#closed ??= this.#finish();
    return this.#closed;
  }

  async #finish(): Promise<void> {
    const { log } = this.#options;
    // Rows that cannot be written now are read from the journals later: when the thread is next recorded, or at a
    // rebuild.
    this.#lastFlush = this.#flush();
    await this.#lastFlush.catch((cause: unknown) =>
      log.warn("the index was closed with unwritten rows; they are read from the journals later", { cause }),
    );
    this.#cancelFlush?.();
    const { current } = this.#stores;
    if (current !== undefined) await this.#built.get(current)?.catch(() => {});
    this.#over = true;
    await this.#options.searcher?.close();
    this.#stores.close();
  }

  #arm(ms: number): void {
    const full = this.#waiting.size >= FLUSH_ROWS || this.#waiting.chars >= FLUSH_CHARS;
    if (this.#cancelFlush !== undefined && (!full || this.#failing)) return;
    this.#cancelFlush?.();
    this.#cancelFlush = this.#options.timers.after(full && !this.#failing ? 0 : ms, () => {
      this.#cancelFlush = undefined;
      // `#tryFlush` handles its own failure.
      void this.#tryFlush();
    });
  }

  /** Writes the pending rows. Only logs a failure, because a disk that refuses writes must not prevent reads. */
  async #tryFlush(): Promise<void> {
    try {
      await this.#writeAll();
      this.#failing = false;
    } catch (cause) {
      if (!this.#failing)
        this.#options.log.warn("the index cannot be written; lists may be behind", { cause });
      this.#failing = true;
      if (this.#closed === undefined) this.#arm(FAILED_MS);
    }
  }

  #writeSome(store: IndexFile, open: OpenIndexFile): void {
    this.#waiting.writeSome((entries) => this.#write(store, entries));
    if (!this.#behind) return;
    store.restart();
    this.#behind = false;
    this.#built.delete(open);
  }

  /** Writes entries. An entry that cannot be written does not prevent the others. */
  #write(store: IndexFile, entries: readonly Entry[]): void {
    for (const { threadId, cause } of store.write(entries)) {
      this.#options.log.warn("a thread cannot be written to the index and is not listed", {
        threadId,
        cause,
      });
    }
  }

  /** Runs a query over all threads: waits until the rebuild is done. */
  #ask<T>(run: (store: IndexFile, open: OpenIndexFile) => T | Promise<T>): Promise<T> {
    return this.#use(run, true);
  }

  async #use<T>(
    run: (store: IndexFile, open: OpenIndexFile) => T | Promise<T>,
    wantsAll = false,
  ): Promise<T> {
    for (let tries = 1; ; tries++) {
      const open = await this.#stores.open();
      if (wantsAll) await this.#all(open);
      if (open !== this.#stores.current) continue;
      try {
        return await run(open.store, open);
      } catch (cause) {
        if (isBusy(cause) && tries < BUSY_TRIES) await this.#pause(BUSY_WAIT_MS);
        else if (isBroken(cause) && tries < BUSY_TRIES) this.#stores.giveUp(open, cause);
        else throw cause;
      }
    }
  }

  /** Resolves when all threads are in the file. The next call retries a rebuild that failed. */
  #all(open: OpenIndexFile): Promise<void> {
    let built = this.#built.get(open);
    if (built === undefined) {
      built = this.#rebuild(open).catch((cause: unknown) => {
        this.#built.delete(open);
        throw cause;
      });
      this.#built.set(open, built);
    }
    return built;
  }

  /**
   * Fills the file in place, in batches. A row replaces only an older one, so other hosts may do the same at the same
   * time, and threads may continue during the rebuild.
   */
  async #rebuild(open: OpenIndexFile): Promise<void> {
    if (!this.#isCurrent(open) || open.store.complete) return;
    const gone = (): boolean => {
      if (this.#closed !== undefined) throw new Error("the index was closed while it was made");
      return !this.#isCurrent(open);
    };
    let batch: Entry[] = [];
    let chars = 0;
    let count = 0;
    const write = async (): Promise<void> => {
      count += batch.length;
      await this.#retrying(open, (store) => this.#write(store, batch));
      batch = [];
      chars = 0;
      await this.#soon();
    };
    for await (const entry of this.#options.rebuild()) {
      if (gone()) return;
      batch.push(entry);
      chars += charsOf(entry.texts);
      if (batch.length >= BATCH_ROWS || chars >= BATCH_CHARS) await write();
    }
    await write();
    if (gone()) return;
    await this.#retrying(open, (store) => store.finish());
    this.#options.log.info("the index was made from the journals", { threads: count, path: open.path });
    await removeOlder(this.#options, open);
  }

  /** Like `#use`, but on this file only, so that the rebuild ends when the file is abandoned. */
  async #retrying(open: OpenIndexFile, run: (store: IndexFile) => void): Promise<void> {
    for (let tries = 1; this.#isCurrent(open); tries++) {
      try {
        return run(open.store);
      } catch (cause) {
        if (isBusy(cause) && tries < BUSY_TRIES) await this.#pause(BUSY_WAIT_MS);
        else if (isBroken(cause)) return this.#stores.giveUp(open, cause);
        else throw cause;
      }
    }
  }

  #isCurrent(open: OpenIndexFile): boolean {
    return this.#stores.current === open;
  }

  #soon(): Promise<void> {
    return new Promise((go) => this.#options.timers.soon(go));
  }

  #pause(ms: number): Promise<void> {
    return new Promise((go) => void this.#options.timers.after(ms, go));
  }
}
