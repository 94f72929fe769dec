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
} from "../schema-language.ts";
import { SandboxPolicy } from "./permission.ts";

export const CommandExecOutputStream = enumeration("CommandExecOutputStream", ["stdout", "stderr"]);
export type CommandExecOutputStream = Static<typeof CommandExecOutputStream>;

export const CommandExecTerminalSize = object("CommandExecTerminalSize", () => ({
  cols: integer("uint16"),
  rows: integer("uint16"),
}));
export type CommandExecTerminalSize = Static<typeof CommandExecTerminalSize>;

export const CommandExecParams = object("CommandExecParams", () => ({
  command: array(string()),
  cwd: optional(filePath()),
  disableOutputCap: omittable(boolean()),
  disableTimeout: omittable(boolean()),
  env: optional(record(nullable(string()))),
  outputBytesCap: optional(integer("uint64")),
  permissionProfile: experimental(string()),
  processId: optional(string()),
  sandboxPolicy: optional(SandboxPolicy),
  size: optional(CommandExecTerminalSize),
  streamStdin: omittable(boolean()),
  streamStdoutStderr: omittable(boolean()),
  timeoutMs: optional(integer("int64")),
  tty: omittable(boolean()),
}));
export type CommandExecParams = Static<typeof CommandExecParams>;

export const CommandExecResponse = object("CommandExecResponse", () => ({
  exitCode: integer("int32"),
  stderr: string(),
  stdout: string(),
}));
export type CommandExecResponse = Static<typeof CommandExecResponse>;

export const CommandExecWriteParams = object("CommandExecWriteParams", () => ({
  closeStdin: omittable(boolean()),
  deltaBase64: optional(string()),
  processId: string(),
}));
export type CommandExecWriteParams = Static<typeof CommandExecWriteParams>;

export const CommandExecWriteResponse = object("CommandExecWriteResponse", () => ({}));
export type CommandExecWriteResponse = Static<typeof CommandExecWriteResponse>;

export const CommandExecResizeParams = object("CommandExecResizeParams", () => ({
  processId: string(),
  size: CommandExecTerminalSize,
}));
export type CommandExecResizeParams = Static<typeof CommandExecResizeParams>;

export const CommandExecResizeResponse = object("CommandExecResizeResponse", () => ({}));
export type CommandExecResizeResponse = Static<typeof CommandExecResizeResponse>;

export const CommandExecTerminateParams = object("CommandExecTerminateParams", () => ({
  processId: string(),
}));
export type CommandExecTerminateParams = Static<typeof CommandExecTerminateParams>;

export const CommandExecTerminateResponse = object("CommandExecTerminateResponse", () => ({}));
export type CommandExecTerminateResponse = Static<typeof CommandExecTerminateResponse>;

export const CommandExecOutputDeltaNotification = object("CommandExecOutputDeltaNotification", () => ({
  capReached: boolean(),
  deltaBase64: string(),
  processId: string(),
  stream: CommandExecOutputStream,
}));
export type CommandExecOutputDeltaNotification = Static<typeof CommandExecOutputDeltaNotification>;
