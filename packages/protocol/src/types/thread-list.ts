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
  record,
  type Static,
  string,
  tagged,
  union,
} from "../schema-language.ts";
import { ThreadItem } from "./item.ts";
import { Thread, ThreadReadState } from "./thread.ts";
import { Turn, TurnItemsView } from "./turn.ts";

export const SortDirection = enumeration("SortDirection", ["asc", "desc"]);
export type SortDirection = Static<typeof SortDirection>;

export const ThreadItemEntry = object("ThreadItemEntry", () => ({
  completedAtMs: nullable(integer()),
  item: ThreadItem,
  /** The item's output was left out, as `deferOutput` asked. `thread/items/read` has it. */
  outputDeferred: experimental.omittable(boolean()),
  startedAtMs: nullable(integer()),
  turnId: string(),
}));
export type ThreadItemEntry = Static<typeof ThreadItemEntry>;

export const ThreadItemOutputDeferral = object("ThreadItemOutputDeferral", () => ({
  commandExecution: omittable(boolean()),
  mcpToolCall: omittable(boolean()),
}));
export type ThreadItemOutputDeferral = Static<typeof ThreadItemOutputDeferral>;

export const ThreadItemsListAnchor = tagged("ThreadItemsListAnchor", "type", () => ({
  item: { itemId: string() },
}));
export type ThreadItemsListAnchor = Static<typeof ThreadItemsListAnchor>;

export const ThreadItemsListCursor = union("ThreadItemsListCursor", () => [string(), ThreadItemsListAnchor]);
export type ThreadItemsListCursor = Static<typeof ThreadItemsListCursor>;

export const ThreadItemsListParams = object("ThreadItemsListParams", () => ({
  cursor: optional(ThreadItemsListCursor),
  deferOutput: optional(ThreadItemOutputDeferral),
  limit: optional(integer("uint32")),
  sortDirection: optional(SortDirection),
  threadId: string(),
  turnId: optional(string()),
}));
export type ThreadItemsListParams = Static<typeof ThreadItemsListParams>;

export const ThreadItemsListResponse = object("ThreadItemsListResponse", () => ({
  backwardsCursor: nullable(string()),
  data: array(ThreadItemEntry),
  nextCursor: nullable(string()),
}));
export type ThreadItemsListResponse = Static<typeof ThreadItemsListResponse>;

export const ThreadItemsReadParams = object("ThreadItemsReadParams", () => ({
  itemIds: array(string()),
  threadId: string(),
  turnId: string(),
}));
export type ThreadItemsReadParams = Static<typeof ThreadItemsReadParams>;

export const ThreadItemsReadResponse = object("ThreadItemsReadResponse", () => ({
  data: array(ThreadItemEntry),
}));
export type ThreadItemsReadResponse = Static<typeof ThreadItemsReadResponse>;

export const ThreadListCwdFilter = union("ThreadListCwdFilter", () => [filePath(), array(filePath())]);
export type ThreadListCwdFilter = Static<typeof ThreadListCwdFilter>;

export const ThreadListParams = object("ThreadListParams", () => ({
  ancestorThreadId: experimental(string()),
  archived: optional(boolean()),
  attachedToThreadId: experimental(string()),
  currentAccountOnly: omittable(boolean()),
  cursor: optional(string()),
  cwd: optional(ThreadListCwdFilter),
  excludedThreadIds: optional(array(string())),
  includeAttachedThreads: experimental.omittable(boolean()),
  limit: optional(integer("uint32")),
  modelProviders: optional(array(string())),
  originators: optional(array(string())),
  /** Only threads of this owner, as `Thread.owner` names it. */
  owner: experimental(string(), { ours: true }),
  parentThreadId: experimental(string()),
  projectId: experimental(string()),
  searchTerm: optional(string()),
  sectionId: optional(string()),
  sortDirection: optional(SortDirection),
  sortKey: optional(ThreadSortKey),
  sourceKinds: optional(array(ThreadSourceKind)),
  useStateDbOnly: omittable(boolean()),
}));
export type ThreadListParams = Static<typeof ThreadListParams>;

export const ThreadListResponse = object("ThreadListResponse", () => ({
  backwardsCursor: nullable(string()),
  data: array(Thread),
  nextCursor: nullable(string()),
  readStates: experimental(record(ThreadReadState)),
}));
export type ThreadListResponse = Static<typeof ThreadListResponse>;

export const ThreadLoadedListParams = object("ThreadLoadedListParams", () => ({
  cursor: optional(string()),
  limit: optional(integer("uint32")),
}));
export type ThreadLoadedListParams = Static<typeof ThreadLoadedListParams>;

export const ThreadLoadedListResponse = object("ThreadLoadedListResponse", () => ({
  data: array(string()),
  nextCursor: nullable(string()),
}));
export type ThreadLoadedListResponse = Static<typeof ThreadLoadedListResponse>;

export const ThreadResumeInitialTurnsPageParams = object("ThreadResumeInitialTurnsPageParams", () => ({
  itemsView: optional(TurnItemsView),
  limit: optional(integer("uint32")),
  sortDirection: optional(SortDirection),
}));
export type ThreadResumeInitialTurnsPageParams = Static<typeof ThreadResumeInitialTurnsPageParams>;

export const ThreadSearchOccurrencesParams = object("ThreadSearchOccurrencesParams", () => ({
  cursor: optional(string()),
  limit: optional(integer("uint32")),
  searchTerm: string(),
  threadId: string(),
}));
export type ThreadSearchOccurrencesParams = Static<typeof ThreadSearchOccurrencesParams>;

export const ThreadSearchTextRange = object("ThreadSearchTextRange", () => ({
  end: integer("uint32"),
  start: integer("uint32"),
}));
export type ThreadSearchTextRange = Static<typeof ThreadSearchTextRange>;

export const ThreadSearchOccurrence = object("ThreadSearchOccurrence", () => ({
  itemId: string(),
  snippet: string(),
  snippetMatchRange: ThreadSearchTextRange,
  turnCursor: string(),
  turnId: string(),
}));
export type ThreadSearchOccurrence = Static<typeof ThreadSearchOccurrence>;

export const ThreadSearchOccurrencesResponse = object("ThreadSearchOccurrencesResponse", () => ({
  data: array(ThreadSearchOccurrence),
  nextCursor: nullable(string()),
}));
export type ThreadSearchOccurrencesResponse = Static<typeof ThreadSearchOccurrencesResponse>;

export const ThreadSearchParams = object("ThreadSearchParams", () => ({
  archived: optional(boolean()),
  currentAccountOnly: experimental.omittable(boolean()),
  cursor: optional(string()),
  includeAttachedThreads: experimental.omittable(boolean()),
  limit: optional(integer("uint32")),
  searchTerm: string(),
  sortDirection: optional(SortDirection),
  sortKey: optional(ThreadSearchSortKey),
  sourceKinds: optional(array(ThreadSourceKind)),
}));
export type ThreadSearchParams = Static<typeof ThreadSearchParams>;

export const ThreadSearchResponse = object("ThreadSearchResponse", () => ({
  backwardsCursor: nullable(string()),
  data: array(ThreadSearchResult),
  nextCursor: nullable(string()),
}));
export type ThreadSearchResponse = Static<typeof ThreadSearchResponse>;

export const ThreadSearchResult = object("ThreadSearchResult", () => ({ snippet: string(), thread: Thread }));
export type ThreadSearchResult = Static<typeof ThreadSearchResult>;

export const ThreadSearchSortKey = enumeration("ThreadSearchSortKey", [
  "created_at",
  "updated_at",
  "recency_at",
]);
export type ThreadSearchSortKey = Static<typeof ThreadSearchSortKey>;

export const ThreadSortKey = enumeration("ThreadSortKey", [
  "created_at",
  "updated_at",
  "recency_at",
  "section_position",
]);
export type ThreadSortKey = Static<typeof ThreadSortKey>;

export const ThreadSourceKind = enumeration("ThreadSourceKind", [
  "cli",
  "vscode",
  "exec",
  "appServer",
  "subAgent",
  "subAgentReview",
  "subAgentCompact",
  "subAgentThreadSpawn",
  "subAgentOther",
  "unknown",
]);
export type ThreadSourceKind = Static<typeof ThreadSourceKind>;

export const ThreadTurnsListParams = object("ThreadTurnsListParams", () => ({
  cursor: optional(string()),
  itemsView: optional(TurnItemsView),
  limit: optional(integer("uint32")),
  sortDirection: optional(SortDirection),
  threadId: string(),
}));
export type ThreadTurnsListParams = Static<typeof ThreadTurnsListParams>;

export const ThreadTurnsListResponse = object("ThreadTurnsListResponse", () => ({
  backwardsCursor: nullable(string()),
  data: array(Turn),
  nextCursor: nullable(string()),
}));
export type ThreadTurnsListResponse = Static<typeof ThreadTurnsListResponse>;

export const TurnsPage = object("TurnsPage", () => ({
  backwardsCursor: nullable(string()),
  data: array(Turn),
  nextCursor: nullable(string()),
}));
export type TurnsPage = Static<typeof TurnsPage>;
