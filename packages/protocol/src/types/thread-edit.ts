import {
  array,
  boolean,
  enumeration,
  experimental,
  filePath,
  integer,
  nullable,
  object,
  omittable,
  optional,
  type Static,
  string,
  tagged,
  unknown,
} from "../schema-language.ts";
import { Thread, ThreadReadState } from "./thread.ts";

export const ThreadArchiveParams = object("ThreadArchiveParams", () => ({ threadId: string() }));
export type ThreadArchiveParams = Static<typeof ThreadArchiveParams>;

export const ThreadArchiveResponse = object("ThreadArchiveResponse", () => ({}));
export type ThreadArchiveResponse = Static<typeof ThreadArchiveResponse>;

export const ThreadCompactStartParams = object("ThreadCompactStartParams", () => ({ threadId: string() }));
export type ThreadCompactStartParams = Static<typeof ThreadCompactStartParams>;

export const ThreadCompactStartResponse = object("ThreadCompactStartResponse", () => ({}));
export type ThreadCompactStartResponse = Static<typeof ThreadCompactStartResponse>;

export const ThreadDeleteParams = object("ThreadDeleteParams", () => ({ threadId: string() }));
export type ThreadDeleteParams = Static<typeof ThreadDeleteParams>;

export const ThreadDeleteResponse = object("ThreadDeleteResponse", () => ({}));
export type ThreadDeleteResponse = Static<typeof ThreadDeleteResponse>;

export const ThreadInjectItemsParams = object("ThreadInjectItemsParams", () => ({
  items: array(unknown()),
  threadId: string(),
}));
export type ThreadInjectItemsParams = Static<typeof ThreadInjectItemsParams>;

export const ThreadInjectItemsResponse = object("ThreadInjectItemsResponse", () => ({}));
export type ThreadInjectItemsResponse = Static<typeof ThreadInjectItemsResponse>;

export const ThreadMetadataGitInfoUpdateParams = object("ThreadMetadataGitInfoUpdateParams", () => ({
  branch: optional(string()),
  originUrl: optional(string()),
  sha: optional(string()),
}));
export type ThreadMetadataGitInfoUpdateParams = Static<typeof ThreadMetadataGitInfoUpdateParams>;

export const ThreadMetadataUpdateParams = object("ThreadMetadataUpdateParams", () => ({
  daybreakEnabled: experimental(boolean()),
  gitInfo: optional(ThreadMetadataGitInfoUpdateParams),
  projectId: experimental(string()),
  threadId: string(),
}));
export type ThreadMetadataUpdateParams = Static<typeof ThreadMetadataUpdateParams>;

export const ThreadMetadataUpdateResponse = object("ThreadMetadataUpdateResponse", () => ({
  thread: Thread,
}));
export type ThreadMetadataUpdateResponse = Static<typeof ThreadMetadataUpdateResponse>;

export const ThreadReadStateOperation = tagged("ThreadReadStateOperation", "type", () => ({
  read: {},
  unread: {},
}));
export type ThreadReadStateOperation = Static<typeof ThreadReadStateOperation>;

export const ThreadPrepareApprovedPlanParams = object("ThreadPrepareApprovedPlanParams", () => ({
  attachmentPath: optional(filePath()),
  markdown: string(),
  threadId: string(),
}));
export type ThreadPrepareApprovedPlanParams = Static<typeof ThreadPrepareApprovedPlanParams>;

export const ThreadPrepareApprovedPlanResponse = object("ThreadPrepareApprovedPlanResponse", () => ({
  /** The text of the turn that carries the plan out. */
  prompt: string(),
}));
export type ThreadPrepareApprovedPlanResponse = Static<typeof ThreadPrepareApprovedPlanResponse>;

export const ThreadReadStateUpdateParams = object("ThreadReadStateUpdateParams", () => ({
  expectedRevision: string(),
  operation: ThreadReadStateOperation,
  threadId: string(),
}));
export type ThreadReadStateUpdateParams = Static<typeof ThreadReadStateUpdateParams>;

export const ThreadReadStateUpdateResponse = object("ThreadReadStateUpdateResponse", () => ({
  readState: ThreadReadState,
}));
export type ThreadReadStateUpdateResponse = Static<typeof ThreadReadStateUpdateResponse>;

export const ThreadReadParams = object("ThreadReadParams", () => ({
  includeTurns: omittable(boolean()),
  threadId: string(),
}));
export type ThreadReadParams = Static<typeof ThreadReadParams>;

export const ThreadReadResponse = object("ThreadReadResponse", () => ({
  readState: experimental(ThreadReadState),
  thread: Thread,
}));
export type ThreadReadResponse = Static<typeof ThreadReadResponse>;

export const ThreadFilesRestoreParams = object("ThreadFilesRestoreParams", () => ({
  threadId: string(),
  /** Undoes the file changes of this turn and of all later turns. */
  beforeTurnId: string(),
  /** Also overwrites files that were changed by others since. */
  force: omittable(boolean()),
  /** Only replies with what would be done. */
  dryRun: omittable(boolean()),
}));
export type ThreadFilesRestoreParams = Static<typeof ThreadFilesRestoreParams>;

export const UnrestoredFile = object("UnrestoredFile", () => ({
  path: string(),
  reason: string(),
  /** Whether the file was only left unchanged because others changed it since: with `force` it is overwritten. */
  canForce: boolean(),
}));

export const ThreadFilesRestoreResponse = object("ThreadFilesRestoreResponse", () => ({
  /** Files whose earlier content was restored. */
  restored: array(string()),
  /** Files that did not exist before the turns, and were deleted again. */
  removed: array(string()),
  /** Files that could not be restored and were left unchanged, with the reason. */
  failed: array(UnrestoredFile),
}));
export type ThreadFilesRestoreResponse = Static<typeof ThreadFilesRestoreResponse>;

export const ThreadRevertParams = object("ThreadRevertParams", () => ({
  beforeTurnId: string(),
  threadId: string(),
  /** Also restores the files that the dropped turns changed, like `thread/files/restore`. */
  restoreFiles: experimental.omittable(boolean(), { ours: true }),
}));
export type ThreadRevertParams = Static<typeof ThreadRevertParams>;

export const ThreadRevertResponse = object("ThreadRevertResponse", () => ({
  itemsBackwardsCursor: nullable(string()),
  thread: Thread,
  turnsBackwardsCursor: nullable(string()),
  /** Outcome of the restore, if `restoreFiles` was set. */
  files: experimental.omittable(ThreadFilesRestoreResponse, { ours: true }),
}));
export type ThreadRevertResponse = Static<typeof ThreadRevertResponse>;

export const ThreadRollbackParams = object("ThreadRollbackParams", () => ({
  threadId: string(),
  numTurns: integer("uint32", { minimum: 1 }),
}));
export type ThreadRollbackParams = Static<typeof ThreadRollbackParams>;

export const ThreadRollbackResponse = object("ThreadRollbackResponse", () => ({ thread: Thread }));
export type ThreadRollbackResponse = Static<typeof ThreadRollbackResponse>;

export const ThreadSetNameParams = object("ThreadSetNameParams", () => ({
  name: string(),
  threadId: string(),
}));
export type ThreadSetNameParams = Static<typeof ThreadSetNameParams>;

export const ThreadSetNameResponse = object("ThreadSetNameResponse", () => ({}));
export type ThreadSetNameResponse = Static<typeof ThreadSetNameResponse>;

export const ThreadUnarchiveParams = object("ThreadUnarchiveParams", () => ({ threadId: string() }));
export type ThreadUnarchiveParams = Static<typeof ThreadUnarchiveParams>;

export const ThreadUnarchiveResponse = object("ThreadUnarchiveResponse", () => ({ thread: Thread }));
export type ThreadUnarchiveResponse = Static<typeof ThreadUnarchiveResponse>;

export const ThreadUnsubscribeParams = object("ThreadUnsubscribeParams", () => ({ threadId: string() }));
export type ThreadUnsubscribeParams = Static<typeof ThreadUnsubscribeParams>;

export const ThreadUnsubscribeResponse = object("ThreadUnsubscribeResponse", () => ({
  status: ThreadUnsubscribeStatus,
}));
export type ThreadUnsubscribeResponse = Static<typeof ThreadUnsubscribeResponse>;

export const ThreadUnsubscribeStatus = enumeration("ThreadUnsubscribeStatus", [
  "notLoaded",
  "notSubscribed",
  "unsubscribed",
]);
export type ThreadUnsubscribeStatus = Static<typeof ThreadUnsubscribeStatus>;
