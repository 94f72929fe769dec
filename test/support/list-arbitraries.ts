// Random rows and queries of lists, for tests that compare a list with the reference implementation.
import type { SessionSource } from "@bobbin/protocol";
import fc from "fast-check";
import type { ThreadQuery, ThreadRow } from "../../packages/host/src/store/thread-index.ts";
import { sampleQuery, sampleRow } from "./sample-rows.ts";

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
const id = fc
  .integer({ min: 0, max: 25 })
  .map((n) => `00000000-0000-7000-8000-${String(n).padStart(12, "0")}`);
const section = one("s1", "s2");

/** A row of one of few threads, so that rows are related, and many have the same sort value. */
export const listRow: fc.Arbitrary<ThreadRow> = fc
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
/** A query with any filters. */
export const listQuery: fc.Arbitrary<ThreadQuery> = fc
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
/** A query with at most two filters, because a query with many filters mostly finds nothing. */
export const fewFilters = fc
  .tuple(
    listQuery,
    fc.subarray(["cwds", "sourceKinds", "sectionId", "owner", "ancestorThreadId"] as const, { maxLength: 2 }),
  )
  .map(([{ sortKey, sortDirection, limit, archived, knownSections, ...filters }, kept]) => {
    const chosen = Object.fromEntries(kept.map((name) => [name, filters[name]]));
    return sampleQuery({ sortKey, sortDirection, limit, archived, knownSections, ...chosen });
  });
