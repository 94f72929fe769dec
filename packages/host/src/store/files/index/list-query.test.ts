import { DatabaseSync } from "@photostructure/sqlite";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fewFilters, listQuery, listRow } from "../../../../../../test/support/list-arbitraries.ts";
import { referenceList } from "../../../../../../test/support/reference-list.ts";
import { sampleQuery, sampleRow } from "../../../../../../test/support/sample-rows.ts";
import type { ThreadQuery, ThreadRow } from "../../thread-index.ts";
import { IndexFile } from "./index-file.ts";
import { IndexWrites } from "./index-writes.ts";
import { listStatement } from "./list-query.ts";
import { SCHEMA } from "./schema.ts";

function filled(rows: Iterable<ThreadRow>): IndexFile {
  const store = new IndexFile(DatabaseSync, ":memory:");
  store.write([...rows].map((row) => ({ row, texts: [] })));
  return store;
}

/** All pages from a cursor on. */
function walk(store: IndexFile, query: ThreadQuery): { ids: string[]; back: string[] } {
  const ids: string[] = [];
  const back: string[] = [];
  for (let cursor = query.cursor; ; ) {
    const page = store.list({ ...query, cursor });
    expect(page.rows.length).toBeLessThanOrEqual(query.limit);
    ids.push(...page.rows.map(({ id }) => id));
    if (page.backwardsCursor !== null) back.push(page.backwardsCursor);
    if (page.nextCursor === null) return { ids, back };
    cursor = page.nextCursor;
  }
}

describe("a list", () => {
  it("is what the plain reference says, page by page, there and back", () => {
    const questions = fc.array(fc.oneof(listQuery, fewFilters, fewFilters), { minLength: 10, maxLength: 10 });
    fc.assert(
      fc.property(fc.array(listRow, { maxLength: 40 }), questions, (written, queries) => {
        const rows = [...new Map(written.map((row) => [row.id, row])).values()];
        const store = filled(written);
        for (const query of queries) {
          const expected = referenceList(rows, query).map(({ id }) => id);
          const { ids, back } = walk(store, query);
          expect(ids).toEqual(expected);
          const other = query.sortDirection === "asc" ? ("desc" as const) : ("asc" as const);
          for (const [page, cursor] of back.entries()) {
            const before = expected.slice(0, page * query.limit + 1).toReversed();
            expect(walk(store, { ...query, sortDirection: other, cursor }).ids).toEqual(before);
          }
        }
        store.close();
      }),
      { numRuns: 150 },
    );
  });
});

describe("the usual lists", () => {
  const usual: Record<string, Partial<ThreadQuery>> = {
    "by creation": {},
    "by update": { sortKey: "updated_at" },
    "by recency, oldest first": { sortKey: "recency_at", sortDirection: "asc" },
    "of one folder": { cwds: ["/work"] },
    "of three folders": { cwds: ["/work", "/a", "/b"] },
    "of someone": { owner: "subject:a" },
    "of the machine's own": { owner: "local" },
    "of all kinds": { sourceKinds: ["cli", "vscode", "exec", "subAgent"] },
    "of one provider": { modelProviders: ["mock"] },
    "of no section": { sectionId: null, knownSections: ["s1"] },
  };

  function opened(count: number) {
    const db = new DatabaseSync(":memory:");
    db.exec(SCHEMA);
    const writes = new IndexWrites(db);
    db.exec("BEGIN");
    for (let n = 0; n < count; n++) {
      // Many share a second, and one in ten is not for lists.
      const row = sampleRow(`t${String(n).padStart(6, "0")}`, {
        createdAt: Math.floor(n / 100),
        owner: n % 2 === 0 ? "local" : "subject:a",
        thread: { source: n % 10 === 0 ? "exec" : "cli", cwd: n % 3 === 0 ? "/a" : "/work", preview: "" },
      });
      writes.put({ row, texts: [] });
    }
    db.exec("COMMIT");
    return db;
  }

  it("are read from an index in their order, with and without a cursor", () => {
    const db = opened(500);
    for (const [name, fields] of Object.entries(usual)) {
      const query = sampleQuery({ limit: 10, ...fields });
      const cursor = Buffer.from(JSON.stringify([query.sortKey, 3, "t000300", 0])).toString("base64url");
      for (const asked of [query, { ...query, cursor }]) {
        const { sql, values } = listStatement(asked);
        const plan = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[];
        const steps = plan.map(({ detail }) => detail).join("\n");
        expect(steps, name).not.toMatch(/TEMP B-TREE|SCAN t\b|SCAN b\b/);
        expect(steps, name).toMatch(/SEARCH t USING (COVERING )?INDEX threads_/);
        if (asked.cursor !== undefined) expect(steps, name).toMatch(/\(\w+,id\)[<>]\(\?,\?\)/);
      }
    }
    db.close();
  });

  it("look at as many rows among many threads as among few", () => {
    const looks = (count: number) => {
      const db = opened(count);
      let seen = 0;
      db.function("seen", (row: string) => {
        seen++;
        return row;
      });
      const counts = Object.entries(usual).map(([name, fields]) => {
        seen = 0;
        const { sql, values } = listStatement(sampleQuery(fields));
        const found = db.prepare(sql.replaceAll("b.row AS row", "seen(b.row) AS row")).all(...values);
        expect(found, name).toHaveLength(51);
        return [name, seen] as const;
      });
      db.close();
      return Object.fromEntries(counts);
    };
    const few = looks(1000);
    expect(looks(20_000)).toEqual(few);
    for (const [name, count] of Object.entries(few)) expect(count, name).toBeLessThan(60);
  });
});
