// Pages of searches and status filters. Loaded on demand, so it imports only types of what is loaded first.
import type { Bobbin } from "@bobbin/client";
import { loadedByRecency } from "./loaded-by-recency.ts";
import type { ThreadFilter } from "./thread-filter.ts";
import type { PageParams, ThreadPage } from "./thread-pages.ts";

/** Limit on the loaded threads of a page, each of which is a request. */
const LOADED_PAGE = 50;

/** Reads threads that contain the search term. */
export async function readFound(
  client: Bobbin,
  { search: searchTerm, archived }: ThreadFilter,
  page: PageParams,
  signal: AbortSignal,
): Promise<ThreadPage> {
  const params = { searchTerm, archived, ...page };
  const { data, nextCursor } = await client.request("thread/search", params, { signal });
  return { rows: data, next: nextCursor };
}

/** Reads loaded threads, for the status filters: only loaded threads have a status that these filters match. */
export async function readLoaded(
  client: Bobbin,
  unread: readonly string[] | null,
  signal: AbortSignal,
): Promise<ThreadPage> {
  const ids = unread ?? (await loadedByRecency(client, signal));
  const threads = await Promise.all(
    ids.slice(0, LOADED_PAGE).map((threadId) =>
      // A thread that was deleted meanwhile is left out.
      client.request("thread/read", { threadId }, { signal }).catch(() => undefined),
    ),
  );
  const rows = threads.filter((read) => read !== undefined).map(({ thread }) => ({ thread }));
  return { rows, next: ids.length > LOADED_PAGE ? ids.slice(LOADED_PAGE) : null };
}
