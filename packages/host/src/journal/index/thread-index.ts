import type { Thread } from "@bobbin/protocol";

/** A thread as the index keeps it: what lists filter and sort by, and what they show. */
export interface ThreadRow {
  readonly id: string;
  readonly owner: string;
  /** The last commit that this row knows of. */
  readonly seq: number;
  readonly archived: boolean;
  /** Lists show threads with a user message. */
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
  /** Takes a thread's new row and its new texts. Returns at once: rows are written in batches, later. */
  record(row: ThreadRow, texts: readonly IndexedText[]): void;
  /** Removes every trace of a thread. */
  forget(threadId: string): Promise<void>;
  get(threadId: string): Promise<ThreadRow | undefined>;
  list(query: ThreadQuery): Promise<ThreadPage>;
  search(query: SearchQuery): Promise<SearchPage>;
  /** Writes what waits. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export interface ThreadQuery {
  readonly owner: string | undefined;
  readonly archived: boolean;
  readonly modelProviders: readonly string[] | undefined;
  readonly sourceKinds: readonly string[] | undefined;
  readonly cwds: readonly string[] | undefined;
  readonly searchTerm: string | undefined;
  /** Null: only threads in no section. */
  readonly sectionId: string | null | undefined;
  readonly parentThreadId: string | undefined;
  readonly ancestorThreadId: string | undefined;
  readonly sortKey: "created_at" | "updated_at" | "recency_at" | "section_position";
  readonly sortDirection: "asc" | "desc";
  readonly cursor: string | undefined;
  readonly limit: number;
}

export interface ThreadPage {
  readonly rows: readonly ThreadRow[];
  readonly nextCursor: string | null;
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
