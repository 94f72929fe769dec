import { sourceFilter } from "../../source-kind.ts";
import type { SearchQuery } from "../../thread-index.ts";
import { order, pageLimit, rowConditions, type Statement } from "./list-query.ts";
import { SORT_COLUMNS, TEXT_BITS } from "./schema.ts";
import { folded } from "./text-folding.ts";

/** Limits on a search term: the number of its words, and the characters of one word. */
const MAX_WORDS = 16;
const MAX_WORD = 500;

/**
 * Splits a search term into words. A hit contains all of these words, in any order, and also as parts of other words.
 */
export function wordsOf(searchTerm: string): readonly string[] {
  return searchTerm
    .normalize()
    .split(/[\s\p{Cc}]+/u)
    .filter((word) => word !== "")
    .slice(0, MAX_WORDS)
    .map((word) => folded(word.slice(0, MAX_WORD)) ?? word.slice(0, MAX_WORD));
}

/** Selects the matching threads in the requested order, each with its first matching text. */
export function searchStatement(query: SearchQuery, words: readonly string[]): Statement {
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
  // The bodies are joined last, because a common word may match every text.
  return {
    sql: `WITH hits AS MATERIALIZED (
SELECT key >> ${TEXT_BITS} AS thread, min(key) AS text FROM texts WHERE ${words.map(() => LIKE).join(" AND ")}
GROUP BY 1),
page AS MATERIALIZED (
SELECT t.${SORT_COLUMNS[query.sortKey]} AS sort, t.id AS id, t.key AS key, hits.text AS text
FROM hits CROSS JOIN threads t ON t.key = hits.thread
WHERE ${where.parts.join(" AND ")}\n${order(query)})
SELECT page.sort AS sort, page.id AS id, b.row AS row, page.text AS text
FROM page CROSS JOIN bodies b ON b.key = page.key ${order(query)}`,
    values: [...words.map(pattern), ...where.values, pageLimit(query), pageLimit(query)],
  };
}

const LIKE = "coalesce(folded, text) LIKE ? ESCAPE '\\'";

function pattern(word: string): string {
  return `%${word.replace(/[\\%_]/g, "\\$&")}%`;
}

const BEFORE = 120;
const LENGTH = 360;

/** Returns one line of plain text around the first match. */
export function snippetOf(text: string, lookedAt: string, words: readonly string[]): string {
  const small = lookedAt.toLowerCase();
  const hit = Math.max(0, small.length === text.length ? small.indexOf(words[0]!.toLowerCase()) : 0);
  // Twice the displayed length, because runs of spaces are shown as one space.
  const from = Math.max(0, hit - 2 * BEFORE);
  const before = line(text.slice(from, hit)).trimStart();
  const after = line(text.slice(hit, hit + 2 * LENGTH));
  const start = before.length <= BEFORE ? 0 : before.length - BEFORE;
  const shown = before.slice(start) + after;
  const more = shown.length > LENGTH || hit + 2 * LENGTH < text.length;
  const cut = whole(shown.slice(0, LENGTH)).trimEnd();
  return `${start > 0 || from > 0 ? "…" : ""}${cut}${more ? "…" : ""}`;
}

function line(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, " ");
}

/** Removes halves of surrogate pairs at both ends. */
function whole(text: string): string {
  return text.replace(/\p{Surrogate}/gu, "");
}
