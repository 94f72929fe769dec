import type { Supervisor } from "../../observe/supervise.ts";
import type { ByteStream } from "../../platform/platform.ts";
import { readBridge } from "./bridge-channel.ts";
import { MAX_CONNECTIONS } from "./frames.ts";
import { type ProxyPorts, serveConnection } from "./proxy.ts";

/** Those that a program has given up wait for an answer all the same. */
const MAX_SERVED = 2 * MAX_CONNECTIONS;

/** The network of one command: serves the connections that come through its bridge, until it is closed. */
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
      // What breaks it is the command's own doing, or its end.
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
