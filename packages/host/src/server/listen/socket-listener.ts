import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { MAX_MESSAGE_BYTES } from "@bobbin/rpc";
import { type WebSocket, WebSocketServer } from "ws";
import { HTTP_LIMITS, HttpConnectionLimit, type HttpLimits } from "../../platform/http-listener-limits.ts";
import type { ConsoleLogin } from "../site/console-login.ts";
import { httpHandler, type Site } from "../site/site-endpoints.ts";
import type { Authenticate } from "./authenticate.ts";
import type { CallerGuard } from "./caller-guard.ts";
import { CLOSING, FULL, type Refusal, refuseUpgrade } from "./http-refusal.ts";
import type { Accept, LinkMeta, Listener, Principal } from "./listener.ts";
import type { OriginGuard } from "./origin-guard.ts";
import { chosenProtocol, offeredTicket } from "./ticket-protocol.ts";
import { WebSocketLink } from "./websocket-link.ts";

const PING_EVERY_MS = 30_000;
/** How long a connection that has sent no request may delay the close. */
const SILENT_MS = 500;
const LIMITS: HttpLimits = { ...HTTP_LIMITS, maxConnections: 1024, requestTimeout: 15_000 };

export interface SocketListenerOptions {
  readonly accept: Accept;
  readonly transport: "websocket" | "unix";
  readonly guard: OriginGuard;
  /** Refuses processes that may not connect. Without a guard, every process may connect. */
  readonly callers?: CallerGuard;
  readonly authenticate?: Authenticate;
  /** Session keys and tickets for browsers, on a listener with authentication. */
  readonly consoleLogin?: ConsoleLogin;
  /** Makes a link to the console; only for sockets that the host's own user alone can open. */
  readonly openConsole?: () => string | undefined;
  readonly site?: Site;
  readonly pingEveryMs?: number;
  /**
   * Whether a client that answers no pings is disconnected. Not needed if the system reports that a client is gone.
   */
  readonly reap: boolean;
  /** Limit on the open WebSockets; undefined for none. */
  readonly maxClients?: number;
  /** For tests. */
  readonly limits?: Partial<HttpLimits>;
}

/** HTTP and WebSocket on one server, for TCP and Unix sockets. */
export class SocketListener implements Listener {
  readonly server: Server;
  url = "";
  readonly #options: SocketListenerOptions;
  readonly #links = new Set<WebSocketLink>();
  readonly #connections: HttpConnectionLimit;
  readonly #upgrader = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    // `ws` would end the link at invalid UTF-8. The connection itself answers such a frame with an error.
    skipUTF8Validation: true,
    handleProtocols: chosenProtocol,
  });
  #pings: NodeJS.Timeout | undefined;
  #closing: Promise<void> | undefined;

  constructor(options: SocketListenerOptions) {
    this.#options = options;
    const limits = { ...LIMITS, ...options.limits };
    this.server = createServer(limits);
    this.#connections = new HttpConnectionLimit(this.server, limits.maxConnections);
    this.server.on(
      "request",
      httpHandler({
        site: options.site ?? {},
        guard: options.guard,
        ...(options.authenticate && { authenticate: options.authenticate }),
        ...(options.consoleLogin && { consoleLogin: options.consoleLogin }),
        ...(options.openConsole && { openConsole: options.openConsole }),
        checkCaller: async (request) => this.#checkCaller(request.socket),
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
      // Node treats a connection without a request as one whose first request is still coming, and would not close it
      // as idle.
      setTimeout(() => this.#connections.closeIdle(), SILENT_MS).unref();
    });
    for (const link of this.#links) link.cutAfter(graceMs);
    if (graceMs <= 0) this.server.closeAllConnections();
    else setTimeout(() => this.server.closeAllConnections(), graceMs).unref();
    return this.#closing;
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const verdict = this.#judge(request);
    if ("status" in verdict) return refuseUpgrade(socket, verdict);
    const checked = this.#checkCaller(socket as Socket);
    if (checked === undefined) return this.#open(request, socket as Socket, head, verdict.principal);
    // An error event without a listener would end the process.
    const ignore = (): void => {};
    socket.on("error", ignore);
    checked
      .then((refusal) => {
        // Checked again, because the listener may be closing or full by now.
        const again = refusal ?? this.#judge(request);
        if ("status" in again) return refuseUpgrade(socket, again);
        socket.off("error", ignore);
        this.#open(request, socket as Socket, head, again.principal);
      })
      // If the calling process cannot be determined, the connection is refused.
      .catch(() => socket.destroy());
  }

  #open(request: IncomingMessage, socket: Socket, head: Buffer, principal: Principal): void {
    const ticket = offeredTicket(request);
    const { consoleLogin } = this.#options;
    // Two requests with the same ticket may both have passed the check. Only one can take the ticket.
    if (consoleLogin !== undefined && ticket !== undefined && !consoleLogin.takeTicket(ticket)) {
      const again = consoleLogin.checkTicket(ticket, request.headers.origin);
      if ("status" in again) return refuseUpgrade(socket, again);
    }
    this.#upgrader.handleUpgrade(request, socket, head, (ws) => this.#enter(ws, socket, principal));
  }

  #checkCaller(socket: Socket): Promise<Refusal | undefined> | undefined {
    const { callers, transport, authenticate } = this.#options;
    if (callers === undefined) return undefined;
    if (transport === "unix") {
      const { fd } = (socket as unknown as { readonly _handle: { readonly fd: number } })._handle;
      return callers.check({ kind: "unix", fd }, false);
    }
    const { localAddress, localPort, remoteAddress, remotePort } = socket;
    if (localAddress === undefined || remoteAddress === undefined) return undefined;
    const ends = { localAddress, localPort: localPort!, remoteAddress, remotePort: remotePort! };
    return callers.check({ kind: "tcp", ...ends }, authenticate === undefined);
  }

  #judge(request: IncomingMessage): { principal: Principal } | Refusal {
    const { guard, authenticate, consoleLogin, maxClients = Number.POSITIVE_INFINITY } = this.#options;
    const refusal = guard.checkShape(request) ?? guard.checkHost(request) ?? guard.checkOrigin(request);
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
    const ticket = offeredTicket(request);
    const who =
      consoleLogin !== undefined && ticket !== undefined
        ? consoleLogin.checkTicket(ticket, request.headers.origin)
        : (authenticate?.(request.headers.authorization) ?? { principal: { kind: "local" } });
    return "principal" in who && this.#links.size >= maxClients ? FULL : who;
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
