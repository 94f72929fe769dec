import {
  array,
  boolean,
  enumeration,
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

const environment = () => optional(record(nullable(string())));

export const ProcessOutputStream = enumeration("ProcessOutputStream", ["stdout", "stderr"]);
export type ProcessOutputStream = Static<typeof ProcessOutputStream>;

export const ProcessTerminalSize = object("ProcessTerminalSize", () => ({
  cols: integer("uint16"),
  rows: integer("uint16"),
}));
export type ProcessTerminalSize = Static<typeof ProcessTerminalSize>;

export const ProcessSpawnParams = object("ProcessSpawnParams", () => ({
  command: array(string()),
  cwd: filePath(),
  env: environment(),
  outputBytesCap: omittable(nullable(integer("uint64"))),
  processHandle: string(),
  size: optional(ProcessTerminalSize),
  streamStdin: omittable(boolean()),
  streamStdoutStderr: omittable(boolean()),
  timeoutMs: omittable(nullable(integer("int64"))),
  tty: omittable(boolean()),
}));
export type ProcessSpawnParams = Static<typeof ProcessSpawnParams>;

export const ProcessSpawnResponse = object("ProcessSpawnResponse", () => ({}));
export type ProcessSpawnResponse = Static<typeof ProcessSpawnResponse>;

export const ProcessWriteStdinParams = object("ProcessWriteStdinParams", () => ({
  closeStdin: omittable(boolean()),
  deltaBase64: optional(string()),
  processHandle: string(),
}));
export type ProcessWriteStdinParams = Static<typeof ProcessWriteStdinParams>;

export const ProcessWriteStdinResponse = object("ProcessWriteStdinResponse", () => ({}));
export type ProcessWriteStdinResponse = Static<typeof ProcessWriteStdinResponse>;

export const ProcessResizePtyParams = object("ProcessResizePtyParams", () => ({
  processHandle: string(),
  size: ProcessTerminalSize,
}));
export type ProcessResizePtyParams = Static<typeof ProcessResizePtyParams>;

export const ProcessResizePtyResponse = object("ProcessResizePtyResponse", () => ({}));
export type ProcessResizePtyResponse = Static<typeof ProcessResizePtyResponse>;

export const ProcessKillParams = object("ProcessKillParams", () => ({ processHandle: string() }));
export type ProcessKillParams = Static<typeof ProcessKillParams>;

export const ProcessKillResponse = object("ProcessKillResponse", () => ({}));
export type ProcessKillResponse = Static<typeof ProcessKillResponse>;

export const ProcessOutputDeltaNotification = object("ProcessOutputDeltaNotification", () => ({
  capReached: boolean(),
  deltaBase64: string(),
  processHandle: string(),
  stream: ProcessOutputStream,
}));
export type ProcessOutputDeltaNotification = Static<typeof ProcessOutputDeltaNotification>;

export const ProcessExitedNotification = object("ProcessExitedNotification", () => ({
  exitCode: integer("int32"),
  outputDrainTimedOut: optional(boolean()),
  processHandle: string(),
  stderr: string(),
  stderrCapReached: boolean(),
  stdout: string(),
  stdoutCapReached: boolean(),
}));
export type ProcessExitedNotification = Static<typeof ProcessExitedNotification>;
