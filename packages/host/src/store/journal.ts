import type { JournalLocation } from "../core/life/thread-view.ts";
import type { Check } from "../core/record-check.ts";
import type { Durability } from "../core/record-table.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { BlobReader, Blobs } from "./blobs.ts";
import type { Head } from "./thread-head.ts";

/** The journals of all threads. */
export interface Journal {
  /**
   * Prepares the journal of a new thread. The first append creates the thread, claimed by this host. Whether other
   * hosts see a thread before its first use depends on the adapter.
   */
  create(threadId: string): Promise<ThreadJournal>;
  /**
   * Stores a complete thread atomically, with all its commits and its index row: after a crash, all of it exists or
   * nothing. Undefined if the thread already exists, or if it is not wanted after all.
   */
  bring(
    threadId: string,
    commits: AsyncIterable<Commit>,
    how: BringOptions,
  ): Promise<JournalLocation | undefined>;
  /** Whether a thread is stored, readable or not. */
  has(threadId: string): Promise<boolean>;
  /** Claims a stored thread for writing; undefined if there is none. */
  open(threadId: string): Promise<Taken | undefined>;
  /** Opens a thread for reading, whichever host holds it; undefined if there is none. */
  read(threadId: string): Promise<JournalReader | undefined>;
  /** Makes all stored data of a thread durable, whichever host wrote it. */
  flush(threadId: string): Promise<void>;
  /** All stored threads. */
  threads(): AsyncIterable<{ readonly id: string; readonly archived: boolean }>;
  /** The thread that a path may belong to, and the path in the store's notation. Opens no file. */
  resolvePath(path: string): { readonly path: string; readonly threadId: string | undefined };
}

/** The outcome of claiming a thread: this host may write it, or another host holds it. */
export type Taken =
  | { readonly kind: "mine"; readonly journal: ThreadJournal }
  | { readonly kind: "held"; readonly by: string };

export interface BringOptions {
  readonly archived: boolean;
  /** Called after the last commit. Returns the thread's state; undefined if the thread is not wanted after all. */
  state(): ThreadState | undefined;
}

export interface JournalReader extends BlobReader {
  readonly place: JournalLocation;
  /**
   * The commits, newest first: from the last one, or from the last one up to `through`. `wanted`: the records that
   * the caller needs. Others are not validated, which saves time.
   */
  backwards(through?: Position, wanted?: WantedRecords): AsyncIterable<Placed>;
  /** The commits, oldest first: from the first one, or from the first one at or after `from`. */
  forwards(from?: Position, wanted?: WantedRecords): AsyncIterable<Placed>;
  /** Like `forwards`, but yields only commits whose JSON contains `text`. Others are not parsed. */
  naming(text: string, from?: Position): AsyncIterable<Placed>;
  /** Whether the journal is empty: nothing was written, or a power cut removed everything. */
  isEmpty(): Promise<boolean>;
  close(): Promise<void>;
}

/** The record types that a reader needs, each with a check of the fields that it uses. */
export type WantedRecords = ReadonlyMap<ThreadRecord["type"], Check>;

/**
 * A hint by which an adapter finds a commit quickly. Only the adapter that created it can interpret it. Page cursors
 * contain hints as text, so a hint is a non-negative integer, or at most 40 digits and capital letters, and the adapter
 * gets either back as text.
 */
export type Hint = number | string;

/** A hint in a regular expression for cursors. It is empty if there is no hint. */
export const HINT = "([0-9A-Z]{0,40})";

/** The position of a commit: its sequence number, and a hint by which the adapter finds the commit quickly. */
export interface Position {
  readonly seq: number;
  /** A hint from `Placed`. The adapter verifies it, and searches for the commit if the hint is missing or wrong. */
  readonly hint?: Hint | undefined;
}

/** A commit, with hints for reading on from it. */
export interface Placed {
  readonly commit: Commit;
  /** The hint for `forwards`, starting with this commit. */
  readonly start: Hint;
  /** The hint for `backwards`, starting with this commit, and for `forwards`, starting with the next one. */
  readonly end: Hint;
}

/** A thread's journal, opened by the only host that may write it. */
export interface ThreadJournal extends JournalReader, Blobs {
  /**
   * Whether a host died while it had the thread, or a write failed. The index may then be incomplete, and the last
   * load may lack its end. The claim is kept until `markRecovered`, so that the next start finds the thread.
   */
  readonly needsRecovery: boolean;
  markNeedsRecovery(): void;
  markRecovered(): void;
  /**
   * Appends one commit, or several consecutive ones at once, after the commit `prev`. `durability`: what the append
   * must survive before the promise resolves: a kill of the process, or a power cut. `state`: the state after the
   * last commit, for the thread's index row, which the adapter may write later. Without `state`, the index is not
   * updated.
   */
  append(
    commits: Commit | readonly Commit[],
    durability?: Durability,
    state?: ThreadState,
  ): Promise<AppendOutcome>;
  /**
   * Settles an append with the outcome `unknown`: reads the end of the journal, removes a torn line, and returns how
   * many of the commits were written. Throws if the number is unclear. Throws `storageFailed` if another
   * process has appended; if that is a host that has taken over the thread, `Claims.onLost` is called first.
   */
  settle(commits: readonly Commit[], state?: ThreadState): Promise<number>;
  /**
   * Opens the journal again after a failed append: cuts a torn last line, and takes the commits that are there for the
   * journal. Throws `storageFailed` if another host has taken over the thread.
   */
  reopen(): Promise<void>;
  /**
   * Whether this host still holds the thread. If not, `Claims.onLost` is called first. Check this before effects
   * outside of the store: after a loss, the store refuses only writes. Answers come in the order of the calls, so that
   * the tool calls of a turn are made in their order.
   */
  isHeld(): Promise<boolean>;
  /** Makes all commits durable. Throws if that fails. */
  flush(): Promise<void>;
  /**
   * A folder for the files of programs that work for the thread, such as git. It is removed with the thread. Null if
   * the store has no files.
   */
  readonly folder: string | null;
  /** Releases memory and file descriptors. The next use acquires them again. */
  rest(): Promise<void>;
  /** Moves the thread to or from the archive, and updates its index row. */
  archive(archived: boolean, head: Head): Promise<void>;
  /** Deletes the thread completely, including its index row, and gives the claim back. */
  destroy(): Promise<void>;
  /** Releases the claim, unless it was released before. */
  close(): Promise<void>;
}

export type AppendOutcome =
  | { readonly kind: "committed"; readonly bytes: number }
  /** The journal does not end with `prev`, because another writer has appended. Nothing was written. */
  | { readonly kind: "conflict" }
  /**
   * The write failed, and it is unknown whether the journal contains the commits. `settle` finds out, except after a
   * failed fsync.
   */
  | { readonly kind: "unknown"; readonly of: "write" | "sync"; readonly cause: unknown };

/** The reason of `storageFailed` if a journal has commits of another writer. */
export const FOREIGN_WRITE = "another process has appended to the journal";

/** One or several commits, as a list. */
export function listOf(commits: Commit | readonly Commit[]): readonly Commit[] {
  return Array.isArray(commits) ? (commits as readonly Commit[]) : [commits as Commit];
}
