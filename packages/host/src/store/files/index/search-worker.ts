import { DatabaseSync, type DatabaseSyncInstance } from "@photostructure/sqlite";
import { answerWorkerRequests } from "../../../platform/node-worker-request-handler.ts";
import { plainText } from "../../plain-text.ts";
import { IndexQueries } from "./index-queries.ts";
import type { SearchQuestion } from "./sqlite-index.ts";

// The worker thread of full-text searches in the thread index. A search may scan all texts, and would block the host's
// event loop.

/** How long SQLite waits for a lock. Waiting blocks only this worker thread. */
const BUSY_MS = 2000;

let open:
  | { readonly path: string; readonly db: DatabaseSyncInstance; readonly pages: IndexQueries }
  | undefined;

answerWorkerRequests((message) => {
  const question = message as SearchQuestion;
  const { path } = question;
  if (open?.path !== path) {
    open?.pages.close();
    open?.db.close();
    open = undefined;
    const db = new DatabaseSync(path, { readOnly: true, timeout: BUSY_MS });
    open = { path, db, pages: new IndexQueries(db) };
  }
  return "query" in question
    ? open.pages.search(question.query)
    : open.pages.occurrences(question.occurrences, plainText);
});
