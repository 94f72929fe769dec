import { join, resolve } from "node:path";
import type { Site } from "../site/site-endpoints.ts";
import type { CallerGuard } from "./caller-guard.ts";
import { type Accept, ListenError, type Listener } from "./listener.ts";
import { OriginGuard } from "./origin-guard.ts";
import { SocketListener } from "./socket-listener.ts";
import { bindPrivately, removeIfOurs } from "./unix-socket-file.ts";

export interface UnixOptions {
  readonly accept: Accept;
  /** Undefined for the control socket in `home`. */
  readonly path?: string;
  readonly home: string;
  readonly allowedOrigins?: readonly string[];
  readonly callers?: CallerGuard;
  /** Makes a link to the console of this host; undefined if browsers cannot reach this host. */
  readonly openConsole?: () => string | undefined;
  readonly site?: Site;
  readonly pingEveryMs?: number;
  readonly maxClients?: number;
}

export function controlSocketPath(home: string): string {
  return join(home, "app-server-control", "app-server-control.sock");
}

/** Listens on `unix://PATH`, with WebSocket. Only this user can open the socket, so no authentication is needed. */
export async function listenUnix(options: UnixOptions): Promise<Listener> {
  const path = resolve(options.path ?? controlSocketPath(options.home));
  if (process.platform === "win32") {
    throw new ListenError(
      "badSocketPath",
      "unix:// needs a system with Unix sockets; use ws://127.0.0.1:PORT",
    );
  }
  const { allowedOrigins } = options;
  const listener = new SocketListener({
    accept: options.accept,
    transport: "unix",
    guard: new OriginGuard({ loopback: false, ...(allowedOrigins && { allowedOrigins }) }),
    ...(options.site && { site: options.site }),
    ...(options.callers && { callers: options.callers }),
    ...(options.openConsole && { openConsole: options.openConsole }),
    ...(options.pingEveryMs !== undefined && { pingEveryMs: options.pingEveryMs }),
    ...(options.maxClients !== undefined && { maxClients: options.maxClients }),
    reap: false,
  });
  const ours = await bindPrivately(listener.server, path);
  listener.opened(`unix://${path}`);
  return {
    url: listener.url,
    close(graceMs) {
      const closed = listener.close(graceMs);
      // Removed at once, so that clients do not find a socket that no longer answers.
      removeIfOurs(path, ours);
      return closed;
    },
  };
}
