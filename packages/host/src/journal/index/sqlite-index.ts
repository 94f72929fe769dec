import type { Log } from "../../observe/log.ts";
import type { Cancel, Clock, Files, Timers, Worker } from "../../platform/platform.ts";
import { CurrentStore, mustBeFile } from "./current-store.ts";
import { readCursor } from "./cursor.ts";
import { type OpenStore, removeOlder } from "./generations.ts";
import { isBroken, isBusy, type Store } from "./store.ts";
import type { Entry } from "./store-writes.ts";
import type {
  IndexedText,
  KnownThread,
  SearchPage,
  SearchQuery,
  ThreadIndex,
  ThreadPage,
  ThreadQuery,
  ThreadRow,
} from "./thread-index.ts";
import { BATCH_CHARS, BATCH_ROWS, charsOf, WaitingRows } from "./waiting-rows.ts";
import { WriteBehind } from "./write-behind.ts";

export interface ThreadIndexOptions {
  /** `<home>/threads.sqlite`; the version, and a number after a repair, are put before the extension. */
  readonly path: string;
  readonly files: Files;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** Where searches run; without one they hold up everything else. */
  readonly searcher?: Worker | undefined;
  /** See `CurrentStoreOptions`. */
  hasRecordedAll?(): Promise<boolean>;
  /** Every thread that there is, from the journals; the order does not matter. */
  rebuild(): AsyncIterable<Entry>;
}

const FLUSH_MS = 200;
const FLUSH_ROWS = 500;
const FLUSH_CHARS = 1_000_000;
const BUSY_WAIT_MS = 25;
const BUSY_TRIES = 100;
const FAILED_MS = 5000;
/** Rows that are read at once where all are: the event loop waits for as long as it takes. */
const KNOWN_ROWS = 1000;
/** A smaller file is searched through in less time than another thread takes to start. */
const LARGE_BYTES = 4 * 1024 * 1024;
/** Texts that wait because nothing can be written, as on a full disk; past that they are read again later. */
const MAX_WAITING_CHARS = 32_000_000;

/** Costs nothing until the first row is written or the first page is asked for. */
export function openThreadIndex(options: ThreadIndexOptions): ThreadIndex {
  return new SqliteThreadIndex(options);
}

class SqliteThreadIndex implements ThreadIndex {
  readonly #options: ThreadIndexOptions;
  readonly #waiting = new WaitingRows();
  readonly #writeBehind: WriteBehind;
  readonly #stores: CurrentStore;
  /** Stores in which all threads are, or will be. */
  readonly #built = new WeakMap<OpenStore, Promise<void>>();
  #cancelFlush: Cancel | undefined;
  /** Something that waited had to be dropped: the journals have to be read again. */
  #behind = false;
  #closed: Promise<void> | undefined;
  /** The one with which it is closed: whoever asks later is told what came of it. */
  #lastFlush: Promise<void> | undefined;
  #over = false;
  #failing = false;
  #searchHere = false;

  constructor(options: ThreadIndexOptions) {
    this.#options = options;
    this.#stores = new CurrentStore(options);
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
    // One that broke was set aside for whoever wants to know, and may have the thread too.
    if (current !== undefined && current.generation > 0) await removeOlder(this.#options, current, 0);
  }

  async mustBeOnDisk(): Promise<void> {
    await this.#stores.openOnDisk();
  }

  async get(threadId: string): Promise<ThreadRow | undefined> {
    // What waits is not written for this: whoever asks for one thread after the other would write them one by one.
    const newest = (store: Store): ThreadRow | undefined => {
      const [waiting, written] = [this.#waiting.get(threadId), store.get(threadId)];
      return waiting !== undefined && waiting.seq >= (written?.seq ?? 0) ? waiting : written;
    };
    return (await this.#use(newest)) ?? this.#ask(newest);
  }

  async known(): Promise<ReadonlyMap<string, KnownThread>> {
    await this.#tryFlush();
    const known = new Map<string, KnownThread>();
    let read: OpenStore | undefined;
    for (let after = 0; ; await this.#soon()) {
      const some = await this.#ask((store, open) => {
        // Keys of one file say nothing about another.
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

  async #search(store: Store, path: string, query: SearchQuery): Promise<SearchPage> {
    const { searcher, log } = this.#options;
    const here = path === ":memory:" || this.#searchHere || store.bytes < LARGE_BYTES;
    if (searcher === undefined || here) return store.search(query);
    try {
      return (await searcher.ask({ path, query })) as SearchPage;
    } catch (cause) {
      if (isBusy(cause) || isBroken(cause) || this.#over) throw cause;
      log.warn("searches have no thread of their own, and hold up others", { cause });
      this.#searchHere = true;
      return store.search(query);
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
    // What cannot be written now is found in the journals when the thread is next recorded, or at a rebuild.
    this.#lastFlush = this.#flush();
    await this.#lastFlush.catch((cause: unknown) =>
      log.warn("the index was closed behind the journals", { cause }),
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
      // Handles its own failure.
      void this.#tryFlush();
    });
  }

  /** A disk that takes nothing must not keep anybody from reading what there is. */
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

  #writeSome(store: Store, open: OpenStore): void {
    this.#waiting.writeSome((entries) => this.#write(store, entries));
    if (!this.#behind) return;
    store.restart();
    this.#behind = false;
    this.#built.delete(open);
  }

  /** One thread that cannot be listed keeps no other from it. */
  #write(store: Store, entries: readonly Entry[]): void {
    for (const { threadId, cause } of store.write(entries)) {
      this.#options.log.warn("a thread cannot be written to the index and is not listed", {
        threadId,
        cause,
      });
    }
  }

  /** A question about all threads: waits until all are there. */
  #ask<T>(run: (store: Store, open: OpenStore) => T | Promise<T>): Promise<T> {
    return this.#use(run, true);
  }

  async #use<T>(run: (store: Store, open: OpenStore) => T | Promise<T>, wantsAll = false): Promise<T> {
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

  /** All threads are in it. A rebuild that failed is tried again by the next who asks. */
  #all(open: OpenStore): Promise<void> {
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
   * Fills the file in place, batch by batch. Rows only ever replace older ones, so it does no harm if another
   * host does the same at the same time, or if threads go on meanwhile.
   */
  async #rebuild(open: OpenStore): Promise<void> {
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

  /** Like `#use`, but on this very file: a rebuild of a file that was given up has to end. */
  async #retrying(open: OpenStore, run: (store: Store) => void): Promise<void> {
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

  #isCurrent(open: OpenStore): boolean {
    return this.#stores.current === open;
  }

  #soon(): Promise<void> {
    return new Promise((go) => this.#options.timers.soon(go));
  }

  #pause(ms: number): Promise<void> {
    return new Promise((go) => void this.#options.timers.after(ms, go));
  }
}
