import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import type { OccurrencePart } from "../../occurrence-search.ts";
import type {
  KnownThread,
  OccurrenceQuery,
  SearchPage,
  SearchQuery,
  ThreadPage,
  ThreadQuery,
  ThreadRow,
} from "../../thread-index.ts";
import { IndexQueries } from "./index-queries.ts";
import { type Entry, IndexWrites } from "./index-writes.ts";
import { listStatement } from "./list-query.ts";
import { SCHEMA, SCHEMA_VERSION } from "./schema.ts";

type Open = new (path: string, options: { readonly timeout: number }) => DatabaseSyncInstance;

/** How long SQLite waits for a lock. Short, because waiting blocks the event loop; the caller retries later. */
const BUSY_MS = 20;
const PAGE_BYTES = 4096;

export interface LeftOutEntry {
  readonly threadId: string;
  readonly cause: unknown;
}

const NONE: readonly never[] = [];

/** The file has another schema version, and is as unusable as a corrupt one. */
class OtherVersion extends Error {}

/**
 * One open index file. All calls are synchronous, because reading a page takes less time than asking a worker thread.
 */
export class IndexFile {
  readonly #db: DatabaseSyncInstance;
  readonly #writes: IndexWrites;
  readonly #pages: IndexQueries;

  constructor(DatabaseSync: Open, path: string) {
    this.#db = new DatabaseSync(path, { timeout: BUSY_MS });
    try {
      this.#db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY");
      // Set from the start: a row that changes before would leave its old text in the file, where a later deletion
      // does not find it.
      this.#db.exec("PRAGMA secure_delete = ON");
      if (this.#version() === 0) this.#create();
      const version = this.#version();
      if (version !== SCHEMA_VERSION) throw new OtherVersion(`index version ${version}`);
      // Detects a read-only file now rather than at the first write.
      this.#db.exec("BEGIN IMMEDIATE; UPDATE meta SET value = value WHERE name = 'complete'; ROLLBACK");
      this.#writes = new IndexWrites(this.#db);
      this.#pages = new IndexQueries(this.#db);
    } catch (cause) {
      this.#db.close();
      throw cause;
    }
  }

  get bytes(): number {
    const { page_count: count } = this.#pages.prepared("PRAGMA page_count").get() as { page_count: number };
    return count * PAGE_BYTES;
  }

  /** False until all threads have been written to the file. */
  get complete(): boolean {
    const { value } = this.#pages.prepared("SELECT value FROM meta WHERE name = 'complete'").get() as {
      value: number;
    };
    return value === 1;
  }

  /**
   * Marks the file as incomplete. The next host that opens the file, or the next request of this host, fills it
   * again.
   */
  restart(): void {
    this.#transaction(() => this.#db.exec("UPDATE meta SET value = 0 WHERE name = 'complete'"));
  }

  finish(): void {
    this.#transaction(() => {
      this.#db.exec("UPDATE meta SET value = 1 WHERE name = 'complete'; DELETE FROM forgotten");
    });
  }

  /** Writes all valid entries. Returns the entries whose values cannot be written. */
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
    // Removes every trace: freed pages are overwritten, and the write-ahead log is emptied.
    this.#transaction(() => {
      this.#writes.forget(threadId);
      if (!this.complete) this.#writes.keepOut(threadId);
    });
    // Another process that reads may delay the checkpoint for a moment.
    const { busy } = this.#pages.prepared("PRAGMA wal_checkpoint(TRUNCATE)").get() as { busy: number };
    if (busy !== 0) throw Object.assign(new Error("database is locked"), { code: "ERR_SQLITE_ERROR" });
  }

  get(threadId: string): ThreadRow | undefined {
    const found = this.#pages
      .prepared("SELECT b.row AS row FROM threads t JOIN bodies b ON b.key = t.key WHERE t.id = ?")
      .get(threadId) as { row: string } | undefined;
    return found && (JSON.parse(found.row) as ThreadRow);
  }

  /** Returns up to `limit` threads after a key, in the order of their keys. */
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

  occurrences(query: OccurrenceQuery, plain: (answer: string) => string): OccurrencePart {
    return this.#pages.occurrences(query, plain);
  }

  /** Closes the file. A `broken` file is closed without writing anything. */
  close(broken = false): void {
    this.#pages.close();
    if (!this.#db.isOpen) return;
    // The driver closes the file only when its statements are garbage-collected, so the write-ahead log would stay.
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
      // Another host may have created the schema in between.
      if (this.#version() === 0) this.#db.exec(SCHEMA);
    });
  }
}

// The driver reports SQLite's error code for some errors, and only the text for others.
const BUSY = { codes: new Set([5, 6]), text: /(database|table|schema) is locked/ };
const BROKEN = {
  codes: new Set([11, 26]),
  text: /disk image is malformed|not a database|malformed database schema|no such (table|index|column)/,
};

const UNFIT = { codes: new Set([18, 20, 25]), text: /too big|datatype mismatch/ };

/** Whether another process is writing, so that a retry may succeed. */
export function isBusy(cause: unknown): boolean {
  return isKind(BUSY, cause);
}

/** Whether the file is unusable and a new one must be created. */
export function isBroken(cause: unknown): boolean {
  return cause instanceof OtherVersion || isKind(BROKEN, cause);
}

/**
 * Whether an entry caused the error rather than the file: a value with an unsupported type, or a value that is too
 * large.
 */
function isEntrys(cause: unknown): boolean {
  return cause instanceof TypeError || cause instanceof RangeError || isKind(UNFIT, cause);
}

function isKind(kind: typeof BUSY, cause: unknown): boolean {
  const { code, errcode, message } = cause as { code?: string; errcode?: number; message?: string };
  if (code !== "ERR_SQLITE_ERROR") return false;
  // The lowest byte is the basic error code; the rest of an extended code is the detailed reason.
  return kind.codes.has((errcode ?? 0) & 0xff) || kind.text.test(message ?? "");
}
