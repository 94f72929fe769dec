import {
  array,
  boolean,
  enumeration,
  experimental,
  integer,
  object,
  omittable,
  optional,
  record,
  type Static,
  string,
  unknown,
} from "../schema-language.ts";
import { DynamicToolInput } from "./dynamic-tool.ts";
import { ThreadMemoryMode } from "./thread-settings.ts";

export const LoadSettings = object("LoadSettings", () => ({
  developerInstructions: optional(string()),
  baseInstructions: optional(string()),
  toolServers: optional(record(unknown())),
  mcpServers: optional(record(unknown())),
  dynamicTools: optional(array(DynamicToolInput)),
  memoryMode: optional(ThreadMemoryMode),
}));
export type LoadSettings = Static<typeof LoadSettings>;

export const ThreadLoadSettingsUpdateParams = object("ThreadLoadSettingsUpdateParams", () => ({
  threadId: string(),
  developerInstructions: optional(string()),
  baseInstructions: optional(string()),
  toolServers: optional(record(unknown())),
  mcpServers: optional(record(unknown())),
  dynamicTools: optional(array(DynamicToolInput)),
  memoryMode: optional(ThreadMemoryMode),
}));
export type ThreadLoadSettingsUpdateParams = Static<typeof ThreadLoadSettingsUpdateParams>;

export const ThreadLoadSettingsUpdateResponse = object("ThreadLoadSettingsUpdateResponse", () => ({
  pending: LoadSettings,
}));
export type ThreadLoadSettingsUpdateResponse = Static<typeof ThreadLoadSettingsUpdateResponse>;

export const ThreadUnloadBlockers = object("ThreadUnloadBlockers", () => ({
  turnId: optional(string()),
  otherSubscribers: omittable(integer("uint32")),
  pendingRequests: omittable(integer("uint32")),
  pendingCalls: omittable(integer("uint32")),
  descendants: omittable(integer("uint32")),
}));
export type ThreadUnloadBlockers = Static<typeof ThreadUnloadBlockers>;

export const ThreadUnloadParams = object("ThreadUnloadParams", () => ({
  threadId: string(),
  interrupt: experimental.omittable(boolean(), { ours: true }),
}));
export type ThreadUnloadParams = Static<typeof ThreadUnloadParams>;

export const ThreadUnloadResponse = object("ThreadUnloadResponse", () => ({
  status: ThreadUnloadStatus,
  blockedBy: experimental(ThreadUnloadBlockers, { ours: true }),
  /** With status `notLoaded`: id of another host on the same home directory that has the thread loaded. */
  heldBy: experimental(string(), { ours: true }),
}));
export type ThreadUnloadResponse = Static<typeof ThreadUnloadResponse>;

export const ThreadUnloadStatus = enumeration("ThreadUnloadStatus", [
  "unloaded",
  "notLoaded",
  "active",
  "otherSubscribers",
]);
export type ThreadUnloadStatus = Static<typeof ThreadUnloadStatus>;
