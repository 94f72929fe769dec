import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";

/** What one HTTP listener takes from others; in milliseconds, bytes and connections. */
export interface HttpLimits {
  /** Connections over which HTTP is spoken. Those that became WebSockets do not count. */
  readonly maxConnections: number;
  readonly headersTimeout: number;
  /** For a whole request with its body. */
  readonly requestTimeout: number;
  /** For the next request on a connection that is kept. */
  readonly keepAliveTimeout: number;
  /** How often the time-outs are checked. */
  readonly connectionsCheckingInterval: number;
  /** The request line and all headers together; a longer head gets a 431. */
  readonly maxHeaderSize: number;
}

export const HTTP_LIMITS = {
  headersTimeout: 10_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16 * 1024,
} as const satisfies Partial<HttpLimits>;

/**
 * Bounds the connections of an HTTP server. When the server is full, a new connection takes the place of the one that
 * has gone longest without a request: connections that are only held open cannot keep others out.
 */
export class HttpConnections {
  /** No request is under way on these; the longest without one comes first. */
  readonly #waiting = new Set<Socket>();
  /** How many requests are under way on the others. */
  readonly #busy = new Map<Socket, number>();

  constructor(server: Server, most: number) {
    // Headers past a count would be dropped unseen, a second Host among them; their size is bounded anyway.
    server.maxHeadersCount = 0;
    server.on("connection", (socket: Socket) => {
      if (this.size >= most && !this.#evict()) {
        socket.destroy();
        return;
      }
      this.#waiting.add(socket);
      socket.once("close", () => this.#forget(socket));
    });
    server.on("request", ({ socket }, response) => {
      if (!this.#waiting.delete(socket) && !this.#busy.has(socket)) return;
      this.#busy.set(socket, (this.#busy.get(socket) ?? 0) + 1);
      response.once("close", () => this.#answered(socket));
    });
    server.on("upgrade", ({ socket }) => this.#forget(socket));
  }

  get size(): number {
    return this.#waiting.size + this.#busy.size;
  }

  endWaiting(): void {
    for (const socket of this.#waiting) socket.destroy();
  }

  #evict(): boolean {
    for (const socket of this.#waiting) {
      this.#forget(socket);
      socket.destroy();
      return true;
    }
    return false;
  }

  #answered(socket: Socket): void {
    const left = (this.#busy.get(socket) ?? 0) - 1;
    if (left > 0) this.#busy.set(socket, left);
    else if (this.#busy.delete(socket) && !socket.destroyed) this.#waiting.add(socket);
  }

  #forget(socket: Socket): void {
    this.#waiting.delete(socket);
    this.#busy.delete(socket);
  }
}

/** These decide who asks and for what, so two of them could be read in two ways by us and by a proxy. */
const SINGLE = new Set(["host", "authorization", "origin"]);

/** Why a request can be read in more than one way; undefined if it cannot. */
export function ambiguityOf({ rawHeaders, url, httpVersion }: IncomingMessage): string | undefined {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (!SINGLE.has(name)) continue;
    if (seen.has(name)) return `the request has more than one ${name} header`;
    seen.add(name);
  }
  if (httpVersion === "1.1" && !seen.has("host")) return "the request has no host header";
  // A target with a host of its own would have to win over the header.
  if (!url?.startsWith("/")) return "the request target must be a path";
  return undefined;
}
