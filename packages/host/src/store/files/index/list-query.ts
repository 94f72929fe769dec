import { readCursor } from "../../list-cursor.ts";
import { type SourceFilter, sourceFilter } from "../../source-kind.ts";
import type { ThreadQuery } from "../../thread-index.ts";
import { hasOwnerIndex, OWNER_INDEXED, SORT_COLUMNS } from "./schema.ts";

type Value = string | number | null;

export interface Statement {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** A conjunction of SQL conditions, with their values. */
class Where {
  readonly parts: string[] = [];
  readonly values: Value[] = [];

  and(part: string, ...values: Value[]): this {
    this.parts.push(part);
    this.values.push(...values);
    return this;
  }

  /** A list is passed as one JSON value, so that one prepared statement serves any length. */
  among(column: string, list: readonly string[], not = ""): this {
    return this.and(`${column} ${not} IN (SELECT value FROM json_each(?))`, JSON.stringify(list));
  }
}

// Limit on the branches of the merge below, one per folder. With more folders, reading all rows in order of time and
// filtering them is as fast.
const MAX_BRANCHES = 16;

/** Selects one page, and one more row that shows whether there is a next page. */
export function listStatement(query: ThreadQuery): Statement {
  const scope = scopeOf(query);
  const branches = scope.branches.map((branch) => {
    const where = rowConditions(query, scope.source);
    if (query.cwds !== undefined && !scope.byCwd) where.among("t.cwd", query.cwds);
    for (const [part, ...values] of branch) where.and(part, ...values);
    return {
      sql: `SELECT t.${SORT_COLUMNS[query.sortKey]} AS sort, t.id AS id, b.row AS row
FROM ${scope.from} JOIN bodies b ON b.key = t.key WHERE ${where.parts.join(" AND ")}`,
      values: where.values,
    };
  });
  return {
    sql: `${scope.with}${branches.map(({ sql }) => sql).join("\nUNION ALL\n")}\n${order(query)}`,
    values: [...scope.values, ...branches.flatMap(({ values }) => values), pageLimit(query)],
  };
}

export function order(query: Pick<ThreadQuery, "sortDirection">): string {
  const direction = query.sortDirection === "asc" ? "ASC" : "DESC";
  return `ORDER BY 1 ${direction}, 2 ${direction} LIMIT ?`;
}

export function pageLimit(query: Pick<ThreadQuery, "limit">): number {
  return Math.max(1, Math.floor(query.limit)) + 1;
}

type Condition = readonly [string, ...Value[]];

interface Scope {
  readonly with: string;
  readonly values: readonly Value[];
  readonly from: string;
  /** Each branch returns rows in the order of its index. SQLite merges the branches and stops at the limit. */
  readonly branches: readonly (readonly Condition[])[];
  readonly source: SourceFilter;
  readonly byCwd: boolean;
}

/**
 * Chooses the rows to read: the smallest set that an index provides. A set that may be large is read in the requested
 * order.
 */
function scopeOf(query: ThreadQuery): Scope {
  const related = query.parentThreadId !== undefined || query.ancestorThreadId !== undefined;
  const source = sourceFilter(query.sourceKinds, related);
  // The descendants of a thread, or the threads of a section, are few: they are all read and sorted.
  const small = (from: string, conditions: Condition[], extra?: Partial<Scope>): Scope => {
    const kinds: Condition[] =
      source.interactive.length === 1 ? [["t.interactive = ?", source.interactive[0]!]] : [];
    return {
      with: "",
      values: [],
      from,
      branches: [[...conditions, ...kinds]],
      source,
      byCwd: false,
      ...extra,
    };
  };
  if (query.parentThreadId !== undefined) {
    return small("threads t INDEXED BY threads_parent", [["t.parent = ?", query.parentThreadId]]);
  }
  if (query.ancestorThreadId !== undefined) {
    const ancestor = query.ancestorThreadId;
    return small("family CROSS JOIN threads t ON t.id = family.id", [["t.id <> ?", ancestor]], {
      with: `WITH RECURSIVE family(id) AS (SELECT id FROM threads WHERE parent = ?
UNION SELECT child.id FROM family JOIN threads child ON child.parent = family.id)\n`,
      values: [ancestor],
    });
  }
  if (typeof query.sectionId === "string") {
    return small("threads t INDEXED BY threads_section", []);
  }
  if (query.sortKey === "section_position") return small("threads t", []);

  const time = SORT_COLUMNS[query.sortKey];
  const each = (index: string, sets: readonly (readonly Condition[])[]): Scope => ({
    with: "",
    values: [],
    from: `threads t INDEXED BY ${index}_${time}`,
    branches: source.interactive.flatMap((flag) =>
      sets.map((set): Condition[] => [...set, ["t.interactive = ?", flag]]),
    ),
    source,
    byCwd: index === "threads_cwd",
  });
  if (query.owner !== undefined && hasOwnerIndex(query.owner)) {
    return each("threads_owner", [[[`t.${OWNER_INDEXED}`]]]);
  }
  const cwds = [...new Set(query.cwds ?? [])];
  if (cwds.length > 0 && cwds.length <= MAX_BRANCHES) {
    return each(
      "threads_cwd",
      cwds.map((cwd): Condition[] => [["t.cwd = ?", cwd]]),
    );
  }
  return each("threads", [[]]);
}

/** Conditions that every row must meet, whichever branch it comes from. */
export function rowConditions(query: ThreadQuery, source: SourceFilter): Where {
  const where = new Where().and("t.archived = ?", query.archived ? 1 : 0);
  const byPlace = query.parentThreadId ?? query.ancestorThreadId ?? query.sectionId;
  where.and(byPlace == null ? "t.shown = 1" : "t.shown >= 0");
  if (source.kinds !== undefined) where.among("t.kind", source.kinds);
  if (query.owner !== undefined) where.and("t.owner = ?", query.owner);
  if (query.modelProviders?.length) where.among("t.provider", query.modelProviders);
  if (query.originators?.length) where.among("t.originator", query.originators);
  if (query.excludedThreadIds?.length) where.among("t.id", query.excludedThreadIds, "NOT");
  sectionConditions(query, where);
  if (query.searchTerm) {
    where.and(
      "(instr(coalesce(t.name, ''), ?) > 0 OR instr(t.preview, ?) > 0)",
      query.searchTerm,
      query.searchTerm,
    );
  }
  if (query.cursor !== undefined) {
    const place = readCursor(query.sortKey, query.cursor);
    const beyond = `${query.sortDirection === "asc" ? ">" : "<"}${place.inclusive ? "=" : ""}`;
    where.and(`(t.${SORT_COLUMNS[query.sortKey]}, t.id) ${beyond} (?, ?)`, place.sort, place.id);
  }
  return where;
}

function sectionConditions(query: ThreadQuery, where: Where): void {
  const { sectionId, knownSections } = query;
  if (sectionId === undefined) return;
  if (sectionId !== null) {
    where.and("t.section = ?", sectionId);
    // A parameter instead of a constant: with `AND 0`, SQLite finds no plan with the index that the query names.
    if (knownSections?.includes(sectionId) === false) where.and("?", 0);
  } else if (knownSections === undefined) {
    where.and("t.section IS NULL");
  } else {
    const known = JSON.stringify(knownSections);
    where.and("(t.section IS NULL OR t.section NOT IN (SELECT value FROM json_each(?)))", known);
  }
}
