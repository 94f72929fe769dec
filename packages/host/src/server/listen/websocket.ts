import type { AddressInfo } from "node:net";
import { registerListener } from "../../platform/own-listening-ports.ts";
import type { ConsoleLogin } from "../site/console-login.ts";
import type { Site } from "../site/site-endpoints.ts";
import type { Authenticate } from "./authenticate.ts";
import type { CallerGuard } from "./caller-guard.ts";
import { type Accept, ListenError, type Listener } from "./listener.ts";
import { isLoopbackAddress } from "./loopback.ts";
import { OriginGuard } from "./origin-guard.ts";
import { SocketListener, type SocketListenerOptions } from "./socket-listener.ts";

const BACKLOG = 4_096;

export interface WebSocketOptions {
  readonly accept: Accept;
  /** An IP address, as `parseListen` returns it. */
  readonly host: string;
  /** Zero for any free port. */
  readonly port: number;
  readonly authenticate?: Authenticate;
  readonly consoleLogin?: ConsoleLogin;
  readonly allowedOrigins?: readonly string[];
  readonly callers?: CallerGuard;
  readonly site?: Site;
  readonly pingEveryMs?: number;
  readonly maxClients?: number;
  /** For tests. */
  readonly limits?: SocketListenerOptions["limits"];
}

/** Listens on `ws://IP:PORT`. */
export async function listenWebSocket(options: WebSocketOptions): Promise<Listener> {
  const { host, port, authenticate, allowedOrigins } = options;
  const requestedUrl = wsUrl(host, port);
  const loopback = isLoopbackAddress(host);
  if (!loopback && !authenticate) {
    throw new ListenError(
      "authRequired",
      `refusing to listen on ${requestedUrl} without authentication: other machines could run commands here. ` +
        "Add --ws-auth capability-token or --ws-auth signed-bearer-token, or listen on ws://127.0.0.1:" +
        `${port} for programs of this machine, or on unix:// for an SSH tunnel.`,
    );
  }
  const listener = new SocketListener({
    accept: options.accept,
    transport: "websocket",
    guard: new OriginGuard({ loopback, ...(allowedOrigins && { allowedOrigins }) }),
    ...(authenticate && { authenticate }),
    ...(options.consoleLogin && { consoleLogin: options.consoleLogin }),
    ...(options.site && { site: options.site }),
    ...(options.callers && { callers: options.callers }),
    ...(options.pingEveryMs !== undefined && { pingEveryMs: options.pingEveryMs }),
    ...(options.maxClients !== undefined && { maxClients: options.maxClients }),
    ...(options.limits && { limits: options.limits }),
    // On loopback, the kernel reports when the other process is gone, and a process that is stopped in a debugger
    // must stay connected.
    reap: !loopback,
  });
  await new Promise<void>((resolve, reject) => {
    listener.server.once("error", (error) => reject(bindError(requestedUrl, error)));
    // A large backlog: after a restart many clients may reconnect at once, and a refused one retries only after a
    // second.
    listener.server.listen({ host, port, backlog: BACKLOG }, resolve);
  });
  registerListener(listener.server);
  const bound = listener.server.address() as AddressInfo;
  return listener.opened(wsUrl(bound.address, bound.port));
}

function wsUrl(host: string, port: number): string {
  return `ws://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function bindError(url: string, error: NodeJS.ErrnoException): ListenError {
  const cause = { cause: error };
  switch (error.code) {
    case "EADDRINUSE":
      return new ListenError(
        "addressInUse",
        `${url} is taken by another program; choose another port, or port 0 for any that is free`,
        cause,
      );
    case "EADDRNOTAVAIL":
      return new ListenError("addressUnavailable", `${url}: this machine has no such address`, cause);
    case "EACCES":
      return new ListenError(
        "addressUnavailable",
        `${url}: not allowed; ports below 1024 need privileges, choose a higher one`,
        cause,
      );
    default:
      return new ListenError("listenFailed", `cannot listen on ${url}: ${error.message}`, cause);
  }
}
