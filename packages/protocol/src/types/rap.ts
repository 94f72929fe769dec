import {
  array,
  boolean,
  enumeration,
  integer,
  nullable,
  object,
  optional,
  type Static,
  string,
  unknown,
} from "../schema-language.ts";
import { cursor } from "./cursor.ts";

export const RapServer = object("RapServer", () => ({
  name: string(),
  url: string(),
  health: RapServerHealth,
  error: nullable(string()),
  tools: array(RapTool),
  pendingCalls: integer("uint32"),
  subscriptions: integer("uint32"),
}));
export type RapServer = Static<typeof RapServer>;

export const RapServerHealth = enumeration("RapServerHealth", [
  "unknown",
  "ready",
  "unreachable",
  "refused",
  "invalid",
]);
export type RapServerHealth = Static<typeof RapServerHealth>;

export const RapServersListParams = object("RapServersListParams", () => ({ threadId: optional(string()) }));
export type RapServersListParams = Static<typeof RapServersListParams>;

export const RapServersListResponse = object("RapServersListResponse", () => ({ data: array(RapServer) }));
export type RapServersListResponse = Static<typeof RapServersListResponse>;

export const RapTool = object("RapTool", () => ({
  name: string(),
  description: nullable(string()),
  available: boolean(),
  reason: nullable(string()),
}));
export type RapTool = Static<typeof RapTool>;

export const ThreadViewUpdatedNotification = object("ThreadViewUpdatedNotification", () => ({
  threadId: string(),
  server: string(),
  callId: string(),
  viewType: string(),
  view: unknown(),
  ...cursor(),
}));
export type ThreadViewUpdatedNotification = Static<typeof ThreadViewUpdatedNotification>;
