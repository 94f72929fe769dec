import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { MAX_MESSAGE_BYTES } from "@bobbin/rpc";
import { type WebSocket, WebSocketServer } from "ws";
import { httpHandler, type Site } from "../http.ts";
import type { Authenticate } from "./authenticate.ts";
import type { Accept, Door, LinkMeta, Principal } from "./door.ts";
import type { Guard } from "./guard.ts";
import { CLOSING, type Refusal, refuseUpgrade } from "./refusal.ts";
import { WebSocketLink } from "./wire.ts";

const PING_EVERY_MS = 30_000;
/** How long a connection on which nothing was asked may keep a closing door open. */
const SILENT_MS = 500;

export interface SocketDoorOptions {
  readonly accept: Accept;
  readonly transport: "websocket" | "unix";
  readonly guard: Guard;
  readonly authenticate?: Authenticate;
  readonly site?: Site;
  readonly pingEveryMs?: number;
  /** Whether a client that answers no ping is cut; pointless where the system itself tells that it is gone. */
  readonly reap: boolean;
}

/** HTTP and WebSocket on one server, whatever it is bound to. */
export class SocketDoor implements Door {
  readonly server: Server;
  url = "";
  readonly #options: SocketDoorOptions;
  readonly #links = new Set<WebSocketLink>();
  /** Open, but nothing was asked on them yet: browsers keep some at hand. */
  readonly #silent = new Set<Duplex>();
  readonly #upgrader = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    // A text frame that is no UTF-8 is the connection's to answer; `ws` would end the wire.
    skipUTF8Validation: true,
  });
  #pings: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SocketDoorOptions) {
    this.#options = options;
    this.server = createServer({
      headersTimeout: 10_000,
      requestTimeout: 15_000,
      keepAliveTimeout: 5_000,
      connectionsCheckingInterval: 5_000,
    });
    this.server.on("connection", (socket) => {
      this.#silent.add(socket);
      socket.once("close", () => this.#silent.delete(socket));
    });
    this.server.on("request", (request) => this.#silent.delete(request.socket));
    this.server.on(
      "request",
      httpHandler({
        site: options.site ?? {},
        guard: options.guard,
        ...(options.authenticate && { authenticate: options.authenticate }),
        ready: () => this.#closing === undefined,
        url: () => this.url,
      }),
    );
    this.server.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** Called when the server is bound. */
  opened(url: string): this {
    this.url = url;
    const { pingEveryMs = PING_EVERY_MS, reap } = this.#options;
    this.#pings = setInterval(() => {
      for (const link of this.#links) link.ping(reap);
    }, pingEveryMs).unref();
    return this;
  }

  close(graceMs: number): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      clearInterval(this.#pings);
      this.server.close(() => resolve());
      this.server.closeIdleConnections();
      // To the server these are busy with their first request, for as long as it may take.
      setTimeout(() => {
        for (const socket of this.#silent) socket.destroy();
      }, SILENT_MS).unref();
    });
    for (const link of this.#links) link.cutAfter(graceMs);
    if (graceMs <= 0) this.server.closeAllConnections();
    else setTimeout(() => this.server.closeAllConnections(), graceMs).unref();
    return this.#closing;
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#silent.delete(socket);
    const verdict = this.#judge(request);
    if ("status" in verdict) refuseUpgrade(socket, verdict);
    else {
      this.#upgrader.handleUpgrade(request, socket, head, (ws) =>
        this.#enter(ws, socket as Socket, verdict.principal),
      );
    }
  }

  #judge(request: IncomingMessage): { principal: Principal } | Refusal {
    const { guard, authenticate } = this.#options;
    const refusal = guard.checkHost(request) ?? guard.checkOrigin(request);
    if (refusal) return refusal;
    if (this.#closing) return CLOSING;
    if (request.headers.upgrade?.toLowerCase() !== "websocket") {
      return {
        status: 426,
        code: "upgradeRequired",
        message: `the only protocol to upgrade to is websocket, not ${request.headers.upgrade}`,
        headers: { Upgrade: "websocket" },
      };
    }
    return authenticate ? authenticate(request.headers.authorization) : { principal: { kind: "local" } };
  }

  #enter(ws: WebSocket, socket: Socket, principal: Principal): void {
    const link = new WebSocketLink(ws, socket);
    const meta: LinkMeta = {
      transport: this.#options.transport,
      principal,
      ...(socket.remoteAddress !== undefined && { peer: `${socket.remoteAddress}:${socket.remotePort}` }),
    };
    this.#links.add(link);
    ws.once("close", () => this.#links.delete(link));
    link.begin(this.#options.accept(link, meta));
  }
}
