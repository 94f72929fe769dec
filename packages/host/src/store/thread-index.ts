import type { Thread, ThreadReadState } from "@bobbin/protocol";

/** A thread's row in the index: the fields that lists filter, sort and show. */
export interface ThreadRow {
  readonly id: string;
  readonly owner: string;
  /** The last commit that the row includes. */
  readonly seq: number;
  readonly archived: boolean;
  /** Whether lists show the thread: it has a user message or a goal. */
  readonly listed: boolean;
  /** In milliseconds, like the following times. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly recencyAt: number;
  readonly parentThreadId: string | null;
  readonly sectionId: string | null;
  /** The sort position within the section. */
  readonly sectionPosition: number | null;
  /** The read state; null for threads that have none. */
  readonly readState: ThreadReadState | null;
  /** The thread object for clients. The caller sets its `status`. */
  readonly thread: Thread;
}

/** The fields of a row that show whether the row is up to date. */
export type KnownThread = Pick<ThreadRow, "seq" | "archived">;

/** A searchable text of a thread. */
export interface IndexedText {
  readonly turnId: string;
  readonly itemId: string;
  readonly role: "user" | "agent";
  readonly at: number;
  readonly text: string;
  readonly kind: TextKind;
  /** The position of the text among the thread's texts. */
  readonly place: number;
  /** The user's own words, if the text also contains context that the client added. */
  readonly said?: string;
}

/**
 * The kind of a text for searches in one thread: a user message, a final answer of the model, a possible answer, a
 * partial answer, or a text that is not searched.
 */
export type TextKind = "user" | "final" | "answer" | "partial" | "other";

/** The index of all threads, for lists and searches. It can be rebuilt from the journals. */
export interface ThreadIndex {
  /**
   * Updates a thread's row and adds texts. Returns at once; rows are written later, in batches. A row with a lower
   * `seq` than the current one is ignored. A text replaces the text of the same item. `goneTurns`: rolled-back turns,
   * whose texts are removed.
   */
  record(row: ThreadRow, texts: readonly IndexedText[], goneTurns?: readonly string[]): void;
  /** Replaces everything about a thread, even if the index has a higher `seq`. */
  restate(row: ThreadRow, texts: readonly IndexedText[]): Promise<void>;
  /** Removes a thread completely. Throws `storageFailed` if the removal may be incomplete. */
  forget(threadId: string): Promise<void>;
  /** Throws `storageFailed` if the index is not on disk. Changes in memory would be lost when this host ends. */
  mustBeOnDisk(): Promise<void>;
  /** The row of a thread. Waits for a rebuild only if the row is missing. */
  get(threadId: string): Promise<ThreadRow | undefined>;
  /** The sequence numbers and archive flags of all rows. Waits for a rebuild. */
  known(): Promise<ReadonlyMap<string, KnownThread>>;
  /** A page of threads. Throws `BadCursor` for a cursor that was not made for this sort key. */
  list(query: ThreadQuery): Promise<ThreadPage>;
  /** A page of the threads with a matching text, each with a snippet of its first one. */
  search(query: SearchQuery): Promise<SearchPage>;
  /** The occurrences of a search term in one thread. */
  occurrences(query: OccurrenceQuery): Promise<OccurrencePage>;
  /** Writes pending rows to disk. Throws if that fails. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface ThreadQuery {
  /** Undefined for the threads of all owners. */
  readonly owner: string | undefined;
  readonly archived: boolean;
  /** An empty list or undefined: all providers. */
  readonly modelProviders: readonly string[] | undefined;
  /** An empty list or undefined: interactive sources; undefined with a parent or an ancestor: all. */
  readonly sourceKinds: readonly string[] | undefined;
  /** Working directories. An empty list matches no thread; undefined matches all. */
  readonly cwds: readonly string[] | undefined;
  /** A substring of the name or of the preview, case-sensitive. */
  readonly searchTerm: string | undefined;
  /**
   * Null: only threads without a section. If a section is named, its threads are listed even without a user message.
   */
  readonly sectionId: string | null | undefined;
  /**
   * The existing sections. A thread whose section was deleted counts as a thread without section. Undefined if no
   * section was deleted.
   */
  readonly knownSections?: readonly string[] | undefined;
  readonly originators?: readonly string[] | undefined;
  readonly excludedThreadIds?: readonly string[] | undefined;
  /** Lists the children of this thread, including those without a user message. */
  readonly parentThreadId: string | undefined;
  /** Lists the descendants of this thread, including those without a user message. */
  readonly ancestorThreadId: string | undefined;
  readonly sortKey: "created_at" | "updated_at" | "recency_at" | "section_position";
  readonly sortDirection: "asc" | "desc";
  readonly cursor: string | undefined;
  readonly limit: number;
}

export interface ThreadPage {
  readonly rows: readonly ThreadRow[];
  /** The cursor of the next page; null on the last page. */
  readonly nextCursor: string | null;
  /** The cursor for reading in the opposite direction from the first row of this page; null for an empty page. */
  readonly backwardsCursor: string | null;
}

export interface SearchQuery extends Omit<ThreadQuery, "searchTerm"> {
  /** Words. A hit is a thread with a text that contains all of them, in any order, ignoring case and accents. */
  readonly searchTerm: string;
}

export interface SearchPage {
  readonly hits: readonly { readonly row: ThreadRow; readonly snippet: string }[];
  readonly nextCursor: string | null;
  readonly backwardsCursor: string | null;
}

/** The position of an occurrence: its message's position, and its index among the occurrences in that message. */
export interface OccurrencePlace {
  readonly place: number;
  readonly nth: number;
}

export interface OccurrenceQuery {
  readonly threadId: string;
  /** Matched literally, ignoring case. */
  readonly searchTerm: string;
  /** The first position to return. */
  readonly from: OccurrencePlace;
  readonly limit: number;
  /** The running turn. Its final answer is not known yet. */
  readonly runningTurn: string | null;
}

export interface Occurrence extends OccurrencePlace {
  readonly turnId: string;
  readonly itemId: string;
  readonly snippet: string;
  /** The range within the snippet. */
  readonly start: number;
  readonly end: number;
}

export interface OccurrencePage {
  readonly occurrences: readonly Occurrence[];
  readonly next: OccurrencePlace | null;
}
