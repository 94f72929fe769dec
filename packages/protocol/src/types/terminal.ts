import {
  array,
  boolean,
  integer,
  nullable,
  number,
  object,
  optional,
  type Static,
  string,
} from "../schema-language.ts";

export const ThreadShellCommandParams = object("ThreadShellCommandParams", () => ({
  command: string(),
  threadId: string(),
  timeoutMs: optional(integer("int64")),
}));
export type ThreadShellCommandParams = Static<typeof ThreadShellCommandParams>;

export const ThreadShellCommandResponse = object("ThreadShellCommandResponse", () => ({}));
export type ThreadShellCommandResponse = Static<typeof ThreadShellCommandResponse>;

export const ThreadBackgroundTerminal = object("ThreadBackgroundTerminal", () => ({
  command: string(),
  cpuPercent: nullable(number()),
  cwd: string(),
  itemId: string(),
  osPid: nullable(integer("uint32")),
  processId: string(),
  rssKb: nullable(integer("uint64")),
}));
export type ThreadBackgroundTerminal = Static<typeof ThreadBackgroundTerminal>;

export const ThreadBackgroundTerminalsListParams = object("ThreadBackgroundTerminalsListParams", () => ({
  cursor: optional(string()),
  limit: optional(integer("uint32")),
  threadId: string(),
}));
export type ThreadBackgroundTerminalsListParams = Static<typeof ThreadBackgroundTerminalsListParams>;

export const ThreadBackgroundTerminalsListResponse = object("ThreadBackgroundTerminalsListResponse", () => ({
  data: array(ThreadBackgroundTerminal),
  nextCursor: nullable(string()),
}));
export type ThreadBackgroundTerminalsListResponse = Static<typeof ThreadBackgroundTerminalsListResponse>;

export const ThreadBackgroundTerminalsTerminateParams = object(
  "ThreadBackgroundTerminalsTerminateParams",
  () => ({ processId: string(), threadId: string() }),
);
export type ThreadBackgroundTerminalsTerminateParams = Static<
  typeof ThreadBackgroundTerminalsTerminateParams
>;

export const ThreadBackgroundTerminalsTerminateResponse = object(
  "ThreadBackgroundTerminalsTerminateResponse",
  () => ({ terminated: boolean() }),
);
export type ThreadBackgroundTerminalsTerminateResponse = Static<
  typeof ThreadBackgroundTerminalsTerminateResponse
>;

export const ThreadBackgroundTerminalsCleanParams = object("ThreadBackgroundTerminalsCleanParams", () => ({
  threadId: string(),
}));
export type ThreadBackgroundTerminalsCleanParams = Static<typeof ThreadBackgroundTerminalsCleanParams>;

export const ThreadBackgroundTerminalsCleanResponse = object(
  "ThreadBackgroundTerminalsCleanResponse",
  () => ({}),
);
export type ThreadBackgroundTerminalsCleanResponse = Static<typeof ThreadBackgroundTerminalsCleanResponse>;
