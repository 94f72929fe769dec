import type { AddressInfo, Server } from "node:net";

const listening = new Set<Server>();

/** Notes a TCP server of this process that listens, until it is closed. */
export function noteListener(server: Server): void {
  listening.add(server);
  server.once("close", () => listening.delete(server));
}

/** The ports that this process itself listens on. */
export function ownPorts(): ReadonlySet<number> {
  return new Set([...listening].map((server) => (server.address() as AddressInfo | null)?.port ?? 0));
}
