import type { BobbinClient } from "@bobbin/client";
import type { HostOfHome } from "@bobbin/protocol";
import { connectToAllHosts } from "./running-host-connection.ts";

/** Describes the hosts that listen on a socket of this home, including the host in this process. */
export async function listeningHosts(home: string): Promise<readonly HostOfHome[]> {
  const clients = await connectToAllHosts(home, "hosts", { experimentalApi: true });
  try {
    const hosts = await Promise.all(clients.map(hostOf));
    return hosts.filter((host) => host !== undefined);
  } finally {
    await Promise.all(clients.map((client) => client.close()));
  }
}

/** Describes one host; undefined if it ends before it replies, or is too old to support `server/diagnostics`. */
async function hostOf(client: BobbinClient): Promise<HostOfHome | undefined> {
  const read = await client.request("server/diagnostics", {}).catch(() => undefined);
  if (read?.hostId == null) return undefined;
  const { hostId, process, version, startedAt, threads } = read;
  return {
    hostId,
    isThis: false,
    processId: process.id,
    version: version ?? null,
    startedAt: startedAt ?? null,
    threads: threads?.length ?? 0,
  };
}
