import type { Thread } from "@bobbin/protocol";

/** A thread as the index keeps it: what lists filter and sort by, and what they show. */
export interface ThreadRow {
  readonly id: string;
  readonly owner: string;
  /** The last commit that this row knows of. */
  readonly seq: number;
  readonly archived: boolean;
  /** Lists show threads with a user message, or with a goal. */
  readonly listed: boolean;
  /** Milliseconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly recencyAt: number;
  readonly parentThreadId: string | null;
  readonly sectionId: string | null;
  /** Sorts within a section. */
  readonly sectionPosition: number | null;
  /** As it is told; its `status` is filled in by whoever tells it. */
  readonly thread: Thread;
}

/** How far the index knows a thread. */
export type KnownThread = Pick<ThreadRow, "seq" | "archived">;

/** A text of a thread that can be searched for. */
export interface IndexedText {
  readonly turnId: string;
  readonly itemId: string;
  readonly role: "user" | "agent";
  readonly at: number;
  readonly text: string;
}

/** The projection of all journals, for listing and search. It can be lost: it is rebuilt from the journals. */
export interface ThreadIndex {
  /**
   * Takes a thread's new row and its new texts. Returns at once: rows are written in batches, later. A row with
   * a lower `seq` than the one that is known changes nothing; a text with a known item takes its place.
   * `goneTurns`: turns that a rollback took away, whose texts are not to be found any more.
   */
  record(row: ThreadRow, texts: readonly IndexedText[], goneTurns?: readonly string[]): void;
  /** Takes what the journal says in place of all that is known of a thread, older or newer. */
  restate(row: ThreadRow, texts: readonly IndexedText[]): Promise<void>;
  /** Removes every trace of a thread. Throws `storageFailed` if some could be left. */
  forget(threadId: string): Promise<void>;
  /** Throws `storageFailed` while the index cannot be opened on disk: the next host would trust what is there. */
  mustBeOnDisk(): Promise<void>;
  /** Does not wait for a rebuild if the thread is known already. */
  get(threadId: string): Promise<ThreadRow | undefined>;
  /** How far it knows each thread. Waits until all threads are in it. */
  known(): Promise<ReadonlyMap<string, KnownThread>>;
  list(query: ThreadQuery): Promise<ThreadPage>;
  search(query: SearchQuery): Promise<SearchPage>;
  /** Writes what waits to be written. Throws if it is not on disk then. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface ThreadQuery {
  /** Undefined: everybody's. */
  readonly owner: string | undefined;
  readonly archived: boolean;
  /** None: all. */
  readonly modelProviders: readonly string[] | undefined;
  /** None: those that people talk to; all if a parent or an ancestor is asked for and this is undefined. */
  readonly sourceKinds: readonly string[] | undefined;
  /** None: nothing; undefined: everything. */
  readonly cwds: readonly string[] | undefined;
  /** A piece of the name or of the preview, to the letter. */
  readonly searchTerm: string | undefined;
  /** Null: only threads in no section. With a section, threads without a user message are listed too. */
  readonly sectionId: string | null | undefined;
  /** The sections that there are: a thread in another one is in none. Undefined: nobody deleted any. */
  readonly knownSections?: readonly string[] | undefined;
  readonly originators?: readonly string[] | undefined;
  readonly excludedThreadIds?: readonly string[] | undefined;
  /** Its children, those without a user message too. */
  readonly parentThreadId: string | undefined;
  /** Its descendants, those without a user message too. */
  readonly ancestorThreadId: string | undefined;
  readonly sortKey: "created_at" | "updated_at" | "recency_at" | "section_position";
  readonly sortDirection: "asc" | "desc";
  readonly cursor: string | undefined;
  readonly limit: number;
}

export interface ThreadPage {
  readonly rows: readonly ThreadRow[];
  /** Goes on behind the last row; null if there is nothing there. */
  readonly nextCursor: string | null;
  /** For the other direction: begins with the first row of this page; null if the page is empty. */
  readonly backwardsCursor: string | null;
}

export interface SearchQuery extends Omit<ThreadQuery, "searchTerm"> {
  readonly searchTerm: string;
}

export interface SearchPage {
  readonly hits: readonly { readonly row: ThreadRow; readonly snippet: string }[];
  readonly nextCursor: string | null;
  readonly backwardsCursor: string | null;
}
