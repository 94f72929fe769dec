import { array, boolean, experimental, integer, nullable, object, type Static, string } from "../schema.ts";

export const LoadedThreadDiagnostics = object("LoadedThreadDiagnostics", () => ({
  threadId: string(),
  resident: boolean(),
  subscribers: integer("uint32"),
  turnId: nullable(string()),
  pendingRequests: integer("uint32"),
  pendingCalls: integer("uint32"),
  descendants: integer("uint32"),
  unloadsInMs: nullable(integer("uint64")),
}));
export type LoadedThreadDiagnostics = Static<typeof LoadedThreadDiagnostics>;

export const ServerDiagnosticsGauge = object("ServerDiagnosticsGauge", () => ({
  name: string(),
  value: integer("uint64"),
}));
export type ServerDiagnosticsGauge = Static<typeof ServerDiagnosticsGauge>;

export const ServerDiagnosticsParams = object("ServerDiagnosticsParams", () => ({}));
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
  /** By this id other hosts on the same home name this one. */
  hostId: experimental(string(), { ours: true }),
}));
export type ServerDiagnosticsResponse = Static<typeof ServerDiagnosticsResponse>;
