import type { JournalLocation } from "../../core/life/thread-view.ts";
import type { Commit } from "../../core/records.ts";
import type { ThreadState } from "../../core/state.ts";
import type { Log } from "../../observe/log.ts";
import type { FewAtOnce } from "../../platform/concurrency-limit.ts";
import type { AppendFile, Files } from "../../platform/platform.ts";
import type { Head } from "../thread-head.ts";
import type { ClaimFiles } from "./claim-files.ts";
import type { CreatedThreads } from "./created-threads.ts";
import type { ReadingPorts } from "./journal-file-reader.ts";
import type { OpenFileLimit } from "./open-file-limit.ts";
import type { StartLog } from "./thread-start-log.ts";

/** Objects that all journals of one home share. */
export interface SharedJournalParts {
  readonly home: string;
  readonly files: Files;
  readonly claims: ClaimFiles;
  readonly openFiles: OpenFileLimit;
  readonly starts: StartLog;
  /** Ensures that no start log of any host can recreate the thread. */
  settleStarts(threadId: string): Promise<void>;
  readonly making: FewAtOnce;
  /** Opens a journal for writing, without a torn last line. */
  openWhole(path: string): Promise<AppendFile>;
  /** Threads whose journals this host created. */
  readonly made: CreatedThreads;
  /** Called when another host has taken over a thread of this host. */
  lost(threadId: string): void;
  readonly log: Log;
  readonly reading: ReadingPorts;
  /** Records new commits in the index. Returns at once. */
  record(commits: readonly Commit[], state: ThreadState, place: JournalLocation): void;
  /** Records in the index that a thread was archived or unarchived. Returns at once. */
  moved(head: Head, place: JournalLocation): void;
  /** Removes a thread from the index. */
  unlist(threadId: string): Promise<void>;
}
