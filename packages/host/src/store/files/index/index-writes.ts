import { createHash } from "node:crypto";
import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import { isInteractive, kindOf } from "../../source-kind.ts";
import type { IndexedText, ThreadRow } from "../../thread-index.ts";
import { TEXT_BITS } from "./schema.ts";
import { folded } from "./text-folding.ts";

/** Pending data of one thread. */
export interface Entry {
  readonly row: ThreadRow;
  readonly texts: readonly IndexedText[];
  readonly goneTurns?: readonly string[];
}

/** Sort key of rows without a position in their section. They sort first. */
const NO_POSITION = -(2 ** 52);
// Names and previews are searchable, too. They are stored as texts, with item IDs that no item can have.
const NAME = ":name";
const PREVIEW = ":preview";

type KeptText = Omit<IndexedText, "role" | "at">;

const OF_THREAD = { turnId: "", kind: "other", place: 0 } as const;

const COLUMNS =
  "id, seq, owner, archived, shown, interactive, kind, created, updated, recency, position, section, parent, provider, originator, cwd, name, preview".split(
    ", ",
  );
const IN_THREAD = `key BETWEEN (?1 << ${TEXT_BITS}) AND ((?1 + 1) << ${TEXT_BITS}) - 1`;

interface Known {
  readonly key: number;
  readonly seq: number;
  readonly name: string | null;
  readonly preview: string | null;
}

/** The statements that change an index. They run inside a transaction of the caller. */
export class IndexWrites {
  readonly #find;
  readonly #insert;
  readonly #update;
  readonly #putBody;
  readonly #itemText;
  readonly #lastText;
  readonly #putText;
  readonly #dropTexts;
  readonly #dropRow;
  readonly #dropBody;
  readonly #isForgotten;
  readonly #putForgotten;

  constructor(db: DatabaseSyncInstance) {
    this.#find = db.prepare("SELECT key, seq, name, preview FROM threads WHERE id = ?");
    this.#insert = db.prepare(
      `INSERT INTO threads(${COLUMNS.join(", ")}) VALUES(${COLUMNS.map(() => "?").join(", ")})`,
    );
    this.#update = db.prepare(
      `UPDATE threads SET (${COLUMNS.join(", ")}) = (${COLUMNS.map(() => "?").join(", ")}) WHERE key = ?`,
    );
    this.#putBody = db.prepare("INSERT OR REPLACE INTO bodies(key, row) VALUES(?, ?)");
    this.#itemText = db.prepare(`SELECT text FROM texts WHERE item = ?2 AND ${IN_THREAD}`);
    this.#lastText = db.prepare(
      `SELECT coalesce(max(key), (?1 << ${TEXT_BITS}) - 1) AS last FROM texts WHERE ${IN_THREAD}`,
    );
    this.#putText = db.prepare(
      "INSERT INTO texts(key, item, turn, kind, place, text, folded, said) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
    );
    this.#dropTexts = db.prepare(
      `DELETE FROM texts WHERE ${IN_THREAD} AND (?2 IS NULL OR item = ?2) AND (?3 IS NULL OR turn = ?3)`,
    );
    this.#dropRow = db.prepare("DELETE FROM threads WHERE key = ?");
    this.#dropBody = db.prepare("DELETE FROM bodies WHERE key = ?");
    this.#isForgotten = db.prepare("SELECT 1 FROM forgotten WHERE id = ?");
    this.#putForgotten = db.prepare("INSERT OR IGNORE INTO forgotten VALUES(?)");
  }

  put(entry: Entry): void {
    const { row, texts } = entry;
    // The thread was deleted during a rebuild, which may still read its journal.
    if (this.#isForgotten.get(digestOf(row.id)) !== undefined) return;
    const known = this.#find.get(row.id) as Known | undefined;
    const key = known?.key ?? Number(this.#insert.run(...columnsOf(row)).lastInsertRowid);
    const newest = known === undefined || row.seq >= known.seq;
    if (newest) {
      if (known !== undefined) this.#update.run(...columnsOf(row), key);
      this.#putBody.run(key, JSON.stringify(row));
    }
    for (const text of texts) this.#putItem(key, text);
    for (const turn of entry.goneTurns ?? []) this.#dropTexts.run(key, null, turn);
    if (!newest) return;
    const { name, preview } = row.thread;
    if (name !== (known?.name ?? null)) this.#putItem(key, { ...OF_THREAD, itemId: NAME, text: name ?? "" });
    if (preview !== (known?.preview ?? ""))
      this.#putItem(key, { ...OF_THREAD, itemId: PREVIEW, text: preview });
  }

  forget(threadId: string): void {
    const known = this.#find.get(threadId) as Known | undefined;
    if (known === undefined) return;
    this.#dropTexts.run(known.key, null, null);
    this.#dropBody.run(known.key);
    this.#dropRow.run(known.key);
  }

  /** Keeps a deleted thread out of an index that is being filled. Only a digest of the thread's ID is stored. */
  keepOut(threadId: string): void {
    this.#putForgotten.run(digestOf(threadId));
  }

  #putItem(thread: number, entry: KeptText): void {
    const { itemId, turnId, kind, place, said } = entry;
    // Composes letters and accents (NFC), as searches do.
    const text = entry.text.normalize();
    const known = this.#itemText.get(thread, itemId) as { text: string } | undefined;
    if (known?.text === text) return;
    if (known !== undefined) this.#dropTexts.run(thread, itemId, null);
    if (text === "") return;
    const { last } = this.#lastText.get(thread) as { last: number };
    const shown = said?.normalize() ?? null;
    this.#putText.run(last + 1, itemId, turnId, kind, place, text, folded(text), shown);
  }
}

const digestOf = (threadId: string): string => createHash("sha256").update(threadId).digest("base64url");

function columnsOf(row: ThreadRow): (string | number | null)[] {
  const { thread } = row;
  const shown = row.listed ? 1 : thread.ephemeral ? -1 : 0;
  return [
    row.id,
    row.seq,
    row.owner,
    row.archived ? 1 : 0,
    shown,
    isInteractive(thread.source) ? 1 : 0,
    kindOf(thread.source),
    row.createdAt,
    row.updatedAt,
    row.recencyAt,
    row.sectionPosition ?? NO_POSITION,
    row.sectionId,
    row.parentThreadId,
    thread.modelProvider,
    thread.originator,
    thread.cwd,
    thread.name,
    thread.preview,
  ];
}
