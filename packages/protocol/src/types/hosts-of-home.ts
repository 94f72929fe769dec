import { array, boolean, integer, nullable, object, type Static, string } from "../schema-language.ts";

/** A host that runs on the same home directory. */
export const HostOfHome = object("HostOfHome", () => ({
  hostId: string(),
  /** Whether it is the host that replies. */
  isThis: boolean(),
  /** Null, as the two below, for a host that serves one client on stdin and stdout: it cannot be asked. */
  processId: nullable(integer("uint32")),
  version: nullable(string()),
  /** In seconds. */
  startedAt: nullable(integer("int64")),
  /** The number of threads that it has loaded. */
  threads: integer("uint32"),
}));
export type HostOfHome = Static<typeof HostOfHome>;

export const ServerHostsListParams = object("ServerHostsListParams", () => ({}));
export type ServerHostsListParams = Static<typeof ServerHostsListParams>;

export const ServerHostsListResponse = object("ServerHostsListResponse", () => ({ data: array(HostOfHome) }));
export type ServerHostsListResponse = Static<typeof ServerHostsListResponse>;
