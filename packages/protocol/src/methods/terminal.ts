import { method, THREAD } from "../table-entry.ts";
import {
  ThreadBackgroundTerminalsCleanParams,
  ThreadBackgroundTerminalsCleanResponse,
  ThreadBackgroundTerminalsListParams,
  ThreadBackgroundTerminalsListResponse,
  ThreadBackgroundTerminalsTerminateParams,
  ThreadBackgroundTerminalsTerminateResponse,
  ThreadShellCommandParams,
  ThreadShellCommandResponse,
} from "../types/terminal.ts";

export const terminalMethods = {
  "thread/shellCommand": method({
    params: ThreadShellCommandParams,
    result: ThreadShellCommandResponse,
    scope: THREAD,
    stability: "stable",
  }),
  "thread/backgroundTerminals/list": method({
    params: ThreadBackgroundTerminalsListParams,
    result: ThreadBackgroundTerminalsListResponse,
    scope: THREAD,
    stability: "experimental",
  }),
  "thread/backgroundTerminals/terminate": method({
    params: ThreadBackgroundTerminalsTerminateParams,
    result: ThreadBackgroundTerminalsTerminateResponse,
    scope: THREAD,
    stability: "experimental",
  }),
  "thread/backgroundTerminals/clean": method({
    params: ThreadBackgroundTerminalsCleanParams,
    result: ThreadBackgroundTerminalsCleanResponse,
    scope: THREAD,
    stability: "experimental",
  }),
};
