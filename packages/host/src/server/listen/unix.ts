import { join, resolve } from "node:path";
import type { Site } from "../http.ts";
import type { CallerGuard } from "./caller-guard.ts";
import { type Accept, type Door, ListenError } from "./door.ts";
import { Guard } from "./guard.ts";
import { SocketDoor } from "./socket-door.ts";
import { bindPrivately, removeIfOurs } from "./socket-file.ts";

export interface UnixOptions {
  readonly accept: Accept;
  /** Without one: the control socket in `home`. */
  readonly path?: string;
  readonly home: string;
  readonly allowedOrigins?: readonly string[];
  readonly callers?: CallerGuard;
  readonly site?: Site;
  readonly pingEveryMs?: number;
  readonly maxClients?: number;
}

export function controlSocketPath(home: string): string {
  return join(home, "app-server-control", "app-server-control.sock");
}

/** Opens `unix://PATH`: WebSocket over a socket that only this user can open, which is its authentication. */
export async function listenUnix(options: UnixOptions): Promise<Door> {
  const path = resolve(options.path ?? controlSocketPath(options.home));
  if (process.platform === "win32") {
    throw new ListenError(
      "badSocketPath",
      "unix:// needs a system with Unix sockets; use ws://127.0.0.1:PORT",
    );
  }
  const { allowedOrigins } = options;
  const door = new SocketDoor({
    accept: options.accept,
    transport: "unix",
    guard: new Guard({ loopback: false, ...(allowedOrigins && { allowedOrigins }) }),
    ...(options.site && { site: options.site }),
    ...(options.callers && { callers: options.callers }),
    ...(options.pingEveryMs !== undefined && { pingEveryMs: options.pingEveryMs }),
    ...(options.maxClients !== undefined && { maxClients: options.maxClients }),
    reap: false,
  });
  const ours = await bindPrivately(door.server, path);
  door.opened(`unix://${path}`);
  let closing: Promise<void> | undefined;
  return {
    url: door.url,
    close(graceMs) {
      const closed = door.close(graceMs);
      // At once, so that nobody finds a socket that no longer answers.
      closing ??= removeIfOurs(path, ours).then(() => closed);
      return closing;
    },
  };
}
