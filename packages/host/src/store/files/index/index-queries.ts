import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite";
import { writeCursor } from "../../list-cursor.ts";
import {
  findOccurrences,
  type ListedMessage,
  type MessageText,
  type OccurrencePart,
} from "../../occurrence-search.ts";
import type { OccurrenceQuery, SearchPage, SearchQuery, ThreadQuery, ThreadRow } from "../../thread-index.ts";
import type { Statement } from "./list-query.ts";
import { TEXT_BITS } from "./schema.ts";
import { searchStatement, snippetOf, wordsOf } from "./search-query.ts";

const MAX_STATEMENTS = 64;

/** Selects the displayed messages of a thread, without their texts. */
const MESSAGES = `SELECT key, item AS itemId, turn AS turnId, kind, place FROM texts
WHERE key BETWEEN ((SELECT key FROM threads WHERE id = ?) << ${TEXT_BITS})
AND (((SELECT key FROM threads WHERE id = ?) + 1) << ${TEXT_BITS}) - 1
AND kind <> 'other' ORDER BY place, key`;

interface StoredMessage extends ListedMessage {
  readonly key: number;
}

interface Found {
  readonly sort: number;
  readonly id: string;
  readonly row: string;
  readonly text?: number;
}

/** The queries of an open index file. */
export class IndexQueries {
  readonly #db: DatabaseSyncInstance;
  readonly #statements = new Map<string, StatementSyncInstance>();

  constructor(db: DatabaseSyncInstance) {
    this.#db = db;
  }

  page(query: ThreadQuery, statement: Statement) {
    const found = this.prepared(statement.sql).all(...statement.values) as Found[];
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

  search(query: SearchQuery): SearchPage {
    const words = wordsOf(query.searchTerm);
    if (words.length === 0) return { hits: [], nextCursor: null, backwardsCursor: null };
    const { found, ...cursors } = this.page(query, searchStatement(query, words));
    const texts = this.prepared("SELECT text, coalesce(folded, text) AS folded FROM texts WHERE key = ?");
    const hits = found.map(({ row, text }) => {
      const at = texts.get(text!) as { text: string; folded: string };
      return { row: JSON.parse(row) as ThreadRow, snippet: snippetOf(at.text, at.folded, words) };
    });
    return { hits, ...cursors };
  }

  /** Finds the occurrences of a search term. `plain`: removes the Markdown of an answer. */
  occurrences(query: OccurrenceQuery, plain: (answer: string) => string): OccurrencePart {
    const messages = this.prepared(MESSAGES).all(
      query.threadId,
      query.threadId,
    ) as unknown as StoredMessage[];
    const texts = this.prepared("SELECT text, said FROM texts WHERE key = ?");
    return findOccurrences(messages, ({ key }) => texts.get(key) as unknown as MessageText, plain, query);
  }

  prepared(sql: string): StatementSyncInstance {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    // The cache of statements is cleared when it is full. Many combinations of filters exist, but a client uses only
    // a few.
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
    const statement = this.#db.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  close(): void {
    this.#statements.clear();
  }
}

function cursor(query: ThreadQuery, at: Found, inclusive: boolean): string {
  return writeCursor(query.sortKey, { sort: at.sort, id: at.id, inclusive });
}
