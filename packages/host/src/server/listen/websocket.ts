import type { AddressInfo } from "node:net";
import { noteListener } from "../../platform/own-listeners.ts";
import type { Site } from "../http.ts";
import type { Authenticate } from "./authenticate.ts";
import type { CallerGuard } from "./caller-guard.ts";
import { type Accept, type Door, ListenError } from "./door.ts";
import { Guard } from "./guard.ts";
import { isLoopbackAddress } from "./loopback.ts";
import { SocketDoor, type SocketDoorOptions } from "./socket-door.ts";

const BACKLOG = 4_096;

export interface WebSocketOptions {
  readonly accept: Accept;
  /** An IP address, as `parseListen` gives it. */
  readonly host: string;
  /** Zero for any that is free. */
  readonly port: number;
  readonly authenticate?: Authenticate;
  readonly allowedOrigins?: readonly string[];
  readonly callers?: CallerGuard;
  readonly site?: Site;
  readonly pingEveryMs?: number;
  readonly maxClients?: number;
  /** For tests. */
  readonly limits?: SocketDoorOptions["limits"];
}

/** Opens `ws://IP:PORT`. */
export async function listenWebSocket(options: WebSocketOptions): Promise<Door> {
  const { host, port, authenticate, allowedOrigins } = options;
  const asked = wsUrl(host, port);
  const loopback = isLoopbackAddress(host);
  if (!loopback && !authenticate) {
    throw new ListenError(
      "authRequired",
      `refusing to listen on ${asked} without authentication: other machines could run commands here. ` +
        "Add --ws-auth capability-token or --ws-auth signed-bearer-token, or listen on ws://127.0.0.1:" +
        `${port} and reach it through an SSH tunnel.`,
    );
  }
  const door = new SocketDoor({
    accept: options.accept,
    transport: "websocket",
    guard: new Guard({ loopback, ...(allowedOrigins && { allowedOrigins }) }),
    ...(authenticate && { authenticate }),
    ...(options.site && { site: options.site }),
    ...(options.callers && { callers: options.callers }),
    ...(options.pingEveryMs !== undefined && { pingEveryMs: options.pingEveryMs }),
    ...(options.maxClients !== undefined && { maxClients: options.maxClients }),
    ...(options.limits && { limits: options.limits }),
    // On loopback the kernel tells when the other process is gone, and one that a debugger holds is not.
    reap: !loopback,
  });
  await new Promise<void>((resolve, reject) => {
    door.server.once("error", (error) => reject(bindError(asked, error)));
    // A crowd that comes at once (a restart, and all reconnect) would wait a second for the second attempt.
    door.server.listen({ host, port, backlog: BACKLOG }, resolve);
  });
  noteListener(door.server);
  const bound = door.server.address() as AddressInfo;
  return door.opened(wsUrl(bound.address, bound.port));
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
