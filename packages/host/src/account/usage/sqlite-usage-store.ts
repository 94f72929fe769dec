import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import type { Files } from "../../platform/platform.ts";
import type { UsageRow, UsageStore } from "./usage-store.ts";

/** How long SQLite waits for another host's write lock. */
const BUSY_MS = 250;

const SCHEMA = `
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS used (
  day TEXT NOT NULL,
  thread TEXT NOT NULL,
  provider TEXT NOT NULL,
  model TEXT NOT NULL,
  effort TEXT NOT NULL,
  input INTEGER NOT NULL,
  cached INTEGER NOT NULL,
  output INTEGER NOT NULL,
  PRIMARY KEY (day, thread, provider, model, effort)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS longest (id INTEGER PRIMARY KEY CHECK (id = 1), ms INTEGER NOT NULL);
`;

const ADD = `
INSERT INTO used VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET
  input = input + excluded.input, cached = cached + excluded.cached, output = output + excluded.output`;
const LONGEST = "INSERT INTO longest VALUES (1, ?) ON CONFLICT DO UPDATE SET ms = max(ms, excluded.ms)";

/** Stores usage in a SQLite file that all hosts of one home share. It is opened at the first use. */
export class SqliteUsageStore implements UsageStore {
  readonly #path: string;
  readonly #files: Pick<Files, "exists" | "openAppend">;
  #opening: Promise<DatabaseSyncInstance> | undefined;

  constructor(path: string, files: Pick<Files, "exists" | "openAppend">) {
    this.#path = path;
    this.#files = files;
  }

  async add(rows: readonly UsageRow[], longestTurnMs: number): Promise<void> {
    const db = await this.#open();
    db.exec("BEGIN IMMEDIATE");
    try {
      const add = db.prepare(ADD);
      for (const { day, thread, provider, model, effort, inputTokens, cachedTokens, outputTokens } of rows)
        add.run(day, thread, provider, model, effort ?? "", inputTokens, cachedTokens, outputTokens);
      if (longestTurnMs > 0) db.prepare(LONGEST).run(longestTurnMs);
      db.exec("COMMIT");
    } catch (cause) {
      // SQLite itself ends the transaction when the disk is full.
      if (db.isTransaction) db.exec("ROLLBACK");
      throw cause;
    }
  }

  async rows(): Promise<readonly UsageRow[]> {
    return (await this.#open()).prepare("SELECT * FROM used").all().map(rowOf);
  }

  async of(day: string): Promise<readonly UsageRow[]> {
    return (await this.#open()).prepare("SELECT * FROM used WHERE day = ?").all(day).map(rowOf);
  }

  async longestTurnMs(): Promise<number> {
    const found = (await this.#open()).prepare("SELECT ms FROM longest").get() as { ms: number } | undefined;
    return found?.ms ?? 0;
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    (await opening?.catch(() => undefined))?.close();
  }

  #open(): Promise<DatabaseSyncInstance> {
    this.#opening ??= this.#begin().catch((cause: unknown) => {
      // The next call tries again.
      this.#opening = undefined;
      throw cause;
    });
    return this.#opening;
  }

  async #begin(): Promise<DatabaseSyncInstance> {
    // Created first with the mode of all files in the home, so that only the user can read it.
    if (!(await this.#files.exists(this.#path))) await (await this.#files.openAppend(this.#path)).close();
    const { DatabaseSync } = await import("@photostructure/sqlite");
    const db = new DatabaseSync(this.#path, { timeout: BUSY_MS });
    try {
      db.exec(SCHEMA);
      return db;
    } catch (cause) {
      db.close();
      throw cause;
    }
  }
}

function rowOf(read: unknown): UsageRow {
  const row = read as Record<"day" | "thread" | "provider" | "model" | "effort", string> &
    Record<"input" | "cached" | "output", number>;
  return {
    day: row.day,
    thread: row.thread,
    provider: row.provider,
    model: row.model,
    effort: row.effort === "" ? null : row.effort,
    inputTokens: row.input,
    cachedTokens: row.cached,
    outputTokens: row.output,
  };
}
