import { method, NONE } from "../table-entry.ts";
import {
  ProcessKillParams,
  ProcessKillResponse,
  ProcessResizePtyParams,
  ProcessResizePtyResponse,
  ProcessSpawnParams,
  ProcessSpawnResponse,
  ProcessWriteStdinParams,
  ProcessWriteStdinResponse,
} from "../types/process.ts";

export const processMethods = {
  "process/spawn": method({
    params: ProcessSpawnParams,
    result: ProcessSpawnResponse,
    scope: NONE,
    stability: "experimental",
  }),
  "process/writeStdin": method({
    params: ProcessWriteStdinParams,
    result: ProcessWriteStdinResponse,
    scope: NONE,
    stability: "experimental",
  }),
  "process/resizePty": method({
    params: ProcessResizePtyParams,
    result: ProcessResizePtyResponse,
    scope: NONE,
    stability: "experimental",
  }),
  "process/kill": method({
    params: ProcessKillParams,
    result: ProcessKillResponse,
    scope: NONE,
    stability: "experimental",
  }),
};
