import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { MAX_MESSAGE_BYTES } from "@bobbin/rpc";
import { type WebSocket, WebSocketServer } from "ws";
import { HTTP_LIMITS, HttpConnections, type HttpLimits } from "../../platform/http-connections.ts";
import { httpHandler, type Site } from "../http.ts";
import type { Authenticate } from "./authenticate.ts";
import type { CallerGuard } from "./caller-guard.ts";
import type { Accept, Door, LinkMeta, Principal } from "./door.ts";
import type { Guard } from "./guard.ts";
import { CLOSING, FULL, type Refusal, refuseUpgrade } from "./refusal.ts";
import { WebSocketLink } from "./wire.ts";

const PING_EVERY_MS = 30_000;
/** How long a connection on which nothing was asked may keep a closing door open. */
const SILENT_MS = 500;
const LIMITS: HttpLimits = { ...HTTP_LIMITS, maxConnections: 1024, requestTimeout: 15_000 };

export interface SocketDoorOptions {
  readonly accept: Accept;
  readonly transport: "websocket" | "unix";
  readonly guard: Guard;
  /** Looks at who connects; without one, everybody may who passes the rest. */
  readonly callers?: CallerGuard;
  readonly authenticate?: Authenticate;
  readonly site?: Site;
  readonly pingEveryMs?: number;
  /** Whether a client that answers no ping is cut; pointless where the system itself tells that it is gone. */
  readonly reap: boolean;
  /** WebSockets that may be open at once; without it there is no limit. */
  readonly maxClients?: number;
  /** For tests. */
  readonly limits?: Partial<HttpLimits>;
}

/** HTTP and WebSocket on one server, whatever it is bound to. */
export class SocketDoor implements Door {
  readonly server: Server;
  url = "";
  readonly #options: SocketDoorOptions;
  readonly #links = new Set<WebSocketLink>();
  readonly #connections: HttpConnections;
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
    const limits = { ...LIMITS, ...options.limits };
    this.server = createServer(limits);
    this.#connections = new HttpConnections(this.server, limits.maxConnections);
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
      // Node takes a connection on which nothing was asked for one whose first request is under way.
      setTimeout(() => this.#connections.endWaiting(), SILENT_MS).unref();
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
    // Nobody else listens for it until then.
    const ignore = (): void => {};
    socket.on("error", ignore);
    checked
      .then((refusal) => {
        // Meanwhile the door may have closed, or may be full.
        const again = refusal ?? this.#judge(request);
        if ("status" in again) return refuseUpgrade(socket, again);
        socket.off("error", ignore);
        this.#open(request, socket as Socket, head, again.principal);
      })
      // Where it cannot be found out who connects, nobody does.
      .catch(() => socket.destroy());
  }

  #open(request: IncomingMessage, socket: Socket, head: Buffer, principal: Principal): void {
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
    const { guard, authenticate, maxClients = Number.POSITIVE_INFINITY } = this.#options;
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
    const who = authenticate?.(request.headers.authorization) ?? { principal: { kind: "local" } };
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
