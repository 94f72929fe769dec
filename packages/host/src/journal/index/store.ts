import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import { listStatement } from "./list-query.ts";
import { Pages } from "./pages.ts";
import { SCHEMA, SCHEMA_VERSION } from "./schema.ts";
import { type Entry, StoreWrites } from "./store-writes.ts";
import type {
  KnownThread,
  SearchPage,
  SearchQuery,
  ThreadPage,
  ThreadQuery,
  ThreadRow,
} from "./thread-index.ts";

type Open = new (path: string, options: { readonly timeout: number }) => DatabaseSyncInstance;

/** Short, because the event loop waits with it; whoever calls tries again later. */
const BUSY_MS = 20;
const PAGE_BYTES = 4096;

export interface LeftOutEntry {
  readonly threadId: string;
  readonly cause: unknown;
}

const NONE: readonly never[] = [];

/** The file is of another version: as useless as a corrupt one. */
class OtherVersion extends Error {}

/** One open index file. All calls are synchronous: a page takes less time than a trip to another thread. */
export class Store {
  readonly #db: DatabaseSyncInstance;
  readonly #writes: StoreWrites;
  readonly #pages: Pages;

  constructor(DatabaseSync: Open, path: string) {
    this.#db = new DatabaseSync(path, { timeout: BUSY_MS });
    try {
      this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY");
      // From the start: a row that was changed leaves its old text behind otherwise, and a deletion finds only the new.
      this.#db.exec("PRAGMA secure_delete = ON");
      if (this.#version() === 0) this.#create();
      const version = this.#version();
      if (version !== SCHEMA_VERSION) throw new OtherVersion(`index version ${version}`);
      // A file that can only be read is found out here, and not by whoever asks for a list.
      this.#db.exec("BEGIN IMMEDIATE; UPDATE meta SET value = value WHERE name = 'complete'; ROLLBACK");
      this.#writes = new StoreWrites(this.#db);
      this.#pages = new Pages(this.#db);
    } catch (cause) {
      this.#db.close();
      throw cause;
    }
  }

  get bytes(): number {
    const { page_count: count } = this.#pages.prepared("PRAGMA page_count").get() as { page_count: number };
    return count * PAGE_BYTES;
  }

  /** False while nobody has finished to fill it. */
  get complete(): boolean {
    const { value } = this.#pages.prepared("SELECT value FROM meta WHERE name = 'complete'").get() as {
      value: number;
    };
    return value === 1;
  }

  /** It may lack something: whoever opens it next, or asks here, fills it again. */
  restart(): void {
    this.#transaction(() => this.#db.exec("UPDATE meta SET value = 0 WHERE name = 'complete'"));
  }

  finish(): void {
    this.#transaction(() => {
      this.#db.exec("UPDATE meta SET value = 1 WHERE name = 'complete'; DELETE FROM forgotten");
    });
  }

  /** Writes all that can be written, and returns those that cannot because something is wrong with them. */
  write(entries: readonly Entry[]): readonly LeftOutEntry[] {
    try {
      this.#put(entries);
      return NONE;
    } catch (cause) {
      if (!isEntrys(cause)) throw cause;
      if (entries.length === 1) return [{ threadId: entries[0]!.row.id, cause }];
    }
    return entries.flatMap((entry) => this.write([entry]));
  }

  #put(entries: readonly Entry[]): void {
    this.#transaction(() => {
      for (const entry of entries) this.#writes.put(entry);
    });
  }

  replace(entry: Entry): void {
    this.#transaction(() => {
      this.#writes.forget(entry.row.id);
      this.#writes.put(entry);
    });
  }

  forget(threadId: string): void {
    // Every trace: what becomes free is overwritten, and the log that still has it is emptied.
    this.#transaction(() => {
      this.#writes.forget(threadId);
      if (!this.complete) this.#pages.prepared("INSERT OR IGNORE INTO forgotten VALUES(?)").run(threadId);
    });
    // Somebody who reads may hold it up for a moment.
    const { busy } = this.#pages.prepared("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
    if (busy !== 0) throw Object.assign(new Error("database is locked"), { code: "ERR_SQLITE_ERROR" });
  }

  get(threadId: string): ThreadRow | undefined {
    const found = this.#pages
      .prepared("SELECT b.row AS row FROM threads t JOIN bodies b ON b.key = t.key WHERE t.id = ?")
      .get(threadId) as { row: string } | undefined;
    return found && (JSON.parse(found.row) as ThreadRow);
  }

  /** Some threads after a key, in the order of their keys. */
  known(after: number, limit: number): (KnownThread & { readonly key: number; readonly id: string })[] {
    const found = this.#pages
      .prepared("SELECT key, id, seq, archived FROM threads WHERE key > ? ORDER BY key LIMIT ?")
      .all(after, limit) as { key: number; id: string; seq: number; archived: number }[];
    return found.map((row) => ({ ...row, archived: row.archived === 1 }));
  }

  list(query: ThreadQuery): ThreadPage {
    const { found, ...cursors } = this.#pages.page(query, listStatement(query));
    return { rows: found.map(({ row }) => JSON.parse(row) as ThreadRow), ...cursors };
  }

  search(query: SearchQuery): SearchPage {
    return this.#pages.search(query);
  }

  /** `broken`: nothing of it is written back any more. */
  close(broken = false): void {
    this.#pages.close();
    if (!this.#db.isOpen) return;
    // The driver lets go of the file only when its statements are collected, so the log would stay as it is.
    if (!broken) this.#db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    this.#db.close();
  }

  #transaction(run: () => void): void {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      run();
      this.#db.exec("COMMIT");
    } catch (cause) {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw cause;
    }
  }

  #version(): number {
    return (this.#db.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
  }

  #create(): void {
    this.#transaction(() => {
      // Another host may have been first.
      if (this.#version() === 0) this.#db.exec(SCHEMA);
    });
  }
}

// The driver gives SQLite's code with some errors and only its text with others.
const BUSY = { codes: new Set([5, 6]), text: /(database|table|schema) is locked/ };
const BROKEN = {
  codes: new Set([11, 26]),
  text: /disk image is malformed|not a database|malformed database schema|no such (table|index|column)/,
};

const UNFIT = { codes: new Set([18, 20, 25]), text: /too big|datatype mismatch/ };

/** Somebody else writes: try again. */
export function isBusy(cause: unknown): boolean {
  return tells(BUSY, cause);
}

/** The file cannot be trusted any more; a new one is made. */
export function isBroken(cause: unknown): boolean {
  return cause instanceof OtherVersion || tells(BROKEN, cause);
}

/** It is not the file's fault: a value is of no type that SQLite has, or is too large. */
function isEntrys(cause: unknown): boolean {
  return cause instanceof TypeError || cause instanceof RangeError || tells(UNFIT, cause);
}

function tells(kind: typeof BUSY, cause: unknown): boolean {
  const { code, errcode, message } = cause as { code?: string; errcode?: number; message?: string };
  if (code !== "ERR_SQLITE_ERROR") return false;
  // Extended codes carry the reason above the lowest byte.
  return kind.codes.has((errcode ?? 0) & 0xff) || kind.text.test(message ?? "");
}
