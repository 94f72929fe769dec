import type { Supervisor } from "../../observe/supervise.ts";
import type { ByteStream } from "../../platform/platform.ts";
import { readBridge } from "./bridge-channel.ts";
import { MAX_CONNECTIONS } from "./bridge-protocol.ts";
import { type ProxyPorts, serveConnection } from "./proxy.ts";

/**
 * Limit on connections being served, including those that the program has closed and that still wait for a decision.
 */
const MAX_SERVED = 2 * MAX_CONNECTIONS;

/** Serves the network connections of one command, which come through its bridge, until it is closed. */
export class CommandNetwork {
  readonly #ports: ProxyPorts;
  readonly #channel: ByteStream;
  readonly #supervisor: Supervisor;
  readonly #served = new Set<AbortController>();
  #isClosed = false;

  constructor(ports: ProxyPorts & { readonly supervisor: Supervisor }, channel: ByteStream) {
    this.#ports = ports;
    this.#supervisor = ports.supervisor;
    this.#channel = channel;
    ports.supervisor.take(
      "the network of a command",
      // The channel breaks when the command ends, or when it sends invalid frames.
      readBridge(channel, (connection) => this.#serve(connection)).catch(() => {}),
    );
  }

  /** Drops all connections. */
  close(): void {
    this.#isClosed = true;
    for (const served of this.#served) served.abort();
    this.#channel.destroy();
  }

  #serve(connection: ByteStream): void {
    if (this.#served.size >= MAX_SERVED || this.#isClosed) return connection.destroy();
    const served = new AbortController();
    this.#served.add(served);
    this.#supervisor.take(
      "a connection of a command",
      serveConnection(this.#ports, connection, served.signal).finally(() => this.#served.delete(served)),
    );
  }
}
