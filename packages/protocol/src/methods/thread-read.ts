import { method, NONE, THREAD } from "../table-entry.ts";
import { ThreadReadParams, ThreadReadResponse } from "../types/thread-edit.ts";
import {
  ThreadJournalReadParams,
  ThreadJournalReadResponse,
  TurnTimelineReadParams,
  TurnTimelineReadResponse,
} from "../types/thread-journal.ts";
import {
  ThreadItemsListParams,
  ThreadItemsListResponse,
  ThreadItemsReadParams,
  ThreadItemsReadResponse,
  ThreadListParams,
  ThreadListResponse,
  ThreadLoadedListParams,
  ThreadLoadedListResponse,
  ThreadSearchOccurrencesParams,
  ThreadSearchOccurrencesResponse,
  ThreadSearchParams,
  ThreadSearchResponse,
  ThreadTurnsListParams,
  ThreadTurnsListResponse,
} from "../types/thread-list.ts";

export const threadReadMethods = {
  "thread/read": method({
    params: ThreadReadParams,
    result: ThreadReadResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/list": method({
    params: ThreadListParams,
    result: ThreadListResponse,
    scope: NONE,
    stability: "stable",
  }),
  "thread/search": method({
    params: ThreadSearchParams,
    result: ThreadSearchResponse,
    scope: NONE,
    stability: "experimental",
  }),
  "thread/searchOccurrences": method({
    params: ThreadSearchOccurrencesParams,
    result: ThreadSearchOccurrencesResponse,
    scope: NONE,
    stability: "experimental",
  }),
  "thread/loaded/list": method({
    params: ThreadLoadedListParams,
    result: ThreadLoadedListResponse,
    scope: NONE,
    stability: "stable",
  }),
  "thread/turns/list": method({
    params: ThreadTurnsListParams,
    result: ThreadTurnsListResponse,
    scope: NONE,
    stability: "stable",
  }),
  "thread/items/list": method({
    params: ThreadItemsListParams,
    result: ThreadItemsListResponse,
    scope: NONE,
    stability: "stable",
  }),
  "thread/items/read": method({
    params: ThreadItemsReadParams,
    result: ThreadItemsReadResponse,
    scope: NONE,
    stability: "experimental",
  }),
  "thread/journal/read": method({
    params: ThreadJournalReadParams,
    result: ThreadJournalReadResponse,
    scope: NONE,
    stability: "experimental",
    ours: true,
  }),
  "turn/timeline/read": method({
    params: TurnTimelineReadParams,
    result: TurnTimelineReadResponse,
    scope: NONE,
    stability: "experimental",
    ours: true,
  }),
};
