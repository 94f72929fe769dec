import {
  array,
  boolean,
  enumeration,
  integer,
  object,
  optional,
  record,
  type Static,
  string,
  unknown,
} from "../schema-language.ts";

export const ServerLogLevel = enumeration("ServerLogLevel", ["info", "warn", "error"]);
export type ServerLogLevel = Static<typeof ServerLogLevel>;

export const ServerLogLine = object("ServerLogLine", () => ({
  /** Milliseconds since 1970. */
  time: integer("int64"),
  level: ServerLogLevel,
  message: string(),
  /** The line's further values, such as the id of a thread or the `cause` of an error. Secrets in them are redacted. */
  fields: record(unknown()),
}));
export type ServerLogLine = Static<typeof ServerLogLine>;

export const ServerLogsReadParams = object("ServerLogsReadParams", () => ({
  /** `nextCursor` of an earlier reply: only later lines are sent. Without it the last lines are sent. */
  cursor: optional(string()),
  /** The most lines to send. Default 200. */
  limit: optional(integer("uint32", { minimum: 1, maximum: 1000 })),
  /** The lowest level to send. Default `info`. */
  level: optional(ServerLogLevel),
}));
export type ServerLogsReadParams = Static<typeof ServerLogsReadParams>;

export const ServerLogsReadResponse = object("ServerLogsReadResponse", () => ({
  /** The oldest line first. */
  data: array(ServerLogLine),
  /** For the next request. There is always one, because more lines may follow. */
  nextCursor: string(),
  /** Whether more lines than `limit` follow the cursor: request them at once. */
  hasMore: boolean(),
  /** Whether lines after the cursor are lost: the host has dropped them, or the cursor is that of another host. */
  gap: boolean(),
}));
export type ServerLogsReadResponse = Static<typeof ServerLogsReadResponse>;
