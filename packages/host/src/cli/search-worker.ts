import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { Pages } from "../journal/index/pages.ts";
import type { SearchQuery } from "../journal/index/thread-index.ts";
import { serveWorker } from "../platform/node-worker-serve.ts";

// What a search runs in: all texts may have to be looked at, and meanwhile everyone else is served.

/** Nobody else waits here. */
const BUSY_MS = 2000;

let open: { readonly path: string; readonly db: DatabaseSyncInstance; readonly pages: Pages } | undefined;

serveWorker((message) => {
  const { path, query } = message as { readonly path: string; readonly query: SearchQuery };
  if (open?.path !== path) {
    open?.pages.close();
    open?.db.close();
    open = undefined;
    const db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS });
    open = { path, db, pages: new Pages(db) };
  }
  return open.pages.search(query);
});
