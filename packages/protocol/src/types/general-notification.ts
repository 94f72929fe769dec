import { boolean, integer, nullable, object, optional, type Static, string } from "../schema-language.ts";
import { cursor } from "./cursor.ts";
import { RequestId } from "./rpc.ts";
import { TurnError } from "./turn.ts";

export const ConfigWarningNotification = object("ConfigWarningNotification", () => ({
  details: nullable(string()),
  path: optional(string()),
  range: optional(TextRange),
  summary: string(),
}));
export type ConfigWarningNotification = Static<typeof ConfigWarningNotification>;

export const DeprecationNoticeNotification = object("DeprecationNoticeNotification", () => ({
  details: nullable(string()),
  summary: string(),
}));
export type DeprecationNoticeNotification = Static<typeof DeprecationNoticeNotification>;

export const ErrorNotification = object("ErrorNotification", () => ({
  error: TurnError,
  threadId: string(),
  turnId: string(),
  willRetry: boolean(),
}));
export type ErrorNotification = Static<typeof ErrorNotification>;

export const ServerRequestResolvedNotification = object("ServerRequestResolvedNotification", () => ({
  requestId: RequestId,
  threadId: string(),
  ...cursor(),
}));
export type ServerRequestResolvedNotification = Static<typeof ServerRequestResolvedNotification>;

export const TextPosition = object("TextPosition", () => ({
  column: integer("uint64"),
  line: integer("uint64"),
}));
export type TextPosition = Static<typeof TextPosition>;

export const TextRange = object("TextRange", () => ({ end: TextPosition, start: TextPosition }));
export type TextRange = Static<typeof TextRange>;

export const WarningNotification = object("WarningNotification", () => ({
  message: string(),
  threadId: nullable(string()),
  ...cursor(),
}));
export type WarningNotification = Static<typeof WarningNotification>;
