import { method, THREAD } from "../table-entry.ts";
import {
  ThreadGoalClearParams,
  ThreadGoalClearResponse,
  ThreadGoalGetParams,
  ThreadGoalGetResponse,
  ThreadGoalSetParams,
  ThreadGoalSetResponse,
} from "../types/thread-goal.ts";
import {
  ThreadQueueAddParams,
  ThreadQueueAddResponse,
  ThreadQueueDeleteParams,
  ThreadQueueDeleteResponse,
  ThreadQueueListParams,
  ThreadQueueListResponse,
  ThreadQueueReorderParams,
  ThreadQueueReorderResponse,
  ThreadQueueStartParams,
  ThreadQueueStartResponse,
  ThreadQueueUpdateParams,
  ThreadQueueUpdateResponse,
} from "../types/thread-queue.ts";

export const threadGoalAndQueueMethods = {
  "thread/goal/get": method({
    params: ThreadGoalGetParams,
    result: ThreadGoalGetResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/goal/set": method({
    params: ThreadGoalSetParams,
    result: ThreadGoalSetResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/goal/clear": method({
    params: ThreadGoalClearParams,
    result: ThreadGoalClearResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/queue/add": method({
    params: ThreadQueueAddParams,
    result: ThreadQueueAddResponse,
    scope: THREAD,
    stability: "experimental",
  }),
  "thread/queue/list": method({
    params: ThreadQueueListParams,
    result: ThreadQueueListResponse,
    scope: THREAD,
    stability: "experimental",
  }),
  "thread/queue/update": method({
    params: ThreadQueueUpdateParams,
    result: ThreadQueueUpdateResponse,
    scope: THREAD,
    stability: "experimental",
  }),
  "thread/queue/delete": method({
    params: ThreadQueueDeleteParams,
    result: ThreadQueueDeleteResponse,
    scope: THREAD,
    stability: "experimental",
  }),
  "thread/queue/reorder": method({
    params: ThreadQueueReorderParams,
    result: ThreadQueueReorderResponse,
    scope: THREAD,
    stability: "experimental",
  }),
  "thread/queue/start": method({
    params: ThreadQueueStartParams,
    result: ThreadQueueStartResponse,
    scope: THREAD,
    stability: "experimental",
  }),
};
