import { method, NONE, THREAD } from "../entry.ts";
import { ThreadReadParams, ThreadReadResponse } from "../types/thread-edit.ts";
import {
  ThreadItemsListParams,
  ThreadItemsListResponse,
  ThreadListParams,
  ThreadListResponse,
  ThreadLoadedListParams,
  ThreadLoadedListResponse,
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
};
