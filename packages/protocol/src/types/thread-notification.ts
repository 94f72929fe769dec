import { nullable, object, optional, type Static, string } from "../schema-language.ts";
import { cursor } from "./cursor.ts";
import { Thread, ThreadReadState, ThreadStatus } from "./thread.ts";
import { ThreadTokenUsage } from "./thread-usage.ts";

export const ContextCompactedNotification = object("ContextCompactedNotification", () => ({
  threadId: string(),
  turnId: string(),
  ...cursor(),
}));
export type ContextCompactedNotification = Static<typeof ContextCompactedNotification>;

export const ThreadArchivedNotification = object("ThreadArchivedNotification", () => ({
  threadId: string(),
  ...cursor(),
}));
export type ThreadArchivedNotification = Static<typeof ThreadArchivedNotification>;

export const ThreadClosedNotification = object("ThreadClosedNotification", () => ({
  threadId: string(),
  ...cursor(),
}));
export type ThreadClosedNotification = Static<typeof ThreadClosedNotification>;

export const ThreadDeletedNotification = object("ThreadDeletedNotification", () => ({
  threadId: string(),
  ...cursor(),
}));
export type ThreadDeletedNotification = Static<typeof ThreadDeletedNotification>;

export const ThreadNameUpdatedNotification = object("ThreadNameUpdatedNotification", () => ({
  threadId: string(),
  threadName: optional(string()),
  ...cursor(),
}));
export type ThreadNameUpdatedNotification = Static<typeof ThreadNameUpdatedNotification>;

export const ThreadReadStateChangedNotification = object("ThreadReadStateChangedNotification", () => ({
  readState: ThreadReadState,
  threadId: string(),
  ...cursor(),
}));
export type ThreadReadStateChangedNotification = Static<typeof ThreadReadStateChangedNotification>;

export const ThreadRevertedNotification = object("ThreadRevertedNotification", () => ({
  threadId: string(),
  ...cursor(),
}));
export type ThreadRevertedNotification = Static<typeof ThreadRevertedNotification>;

/** The thread was moved to a section, within it, or (null) out of it. */
export const ThreadSectionChangedNotification = object("ThreadSectionChangedNotification", () => ({
  sectionId: nullable(string()),
  threadId: string(),
  ...cursor(),
}));
export type ThreadSectionChangedNotification = Static<typeof ThreadSectionChangedNotification>;

export const ThreadStartedNotification = object("ThreadStartedNotification", () => ({
  thread: Thread,
  ...cursor(),
}));
export type ThreadStartedNotification = Static<typeof ThreadStartedNotification>;

export const ThreadStatusChangedNotification = object("ThreadStatusChangedNotification", () => ({
  status: ThreadStatus,
  threadId: string(),
  ...cursor(),
}));
export type ThreadStatusChangedNotification = Static<typeof ThreadStatusChangedNotification>;

export const ThreadTokenUsageUpdatedNotification = object("ThreadTokenUsageUpdatedNotification", () => ({
  threadId: string(),
  tokenUsage: ThreadTokenUsage,
  turnId: string(),
  ...cursor(),
}));
export type ThreadTokenUsageUpdatedNotification = Static<typeof ThreadTokenUsageUpdatedNotification>;

export const ThreadUnarchivedNotification = object("ThreadUnarchivedNotification", () => ({
  threadId: string(),
  ...cursor(),
}));
export type ThreadUnarchivedNotification = Static<typeof ThreadUnarchivedNotification>;
