import { connect } from "node:net";
import { type BobbinClient, connectWebSocket, type WebSocketConstructor } from "@bobbin/client";
import type { InitializeCapabilities } from "@bobbin/protocol";
import { WebSocket } from "ws";
import { BOBBIN_VERSION } from "../version.ts";
import { controlSockets } from "./control-sockets.ts";

/** Time limit for a host to accept the connection and to answer `initialize`. */
export const ANSWER_MS = 5_000;

/** Connects to the first host that runs on this home. Resolves with undefined if there is none. `prepare`: see `OpenOptions`. */
export async function connectToRunningHost(
  home: string,
  command: string,
  capabilities: InitializeCapabilities,
  prepare: (client: BobbinClient) => void = () => {},
): Promise<BobbinClient | undefined> {
  for (const path of controlSockets(home)) {
    const client = await connectToSocket(path, command, capabilities, prepare);
    if (client !== undefined) return client;
  }
  return undefined;
}

/** Connects to every host that runs on this home and listens on a socket. */
export async function connectToAllHosts(
  home: string,
  command: string,
  capabilities: InitializeCapabilities,
): Promise<readonly BobbinClient[]> {
  const paths = controlSockets(home);
  const clients = await Promise.all(paths.map((path) => connectToSocket(path, command, capabilities)));
  return clients.filter((client) => client !== undefined);
}

/**
 * Connects to a socket. Resolves with undefined if no host answers, because killed hosts leave their sockets behind.
 */
export async function connectToSocket(
  path: string,
  command: string,
  capabilities: InitializeCapabilities,
  prepare: (client: BobbinClient) => void = () => {},
): Promise<BobbinClient | undefined> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  let client: BobbinClient | undefined;
  try {
    client = await openSocket(path, signal);
    prepare(client);
    await client.initialize(clientInfo(command), capabilities, { signal });
    return client;
  } catch {
    void client?.close();
    return undefined;
  }
}

/** Opens a connection to a socket, without sending `initialize`. Rejects if no host answers. */
export function openSocket(path: string, signal: AbortSignal): Promise<BobbinClient> {
  return connectWebSocket("ws://localhost/", { WebSocket: overSocket(path), signal });
}

export function clientInfo(command: string): { name: string; title: string; version: string } {
  return { name: `bobbin_${command}`, title: `Bobbin ${command}`, version: BOBBIN_VERSION };
}

/** A WebSocket class that connects to a Unix socket. The path may contain any characters. */
function overSocket(path: string): WebSocketConstructor {
  return class extends WebSocket {
    constructor(url: string, protocols?: string[]) {
      super(url, protocols ?? [], { createConnection: () => connect({ path }) });
    }
  };
}
