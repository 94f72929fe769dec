import type { ThreadUnreadPosition } from "@bobbin/protocol";

/** The read state of a thread has changed. */
export type ReadStateRecord = { readonly type: "readStateChanged" } & ReadState;

/** The first unread position in a thread. */
export interface ReadState {
  readonly at: number;
  /**
   * The number of the change. After a power cut a number may be used again, so only number and `at` together are
   * unique.
   */
  readonly change: number;
  /** Null if everything was read. */
  readonly firstUnread: ThreadUnreadPosition | null;
}
