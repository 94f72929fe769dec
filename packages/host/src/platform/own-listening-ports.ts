import type { AddressInfo, Server } from "node:net";

const listening = new Set<Server>();

/** Registers a listening TCP server of this process until it is closed. */
export function registerListener(server: Server): void {
  listening.add(server);
  server.once("close", () => listening.delete(server));
}

/** The ports that this process itself listens on. */
export function listeningPorts(): ReadonlySet<number> {
  return new Set([...listening].map((server) => (server.address() as AddressInfo | null)?.port ?? 0));
}
