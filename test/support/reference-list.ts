import { kindOf } from "../../packages/host/src/store/source-kind.ts";
import type { ThreadQuery, ThreadRow } from "../../packages/host/src/store/thread-index.ts";

/**
 * A simple reference implementation of lists, against which the real ones are compared. It returns all rows, not
 * pages, so it ignores `cursor` and `limit`.
 */
export function referenceList(rows: readonly ThreadRow[], query: ThreadQuery): ThreadRow[] {
  const sign = query.sortDirection === "asc" ? 1 : -1;
  return rows
    .filter((row) => matches(rows, row, query))
    .sort((a, b) => {
      const difference =
        sortValue(a, query) - sortValue(b, query) || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
      return sign * difference;
    });
}

export function sortValue(row: ThreadRow, query: Pick<ThreadQuery, "sortKey">): number {
  switch (query.sortKey) {
    case "created_at":
      return row.createdAt;
    case "updated_at":
      return row.updatedAt;
    case "recency_at":
      return row.recencyAt;
    case "section_position":
      return row.sectionPosition ?? -1e12;
  }
}

function matches(rows: readonly ThreadRow[], row: ThreadRow, query: ThreadQuery): boolean {
  const { thread } = row;
  const related = query.parentThreadId !== undefined || query.ancestorThreadId !== undefined;
  const unlisted = related || typeof query.sectionId === "string";
  if (!row.listed && (!unlisted || thread.ephemeral)) return false;
  if (row.archived !== query.archived) return false;
  if (query.owner !== undefined && row.owner !== query.owner) return false;
  if (query.modelProviders?.length && !query.modelProviders.includes(thread.modelProvider)) return false;
  if (query.originators?.length && !query.originators.includes(thread.originator ?? "")) return false;
  if (query.excludedThreadIds?.includes(row.id)) return false;
  if (query.cwds !== undefined && !query.cwds.includes(thread.cwd)) return false;
  const term = query.searchTerm;
  if (term && !thread.preview.includes(term) && !(thread.name ?? "").includes(term)) return false;
  const known = query.knownSections;
  const section = row.sectionId !== null && (known?.includes(row.sectionId) ?? true) ? row.sectionId : null;
  if (query.sectionId !== undefined && section !== query.sectionId) return false;
  if (query.parentThreadId !== undefined && row.parentThreadId !== query.parentThreadId) return false;
  const ancestor = query.ancestorThreadId;
  if (ancestor !== undefined && !descends(rows, row, ancestor)) return false;
  return sourceMatches(row, query.sourceKinds, related);
}

function sourceMatches(row: ThreadRow, asked: readonly string[] | undefined, related: boolean): boolean {
  const kind = kindOf(row.thread.source);
  if (asked === undefined && related) return true;
  if (asked === undefined || asked.length === 0) {
    const { source } = row.thread;
    if (typeof source === "object" && "custom" in source) return ["atlas", "chatgpt"].includes(source.custom);
    return kind === "cli" || kind === "vscode";
  }
  return asked.some((one) => one === kind || (one === "subAgent" && kind.startsWith("subAgent")));
}

function descends(rows: readonly ThreadRow[], row: ThreadRow, ancestor: string): boolean {
  if (row.id === ancestor) return false;
  const seen = new Set<string>();
  for (let at = row.parentThreadId; at !== null && !seen.has(at); ) {
    if (at === ancestor) return true;
    seen.add(at);
    at = rows.find((one) => one.id === at)?.parentThreadId ?? null;
  }
  return false;
}
