import type { DatabaseSyncInstance } from "@photostructure/sqlite";
import { folded } from "./fold.ts";
import { TEXT_BITS } from "./schema.ts";
import { isInteractive, kindOf } from "./source-kind.ts";
import type { IndexedText, ThreadRow } from "./thread-index.ts";

/** What waits to be written about one thread. */
export interface Entry {
  readonly row: ThreadRow;
  readonly texts: readonly IndexedText[];
  readonly goneTurns?: readonly string[];
}

/** Rows without a place in a section sort before all that have one. */
const NO_POSITION = -(2 ** 52);
// Names and previews are found too; they are kept among the texts under items that no thread can have.
const NAME = ":name";
const PREVIEW = ":preview";

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

/** The statements that change an index. They run inside a transaction that the store opens. */
export class StoreWrites {
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
    this.#putText = db.prepare("INSERT INTO texts(key, item, turn, text, folded) VALUES(?, ?, ?, ?, ?)");
    this.#dropTexts = db.prepare(
      `DELETE FROM texts WHERE ${IN_THREAD} AND (?2 IS NULL OR item = ?2) AND (?3 IS NULL OR turn = ?3)`,
    );
    this.#dropRow = db.prepare("DELETE FROM threads WHERE key = ?");
    this.#dropBody = db.prepare("DELETE FROM bodies WHERE key = ?");
    this.#isForgotten = db.prepare("SELECT 1 FROM forgotten WHERE id = ?");
  }

  put(entry: Entry): void {
    const { row, texts } = entry;
    // While the index is being rebuilt, a thread that was deleted since may still come out of the journals.
    if (this.#isForgotten.get(row.id) !== undefined) return;
    const known = this.#find.get(row.id) as Known | undefined;
    const key = known?.key ?? Number(this.#insert.run(...columnsOf(row)).lastInsertRowid);
    const newest = known === undefined || row.seq >= known.seq;
    if (newest) {
      if (known !== undefined) this.#update.run(...columnsOf(row), key);
      this.#putBody.run(key, JSON.stringify(row));
    }
    for (const text of texts) this.#putItem(key, text.itemId, text.turnId, text.text);
    for (const turn of entry.goneTurns ?? []) this.#dropTexts.run(key, null, turn);
    if (!newest) return;
    const { name, preview } = row.thread;
    if (name !== (known?.name ?? null)) this.#putItem(key, NAME, "", name ?? "");
    if (preview !== (known?.preview ?? "")) this.#putItem(key, PREVIEW, "", preview);
  }

  forget(threadId: string): void {
    const known = this.#find.get(threadId) as Known | undefined;
    if (known === undefined) return;
    this.#dropTexts.run(known.key, null, null);
    this.#dropBody.run(known.key);
    this.#dropRow.run(known.key);
  }

  #putItem(thread: number, item: string, turn: string, given: string): void {
    // Letters and their accents as one: so they are looked for, too.
    const text = given.normalize();
    const known = this.#itemText.get(thread, item) as { text: string } | undefined;
    if (known?.text === text) return;
    if (known !== undefined) this.#dropTexts.run(thread, item, null);
    if (text === "") return;
    const { last } = this.#lastText.get(thread) as { last: number };
    this.#putText.run(last + 1, item, turn, text, folded(text));
  }
}

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
