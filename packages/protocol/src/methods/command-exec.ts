import { method, NONE } from "../table-entry.ts";
import {
  CommandExecParams,
  CommandExecResizeParams,
  CommandExecResizeResponse,
  CommandExecResponse,
  CommandExecTerminateParams,
  CommandExecTerminateResponse,
  CommandExecWriteParams,
  CommandExecWriteResponse,
} from "../types/command-exec.ts";

export const commandExecMethods = {
  "command/exec": method({
    params: CommandExecParams,
    result: CommandExecResponse,
    scope: NONE,
    stability: "stable",
  }),
  "command/exec/write": method({
    params: CommandExecWriteParams,
    result: CommandExecWriteResponse,
    scope: NONE,
    stability: "stable",
  }),
  "command/exec/resize": method({
    params: CommandExecResizeParams,
    result: CommandExecResizeResponse,
    scope: NONE,
    stability: "stable",
  }),
  "command/exec/terminate": method({
    params: CommandExecTerminateParams,
    result: CommandExecTerminateResponse,
    scope: NONE,
    stability: "stable",
  }),
};
