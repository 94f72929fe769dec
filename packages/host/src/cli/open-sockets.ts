import type { Log } from "../observe/log.ts";
import { canTellPeers, nodePeers } from "../platform/node-peers.ts";
import type { Platform } from "../platform/platform.ts";
import type { Site } from "../server/http.ts";
import { type AuthFlags, parseAuthFlags } from "../server/listen/auth-flags.ts";
import { loadAuthenticate } from "../server/listen/authenticate.ts";
import { CallerGuard } from "../server/listen/caller-guard.ts";
import { type Accept, type Door, ListenError } from "../server/listen/door.ts";
import type { Listen } from "../server/listen/parse.ts";
import { listenUnix } from "../server/listen/unix.ts";
import { listenWebSocket } from "../server/listen/websocket.ts";
import { BOBBIN_VERSION } from "../version.ts";

interface Parts {
  readonly accept: Accept;
  readonly site: Pick<Site, "metrics" | "status">;
  readonly home: string;
  readonly platform: Platform;
  readonly maxClients: number;
  readonly log: Log;
  /** What marks the processes that the host has started; undefined while it has started none. */
  processMark(): string | undefined;
}

/** Opens every socket that was asked for, or none: a door that fails closes those before it. */
export async function openSockets(
  places: readonly Listen[],
  flags: AuthFlags & { readonly allowOrigin?: readonly string[] },
  { accept, site: shown, home, platform, maxClients, processMark, log }: Parts,
): Promise<readonly Door[]> {
  const auth = parseAuthFlags(flags);
  const authenticate = auth && (await loadAuthenticate(auth, () => platform.clock.now()));
  const site: Site = { version: BOBBIN_VERSION, ...shown };
  const allowedOrigins = flags.allowOrigin ?? [];
  const callers = new CallerGuard({
    peers: nodePeers,
    mark: processMark,
    blind: () => log.warn("commands could connect to this host: the system does not say who connects"),
  });
  const doors: Door[] = [];
  try {
    for (const place of places) {
      if (place.kind === "websocket") {
        const { host: address, port } = place;
        doors.push(
          await listenWebSocket({
            accept,
            host: address,
            port,
            site,
            allowedOrigins,
            maxClients,
            callers,
            ...(authenticate && { authenticate }),
          }).catch(async (cause) => {
            throw (await takenByBobbin(cause, address, port)) ?? cause;
          }),
        );
      } else if (place.kind === "unix") {
        const path = place.path === undefined ? {} : { path: place.path };
        doors.push(await listenUnix({ accept, home, site, allowedOrigins, maxClients, callers, ...path }));
      }
    }
  } catch (cause) {
    await Promise.all(doors.map((door) => door.close(0)));
    throw cause;
  }
  return doors;
}

/** Where the system does not say who connects, a command could connect like any client; null where it says so. */
export function listenerProblem(): string | null {
  return canTellPeers()
    ? null
    : "this system does not say who connects to the host, which listens without a token (--ws-auth)";
}

/** A second start is told that the first one runs, and where its threads are. */
async function takenByBobbin(
  cause: unknown,
  address: string,
  port: number,
): Promise<ListenError | undefined> {
  if (!(cause instanceof ListenError && cause.code === "addressInUse")) return undefined;
  const { listenerAt } = await import("./listener.ts");
  const listener = await listenerAt(address, port);
  if (listener.kind !== "bobbin") return undefined;
  const { home, pid } = listener;
  const details = home === undefined ? "" : ` (home ${home}, process ${pid})`;
  return new ListenError(
    "addressInUse",
    `a Bobbin${details} is listening on port ${port} already; connect to it, stop it, or choose another port: ` +
      `bobbin app-server --listen ws://127.0.0.1:${port < 65535 ? port + 1 : port - 1}`,
    { cause },
  );
}
