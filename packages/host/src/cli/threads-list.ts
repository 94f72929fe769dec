import { resolve } from "node:path";
import type { BobbinClient } from "@bobbin/client";
import type { Thread, ThreadSearchResult } from "@bobbin/protocol";
import { runOnHost, type ThreadOptions } from "./run-on-host.ts";
import { oneLine } from "./terminal-output.ts";
import { OWN_KINDS } from "./thread-lookup.ts";
import { threadLines } from "./thread-summary-text.ts";

export interface ListOptions extends ThreadOptions {
  readonly limit: number;
  readonly archived?: boolean;
  /** Only threads that work in this folder. */
  readonly cd?: string;
}

/** Limit of the host on one page. */
const PAGE = 100;

interface Page<T> {
  readonly data: readonly T[];
  readonly nextCursor: string | null;
}

/** `bobbin threads list`. Resolves with the exit code. */
export function listThreads(options: ListOptions): Promise<number> {
  return runOnHost("threads", options, async ({ client, stdout, stderr }) => {
    const { archived = false, cd } = options;
    const { all, hasMore } = await pages<Thread>(options.limit, (limit, cursor) =>
      client.request("thread/list", {
        ...{ archived, limit, sortKey: "recency_at", sourceKinds: [...OWN_KINDS] },
        ...(cd !== undefined && { cwd: resolve(cd) }),
        ...(cursor !== null && { cursor }),
      }),
    );
    if (options.json) {
      stdout.line(JSON.stringify(all, null, 2));
      return 0;
    }
    const now = Date.now() / 1000;
    for (const thread of all) for (const line of threadLines(thread, stdout, now)) stdout.line(line);
    if (all.length === 0) {
      const where = cd === undefined ? "" : ` in ${resolve(cd)}`;
      stderr.line(`There are no ${archived ? "archived " : ""}threads${where}.`);
      if (!archived) stderr.line('Start one:  bobbin exec "What can you do?"');
    }
    if (hasMore) stderr.line(stderr.dim(`There are more: --limit ${options.limit * 5}`));
    return 0;
  });
}

/** `bobbin threads search`. Exits with 1 if nothing was found, as grep does. Resolves with the exit code. */
export function searchThreads(searchTerm: string, options: ListOptions): Promise<number> {
  return runOnHost("threads", options, async ({ client, stdout, stderr }) => {
    const { all, hasMore } = await pages<ThreadSearchResult>(options.limit, (limit, cursor) =>
      search(client, searchTerm, options.archived ?? false, limit, cursor),
    );
    if (options.json) stdout.line(JSON.stringify(all, null, 2));
    else {
      const now = Date.now() / 1000;
      for (const { thread, snippet } of all) {
        for (const line of threadLines(thread, stdout, now)) stdout.line(line);
        stdout.line(`    ${oneLine(snippet, stdout.columns === 0 ? 0 : stdout.columns - 5)}`);
      }
      if (all.length === 0) stderr.line(`No thread contains ${JSON.stringify(searchTerm)}.`);
      if (hasMore) stderr.line(stderr.dim(`There are more: --limit ${options.limit * 5}`));
    }
    return all.length === 0 ? 1 : 0;
  });
}

function search(
  client: BobbinClient,
  searchTerm: string,
  archived: boolean,
  limit: number,
  cursor: string | null,
) {
  const sourceKinds = [...OWN_KINDS];
  return client.request("thread/search", {
    ...{ searchTerm, archived, limit, sortKey: "recency_at", sourceKinds },
    ...(cursor !== null && { cursor }),
  });
}

/** Reads pages until there are `limit` rows. */
async function pages<T>(
  limit: number,
  read: (limit: number, cursor: string | null) => Promise<Page<T>>,
): Promise<{ readonly all: readonly T[]; readonly hasMore: boolean }> {
  const all: T[] = [];
  let cursor: string | null = null;
  do {
    const page: Page<T> = await read(Math.min(PAGE, limit - all.length), cursor);
    all.push(...page.data);
    cursor = page.nextCursor;
  } while (cursor !== null && all.length < limit);
  return { all, hasMore: cursor !== null };
}
