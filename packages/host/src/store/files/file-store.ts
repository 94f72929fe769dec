import { join } from "node:path";
import type { Log } from "../../observe/log.ts";
import type { Platform } from "../../platform/platform.ts";
import { catchUpIndex, rebuildRows } from "../index-rebuild.ts";
import type { Store } from "../store.ts";
import type { ThreadIndex } from "../thread-index.ts";
import { CredentialFiles } from "./credential-files.ts";
import { DocumentFiles } from "./document-files.ts";
import { fileJournal } from "./file-journal.ts";
import { openThreadIndex } from "./index/sqlite-index.ts";
import { OutputFolder } from "./output-folder.ts";
import { SecretFiles } from "./request-secret-files.ts";

export interface FileStoreOptions {
  readonly home: string;
  readonly platform: Platform;
  readonly log: Log;
  /** For tests: used instead of the index in the home. */
  readonly index?: ThreadIndex | undefined;
}

/**
 * The store in a home: journals are files, the index is in SQLite, and claims are files that all hosts of the home
 * see.
 */
export function fileStore({ home, platform, log, index: providedIndex }: FileStoreOptions): Store {
  const threads = fileJournal(home, platform, log, () => index);
  const index: ThreadIndex =
    providedIndex ??
    openThreadIndex({
      path: join(home, "threads.sqlite"),
      ...platform,
      log,
      searcher: platform.worker("search"),
      hasRecordedAll: () => threads.madeAll(),
      rebuild: () => rebuildRows(threads, log),
    });
  return {
    journal: threads,
    claims: threads,
    startKeys: threads,
    index,
    outputs: new OutputFolder(home, platform.files),
    documents: new DocumentFiles(home, platform, (work) => threads.exclusively(work)),
    secrets: new SecretFiles(home, platform.files),
    credentials: new CredentialFiles(home, platform),
    catchUp: (threadId) => catchUpIndex(index, threads, threadId),
    async close() {
      await index.close();
      await threads.close();
    },
  };
}
