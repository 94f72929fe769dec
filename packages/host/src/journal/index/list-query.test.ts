import type { SessionSource } from "@bobbin/protocol";
import { DatabaseSync } from "@photostructure/sqlite";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { listStatement } from "./list-query.ts";
import { referenceList } from "./reference-index.ts";
import { sampleQuery, sampleRow } from "./sample-rows.ts";
import { SCHEMA } from "./schema.ts";
import { Store } from "./store.ts";
import { StoreWrites } from "./store-writes.ts";
import type { ThreadQuery, ThreadRow } from "./thread-index.ts";

const one = <const T>(...values: T[]) => fc.constantFrom(...values);
const SOURCES: SessionSource[] = [
  "cli",
  "vscode",
  "exec",
  "appServer",
  "unknown",
  { custom: "atlas" },
  { custom: "else" },
  { subAgent: "review" },
  { subAgent: "memory_consolidation" },
  { subAgent: { other: "x" } },
];
const KINDS = [
  "cli",
  "vscode",
  "exec",
  "appServer",
  "subAgent",
  "subAgentReview",
  "subAgentOther",
  "unknown",
];
const time = fc.integer({ min: 1, max: 4 });
const owner = one("local", "local", "subject:a", "subject:b");
const id = fc.integer({ min: 0, max: 25 }).map((n) => `t${String(n).padStart(2, "0")}`);
const section = one("s1", "s2");

const row: fc.Arbitrary<ThreadRow> = fc
  .record({
    id,
    owner,
    archived: fc.boolean(),
    listed: fc.boolean(),
    createdAt: time,
    updatedAt: time,
    recencyAt: time,
    parentThreadId: fc.option(id),
    sectionId: fc.option(section),
    sectionPosition: fc.option(time),
    thread: fc.record({
      source: one(...SOURCES),
      cwd: one("/a", "/b", "/c"),
      modelProvider: one("p", "q"),
      originator: one("o1", "o2", null),
      ephemeral: fc.boolean(),
      name: one(null, "Alpha", "beta"),
      preview: one("", "alphabet", "Beta x"),
    }),
  })
  .map(({ id, ...fields }) => sampleRow(id, fields));

const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 2 });
const query: fc.Arbitrary<ThreadQuery> = fc
  .record({
    owner: maybe(owner),
    archived: fc.boolean(),
    modelProviders: maybe(fc.subarray(["p", "q"])),
    sourceKinds: maybe(fc.subarray(KINDS)),
    cwds: maybe(fc.subarray(["/a", "/b", "/z"])),
    searchTerm: maybe(one("", "lpha", "Beta", "nowhere")),
    sectionId: maybe(fc.option(section)),
    knownSections: maybe(fc.subarray(["s1", "s2"])),
    originators: maybe(fc.subarray(["o1", "o2"])),
    excludedThreadIds: maybe(fc.array(id, { maxLength: 3 })),
    parentThreadId: maybe(id),
    ancestorThreadId: maybe(id),
    sortKey: one("created_at", "updated_at", "recency_at", "section_position"),
    sortDirection: one("asc", "desc"),
    limit: fc.integer({ min: 1, max: 6 }),
  })
  .map((fields) => sampleQuery(fields.parentThreadId ? { ...fields, ancestorThreadId: undefined } : fields));
/** Most of the filters at once find nothing; so mostly a few of them. */
const fewFilters = fc
  .tuple(
    query,
    fc.subarray(["cwds", "sourceKinds", "sectionId", "owner", "ancestorThreadId"] as const, { maxLength: 2 }),
  )
  .map(([{ sortKey, sortDirection, limit, archived, knownSections, ...filters }, kept]) => {
    const chosen = Object.fromEntries(kept.map((name) => [name, filters[name]]));
    return sampleQuery({ sortKey, sortDirection, limit, archived, knownSections, ...chosen });
  });

function filled(rows: Iterable<ThreadRow>): Store {
  const store = new Store(DatabaseSync, ":memory:");
  store.write([...rows].map((row) => ({ row, texts: [] })));
  return store;
}

/** All pages from a cursor on. */
function walk(store: Store, query: ThreadQuery): { ids: string[]; back: string[] } {
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
    const questions = fc.array(fc.oneof(query, fewFilters, fewFilters), { minLength: 10, maxLength: 10 });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40 }), questions, (written, queries) => {
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
    const writes = new StoreWrites(db);
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
