import { method, NONE, THREAD } from "../table-entry.ts";
import {
  ThreadArchiveParams,
  ThreadArchiveResponse,
  ThreadCompactStartParams,
  ThreadCompactStartResponse,
  ThreadDeleteParams,
  ThreadDeleteResponse,
  ThreadUnarchiveParams,
  ThreadUnarchiveResponse,
  ThreadUnsubscribeParams,
  ThreadUnsubscribeResponse,
} from "../types/thread-edit.ts";
import {
  ThreadMemoryModeSetParams,
  ThreadMemoryModeSetResponse,
  ThreadSettingsUpdateParams,
  ThreadSettingsUpdateResponse,
} from "../types/thread-settings.ts";
import {
  ThreadForkParams,
  ThreadForkResponse,
  ThreadResumeParams,
  ThreadResumeResponse,
  ThreadStartParams,
  ThreadStartResponse,
} from "../types/thread-start.ts";
import {
  ThreadLoadSettingsUpdateParams,
  ThreadLoadSettingsUpdateResponse,
  ThreadUnloadParams,
  ThreadUnloadResponse,
} from "../types/thread-unload.ts";

export const threadLifecycleMethods = {
  "thread/start": method({
    params: ThreadStartParams,
    result: ThreadStartResponse,
    scope: NONE,
    stability: "stable",
  }),
  "thread/resume": method({
    params: ThreadResumeParams,
    result: ThreadResumeResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/fork": method({
    params: ThreadForkParams,
    result: ThreadForkResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/archive": method({
    params: ThreadArchiveParams,
    result: ThreadArchiveResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/unarchive": method({
    params: ThreadUnarchiveParams,
    result: ThreadUnarchiveResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/delete": method({
    params: ThreadDeleteParams,
    result: ThreadDeleteResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/unsubscribe": method({
    params: ThreadUnsubscribeParams,
    result: ThreadUnsubscribeResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/compact/start": method({
    params: ThreadCompactStartParams,
    result: ThreadCompactStartResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/settings/update": method({
    params: ThreadSettingsUpdateParams,
    result: ThreadSettingsUpdateResponse,
    scope: THREAD,
    stability: "experimental",
  }),
  "thread/memoryMode/set": method({
    params: ThreadMemoryModeSetParams,
    result: ThreadMemoryModeSetResponse,
    scope: THREAD,
    stability: "experimental",
  }),
  "thread/unload": method({
    params: ThreadUnloadParams,
    result: ThreadUnloadResponse,
    scope: THREAD,
    stability: "stable",
    ours: true,
  }),
  "thread/loadSettings/update": method({
    params: ThreadLoadSettingsUpdateParams,
    result: ThreadLoadSettingsUpdateResponse,
    scope: THREAD,
    stability: "experimental",
    ours: true,
  }),
};
