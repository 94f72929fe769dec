import {
  array,
  boolean,
  experimental,
  integer,
  nullable,
  object,
  type Static,
  string,
} from "../schema-language.ts";

export const LoadedThreadDiagnostics = object("LoadedThreadDiagnostics", () => ({
  threadId: string(),
  resident: boolean(),
  /** An estimate of what hibernation would free; null while the thread hibernates. */
  memoryBytes: experimental(integer("uint64"), { ours: true }),
  /** When the thread was last used, in seconds. */
  recencyAt: experimental(integer("int64"), { ours: true }),
  /** Number of retaining subscribers: those that keep the thread loaded. */
  subscribers: integer("uint32"),
  turnId: nullable(string()),
  pendingRequests: integer("uint32"),
  pendingCalls: integer("uint32"),
  descendants: integer("uint32"),
  /** Whether the thread is about to work without a running turn. */
  workDue: experimental(boolean(), { ours: true }),
  /** Number of live subscriptions of tool servers. */
  toolServerSubscriptions: experimental(integer("uint32"), { ours: true }),
  /** Whether the thread is a helper that its parent has not closed. */
  isOpenHelper: experimental(boolean(), { ours: true }),
  unloadsInMs: nullable(integer("uint64")),
}));
export type LoadedThreadDiagnostics = Static<typeof LoadedThreadDiagnostics>;

export const ServerDiagnosticsGauge = object("ServerDiagnosticsGauge", () => ({
  name: string(),
  value: integer("uint64"),
}));
export type ServerDiagnosticsGauge = Static<typeof ServerDiagnosticsGauge>;

export const ServerDiagnosticsParams = object("ServerDiagnosticsParams", () => ({
  /** Describes only these threads, if they are loaded. Without it, describes every loaded thread. */
  threadIds: experimental(array(string()), { ours: true }),
}));
export type ServerDiagnosticsParams = Static<typeof ServerDiagnosticsParams>;

export const ServerDiagnosticsProcess = object("ServerDiagnosticsProcess", () => ({
  id: integer("uint32"),
  physicalFootprintBytes: nullable(integer("uint64")),
  residentMemoryBytes: nullable(integer("uint64")),
}));
export type ServerDiagnosticsProcess = Static<typeof ServerDiagnosticsProcess>;

export const ServerDiagnosticsResponse = object("ServerDiagnosticsResponse", () => ({
  gauges: array(ServerDiagnosticsGauge),
  process: ServerDiagnosticsProcess,
  threads: experimental(array(LoadedThreadDiagnostics), { ours: true }),
  /** Id of this host. Other hosts on the same home directory refer to it by this id. */
  hostId: experimental(string(), { ours: true }),
  version: experimental(string(), { ours: true }),
  /** In seconds. */
  startedAt: experimental(integer("int64"), { ours: true }),
}));
export type ServerDiagnosticsResponse = Static<typeof ServerDiagnosticsResponse>;
