import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite";
import { writeCursor } from "./cursor.ts";
import { listStatement, type Statement } from "./list-query.ts";
import { SCHEMA, SCHEMA_VERSION } from "./schema.ts";
import { matchExpression, plainSnippet, SNIPPET, searchStatement } from "./search-query.ts";
import { type Entry, StoreWrites } from "./store-writes.ts";
import type { SearchPage, SearchQuery, ThreadPage, ThreadQuery, ThreadRow } from "./thread-index.ts";

type Open = new (path: string, options: { readonly timeout: number }) => DatabaseSyncInstance;

/** Short, because the event loop waits with it; whoever calls tries again later. */
const BUSY_MS = 20;
const MAX_STATEMENTS = 64;

/** The file is of another version: as useless as a corrupt one. */
class OtherVersion extends Error {}

interface Found {
  readonly sort: number;
  readonly id: string;
  readonly row: string;
  readonly text?: number;
}

/** One open index file. All calls are synchronous: a page takes less time than a trip to another thread. */
export class Store {
  readonly #db: DatabaseSyncInstance;
  readonly #writes: StoreWrites;
  readonly #statements = new Map<string, StatementSyncInstance>();

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
    } catch (cause) {
      this.#db.close();
      throw cause;
    }
  }

  /** False while nobody has finished to fill it. */
  get complete(): boolean {
    const { value } = this.#prepared("SELECT value FROM meta WHERE name = 'complete'").get() as {
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

  write(entries: Iterable<Entry>): void {
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
      if (!this.complete) this.#prepared("INSERT OR IGNORE INTO forgotten VALUES(?)").run(threadId);
    });
    this.#prepared("PRAGMA wal_checkpoint(TRUNCATE)").all();
  }

  get(threadId: string): ThreadRow | undefined {
    const found = this.#prepared(
      "SELECT b.row AS row FROM threads t JOIN bodies b ON b.key = t.key WHERE t.id = ?",
    ).get(threadId) as { row: string } | undefined;
    return found && (JSON.parse(found.row) as ThreadRow);
  }

  ids(): string[] {
    return (this.#prepared("SELECT id FROM threads").all() as { id: string }[]).map(({ id }) => id);
  }

  list(query: ThreadQuery): ThreadPage {
    const { found, ...cursors } = this.#page(query, listStatement(query));
    return { rows: found.map(({ row }) => JSON.parse(row) as ThreadRow), ...cursors };
  }

  search(query: SearchQuery): SearchPage {
    const match = matchExpression(query.searchTerm);
    if (match === undefined) return { hits: [], nextCursor: null, backwardsCursor: null };
    const { found, ...cursors } = this.#page(query, searchStatement(query, match));
    const snippet = this.#prepared(SNIPPET);
    const hits = found.map(({ row, text }) => {
      const { snippet: marked } = snippet.get(match, text!) as { snippet: string };
      return { row: JSON.parse(row) as ThreadRow, snippet: plainSnippet(marked) };
    });
    return { hits, ...cursors };
  }

  /** `broken`: nothing of it is written back any more. */
  close(broken = false): void {
    this.#statements.clear();
    if (!this.#db.isOpen) return;
    // The driver lets go of the file only when its statements are collected, so the log would stay as it is.
    if (!broken) this.#db.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    this.#db.close();
  }

  #page(query: ThreadQuery, statement: Statement) {
    const found = this.#prepared(statement.sql).all(...statement.values) as Found[];
    const more = found.length === statement.values.at(-1);
    if (more) found.pop();
    const first = found[0];
    const last = found.at(-1);
    return {
      found,
      nextCursor: more && last !== undefined ? cursor(query, last, false) : null,
      backwardsCursor: first === undefined ? null : cursor(query, first, true),
    };
  }

  #prepared(sql: string): StatementSyncInstance {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    // Filters come in many combinations, but a client uses few of them.
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
    const statement = this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
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

function cursor(query: ThreadQuery, at: Found, inclusive: boolean): string {
  return writeCursor(query.sortKey, { sort: at.sort, id: at.id, inclusive });
}

// The driver gives SQLite's code with some errors and only its text with others.
const BUSY = { codes: new Set([5, 6]), text: /(database|table|schema) is locked/ };
const BROKEN = {
  codes: new Set([11, 26]),
  text: /disk image is malformed|not a database|malformed database schema|no such (table|index|column)/,
};

/** Somebody else writes: try again. */
export function isBusy(cause: unknown): boolean {
  return tells(BUSY, cause);
}

/** The file cannot be trusted any more; a new one is made. */
export function isBroken(cause: unknown): boolean {
  return cause instanceof OtherVersion || tells(BROKEN, cause);
}

function tells(kind: typeof BUSY, cause: unknown): boolean {
  const { code, errcode, message } = cause as { code?: string; errcode?: number; message?: string };
  if (code !== "ERR_SQLITE_ERROR") return false;
  // Extended codes carry the reason above the lowest byte.
  return kind.codes.has((errcode ?? 0) & 0xff) || kind.text.test(message ?? "");
}
