/** Marks a thread as read or unread. Fails if the read state has changed since `expectedRevision`. */
export interface ReadStateCommand {
  readonly kind: "markRead";
  readonly at: number;
  readonly expectedRevision: string;
  readonly operation: "read" | "unread";
}
