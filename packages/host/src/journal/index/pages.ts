import type { DatabaseSyncInstance, StatementSyncInstance } from "@photostructure/sqlite";
import { writeCursor } from "./cursor.ts";
import type { Statement } from "./list-query.ts";
import { searchStatement, snippetOf, wordsOf } from "./search-query.ts";
import type { SearchPage, SearchQuery, ThreadQuery, ThreadRow } from "./thread-index.ts";

const MAX_STATEMENTS = 64;

interface Found {
  readonly sort: number;
  readonly id: string;
  readonly row: string;
  readonly text?: number;
}

/** What an open index file is asked, page by page. */
export class Pages {
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

  prepared(sql: string): StatementSyncInstance {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    // Filters come in many combinations, but a client uses few of them.
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
