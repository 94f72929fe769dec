import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import { sharedConnectionDescriptors } from "./connection-descriptors.ts";

/** Limits of one HTTP listener, in milliseconds, bytes and connections. */
export interface HttpLimits {
  /** Open HTTP connections. Connections that were upgraded to WebSockets do not count. */
  readonly maxConnections: number;
  readonly headersTimeout: number;
  /** Time limit for one whole request, including its body. */
  readonly requestTimeout: number;
  /** How long an idle keep-alive connection may wait for its next request. */
  readonly keepAliveTimeout: number;
  /** Interval at which the timeouts are checked. */
  readonly connectionsCheckingInterval: number;
  /** Limit on the request line and headers together. A longer head is answered with status 431. */
  readonly maxHeaderSize: number;
}

/** The limits that all listeners share. */
export const HTTP_LIMITS = {
  headersTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16 * 1024,
} as const satisfies Partial<HttpLimits>;

/**
 * Limits the connections of an HTTP server. At the limit, and when the process has few descriptors left, a new
 * connection replaces the one that has been idle longest, so that idle connections cannot keep new clients out. If none
 * is idle, the new connection is refused.
 */
export class HttpConnectionLimit {
  /** Idle connections, the longest idle first. */
  readonly #idle = new Set<Socket>();
  /** Busy connections, with the number of requests under way on each. */
  readonly #busy = new Map<Socket, number>();

  constructor(server: Server, maxConnections: number, descriptors = sharedConnectionDescriptors()) {
    // Disables the limit on the number of headers: Node would silently drop further headers, possibly a second Host
    // header. `maxHeaderSize` limits them anyway.
    server.maxHeadersCount = 0;
    server.on("connection", (socket: Socket) => {
      const isFull = descriptors.add(socket) || this.size >= maxConnections;
      if (isFull && !this.#evict()) {
        socket.destroy();
        return;
      }
      this.#idle.add(socket);
      socket.once("close", () => this.#forget(socket));
    });
    server.on("request", ({ socket }, response) => {
      if (!this.#idle.delete(socket) && !this.#busy.has(socket)) return;
      this.#busy.set(socket, (this.#busy.get(socket) ?? 0) + 1);
      response.once("close", () => this.#requestDone(socket));
    });
    server.on("upgrade", ({ socket }) => this.#forget(socket));
  }

  get size(): number {
    return this.#idle.size + this.#busy.size;
  }

  closeIdle(): void {
    for (const socket of this.#idle) socket.destroy();
  }

  #evict(): boolean {
    for (const socket of this.#idle) {
      this.#forget(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  #requestDone(socket: Socket): void {
    const left = (this.#busy.get(socket) ?? 0) - 1;
    if (left > 0) this.#busy.set(socket, left);
    else if (this.#busy.delete(socket) && !socket.destroyed) this.#idle.add(socket);
  }

  #forget(socket: Socket): void {
    this.#idle.delete(socket);
    this.#busy.delete(socket);
  }
}

/**
 * Headers that say who sends a request and to which host. If one occurs twice, a proxy and this host could each use a
 * different one.
 */
const SINGLE = new Set(["host", "authorization", "origin"]);

/** Why a request is ambiguous, such as two Host headers; undefined if it is not. */
export function ambiguityOf({ rawHeaders, url, httpVersion }: IncomingMessage): string | undefined {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen.has(name)) return `the request has more than one ${name} header`;
    seen.add(name);
  }
  if (httpVersion === "1.1" && !seen.has("host")) return "the request has no host header";
  // An absolute request target contains a host, which would override the Host header.
  if (!url?.startsWith("/")) return "the request target must be a path";
  return undefined;
}
