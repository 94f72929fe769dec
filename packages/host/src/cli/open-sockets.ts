import { createHmac, randomBytes } from "node:crypto";
import type { Log } from "../observe/log.ts";
import { canTellPeers, nodePeers } from "../platform/node-socket-peers.ts";
import type { Platform } from "../platform/platform.ts";
import { type AuthConfig, type AuthFlags, parseAuthFlags } from "../server/listen/auth-flags.ts";
import { loadAuthenticate, secretDigest, withSessions } from "../server/listen/authenticate.ts";
import { CallerGuard } from "../server/listen/caller-guard.ts";
import type { Listen } from "../server/listen/listen-url.ts";
import { type Accept, ListenError, type Listener } from "../server/listen/listener.ts";
import { listenUnix } from "../server/listen/unix.ts";
import { listenWebSocket } from "../server/listen/websocket.ts";
import { ConsoleLogin } from "../server/site/console-login.ts";
import type { Site } from "../server/site/site-endpoints.ts";
import { BOBBIN_VERSION } from "../version.ts";
import { consoleFiles } from "./console-files.ts";
import { consoleAddress } from "./console-link.ts";
import { consoleSessionSecret } from "./console-session-secret.ts";
import { openCommandSocket } from "./open-command-socket.ts";

interface Parts {
  readonly accept: Accept;
  readonly site: Pick<Site, "metrics" | "status">;
  readonly home: string;
  readonly platform: Platform;
  readonly maxClients: number;
  readonly log: Log;
  /** The environment mark of processes that the host has started; undefined while it has started none. */
  processMark(): string | undefined;
}

interface OpenedSockets {
  /** The listeners that the user requested with `--listen`. */
  readonly listeners: readonly Listener[];
  /** The listener for `bobbin` commands of the same user; undefined if it is not needed or cannot be opened. */
  readonly forCommands: Listener | undefined;
  /** The console's address, with a token that can be used once if the listener has authentication. */
  openConsole(): string | undefined;
}

/** Opens all requested sockets. If one fails, closes those already opened, and rejects. */
export async function listenOnSockets(
  places: readonly Listen[],
  flags: AuthFlags & { readonly allowOrigin?: readonly string[] },
  { accept, site: shown, home, platform, maxClients, processMark, log }: Parts,
): Promise<OpenedSockets> {
  const auth = parseAuthFlags(flags);
  const now = () => platform.clock.now();
  const consoleLogin = auth && (await openConsoleLogin(home, auth, now));
  const authenticate = auth && withSessions(await loadAuthenticate(auth, now), consoleLogin!);
  const site: Site = { version: BOBBIN_VERSION, console: () => consoleFiles(), ...shown };
  const allowedOrigins = flags.allowOrigin ?? [];
  const found = { peers: nodePeers, mark: processMark };
  const callers = new CallerGuard({
    ...found,
    blind: () =>
      log.warn(
        "a model's command could connect to this host: the operating system does not tell which process connects",
      ),
  });
  const listeners: Listener[] = [];
  const openConsole = () => consoleAddress(listeners, consoleLogin);
  try {
    for (const place of places) {
      if (place.kind === "websocket") {
        const { host: address, port } = place;
        listeners.push(
          await listenWebSocket({
            accept,
            host: address,
            port,
            site,
            allowedOrigins,
            maxClients,
            callers,
            ...(authenticate && consoleLogin && { authenticate, consoleLogin }),
          }).catch(async (cause) => {
            throw (await portTakenError(cause, address, port)) ?? cause;
          }),
        );
      } else if (place.kind === "unix") {
        const path = place.path === undefined ? {} : { path: place.path };
        listeners.push(
          await listenUnix({ accept, home, site, allowedOrigins, maxClients, callers, openConsole, ...path }),
        );
      }
    }
  } catch (cause) {
    await Promise.all(listeners.map((listener) => listener.close(0)));
    throw cause;
  }
  // The user has not asked for this socket, so it must not give a model's command access on systems with less
  // protection.
  const strict = new CallerGuard({ ...found, refuseUnknown: true, blind: () => {} });
  const shared = { accept, home, site, allowedOrigins: [], maxClients, callers: strict, openConsole };
  // No extra socket is needed if the default Unix socket is open: commands find the host there, too.
  const isFound = places.some((place) => place.kind === "unix" && place.path === undefined);
  const forCommands = isFound || process.platform === "win32" ? undefined : await openCommandSocket(shared);
  if (typeof forCommands !== "string") return { listeners, forCommands, openConsole };
  log.info("bobbin commands of this home do not find this host", { why: forCommands });
  return { listeners, forCommands: undefined, openConsole };
}

/** Opens the login for the console. Its sessions end when the secret of the listener's authentication changes. */
async function openConsoleLogin(home: string, auth: AuthConfig, now: () => number): Promise<ConsoleLogin> {
  const secret = createHmac("sha256", await consoleSessionSecret(home))
    .update(await secretDigest(auth))
    .digest();
  return new ConsoleLogin({ now, random: randomBytes, secret });
}

/**
 * Explains why a model's command could connect to a listener without a token: the operating system does not tell which
 * process has connected. Null if the operating system tells that.
 */
export function listenerProblem(): string | null {
  return canTellPeers()
    ? null
    : "this system does not tell which process connects to the host, which listens without a token (--ws-auth)";
}

/** If the port is taken by another Bobbin, returns an error that names its home and process. */
async function portTakenError(
  cause: unknown,
  address: string,
  port: number,
): Promise<ListenError | undefined> {
  if (!(cause instanceof ListenError && cause.code === "addressInUse")) return undefined;
  const { identifyListener } = await import("./identify-listener.ts");
  const listener = await identifyListener(address, port);
  if (listener.kind !== "bobbin") return undefined;
  const { home, pid } = listener;
  const details = home === undefined ? "" : ` (home ${home}, process ${pid})`;
  return new ListenError(
    "addressInUse",
    `a Bobbin${details} is already listening on port ${port}; connect to it, stop it, or choose another port: ` +
      `bobbin app-server --listen ws://127.0.0.1:${port < 65535 ? port + 1 : port - 1}`,
    { cause },
  );
}
