import type { Bobbin } from "@bobbin/client";
import { fits, type ThreadFilter } from "./thread-filter.ts";
import type { ThreadRow } from "./thread-rows.ts";

/** The first page is small, so that it appears soon. */
const FIRST_PAGE = 50;
/** The host's limit on a page. */
const LATER_PAGE = 100;

/** Where the next page begins: a cursor of the host, or the IDs of the loaded threads that were not read yet. */
export type PageCursor = string | readonly string[];

export interface ThreadPage {
  readonly rows: readonly ThreadRow[];
  /** Null at the end of the list. */
  readonly next: PageCursor | null;
}

export interface PageParams {
  readonly limit: number;
  readonly cursor?: string;
}

/** Reads a page of the threads that fit the filter. `cursor`: null for the first page. */
export async function readThreadPage(
  client: Bobbin,
  filter: ThreadFilter,
  cursor: PageCursor | null,
  signal: AbortSignal,
): Promise<ThreadPage> {
  if (filter.search === "" && filter.status === "all")
    return readListed(client, filter, typeof cursor === "string" ? cursor : null, signal);
  const { readFound, readLoaded } = await import("./filtered-thread-pages.ts");
  const page =
    filter.search === ""
      ? await readLoaded(client, typeof cursor === "string" ? null : cursor, signal)
      : await readFound(client, filter, pageFrom(typeof cursor === "string" ? cursor : null), signal);
  return { rows: page.rows.filter(({ thread }) => fits(thread, filter)), next: page.next };
}

async function readListed(
  client: Bobbin,
  { folder, owner, archived }: ThreadFilter,
  cursor: string | null,
  signal: AbortSignal,
): Promise<ThreadPage> {
  const { data, nextCursor } = await client.request(
    "thread/list",
    {
      sortKey: "recency_at",
      ...pageFrom(cursor),
      ...(folder !== "" && { cwd: folder }),
      ...(owner !== "" && { owner }),
      ...(archived && { archived }),
    },
    { signal },
  );
  return { rows: data.map((thread) => ({ thread })), next: nextCursor };
}

function pageFrom(cursor: string | null): PageParams {
  return cursor === null ? { limit: FIRST_PAGE } : { limit: LATER_PAGE, cursor };
}
