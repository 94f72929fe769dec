import { order, pageLimit, rowConditions, type Statement } from "./list-query.ts";
import { SORT_COLUMNS, TEXT_BITS } from "./schema.ts";
import { segmented, withoutSegments } from "./segments.ts";
import { sourceFilter } from "./source-kind.ts";
import type { SearchQuery } from "./thread-index.ts";

/**
 * All words must be in one text, the last one may be a beginning. Each is quoted, so that nothing of it is
 * syntax. Undefined if there is nothing to look for.
 */
export function matchExpression(searchTerm: string): string | undefined {
  // What the tokenizer keeps: letters, digits, and what people defined for themselves. Here and not above: such a set
  // takes long to make.
  const hasToken = /[\p{L}\p{N}\p{Co}]/u;
  const words = searchTerm.split(/[\s\p{Cc}]+/u).filter((word) => hasToken.test(word));
  if (words.length === 0) return undefined;
  return `${words.map((word) => `"${segmented(word).replaceAll('"', '""')}"`).join(" ")}*`;
}

/** The first text of each thread that matches, and the thread, in the order that was asked for. */
export function searchStatement(query: SearchQuery, match: string): Statement {
  const related = query.parentThreadId !== undefined || query.ancestorThreadId !== undefined;
  const source = sourceFilter(query.sourceKinds, related);
  const where = rowConditions({ ...query, searchTerm: undefined }, source);
  if (query.cwds !== undefined) where.among("t.cwd", query.cwds);
  if (source.interactive.length === 1) where.and("t.interactive = ?", source.interactive[0]!);
  if (query.parentThreadId !== undefined) where.and("t.parent = ?", query.parentThreadId);
  if (query.ancestorThreadId !== undefined) {
    where.and(
      `t.id IN (WITH RECURSIVE family(id) AS (SELECT id FROM threads WHERE parent = ?
UNION SELECT child.id FROM family JOIN threads child ON child.parent = family.id) SELECT id FROM family)`,
      query.ancestorThreadId,
    );
    where.and("t.id <> ?", query.ancestorThreadId);
  }
  // The rows' bodies come last: a word that is everywhere has as many hits as there are texts.
  return {
    sql: `WITH hits AS MATERIALIZED (
SELECT rowid >> ${TEXT_BITS} AS thread, min(rowid) AS text FROM found WHERE found MATCH ? GROUP BY 1),
page AS MATERIALIZED (
SELECT t.${SORT_COLUMNS[query.sortKey]} AS sort, t.id AS id, t.key AS key, hits.text AS text
FROM hits CROSS JOIN threads t ON t.key = hits.thread
WHERE ${where.parts.join(" AND ")}\n${order(query)})
SELECT page.sort AS sort, page.id AS id, b.row AS row, page.text AS text
FROM page CROSS JOIN bodies b ON b.key = page.key ${order(query)}`,
    values: [match, ...where.values, pageLimit(query), pageLimit(query)],
  };
}

// Marks that no text shows; they tell where the hit is.
export const SNIPPET =
  "SELECT snippet(found, 0, char(1), char(2), '…', 64) AS snippet FROM found WHERE found MATCH ? AND rowid = ?";
const BEFORE = 120;
const LENGTH = 360;

/** One line of plain text around the hit, bounded also where a word is as long as a book. */
export function plainSnippet(marked: string): string {
  const line = withoutSegments(marked).replace(/\s+/gu, " ").trim();
  const hit = Math.max(0, line.indexOf("\u0001"));
  const start = hit <= BEFORE ? 0 : hit - BEFORE;
  const cut = line.slice(start, start + LENGTH);
  const text = cut.replace(/\p{Cc}|\p{Surrogate}/gu, "");
  return `${start > 0 ? "…" : ""}${text}${start + LENGTH < line.length ? "…" : ""}`;
}
