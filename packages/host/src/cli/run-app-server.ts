import { homeDirectory } from "../config/home.ts";
import { hostConfig } from "../config/load.ts";
import type { Host } from "../host.ts";
import { logSettings, pinoLog } from "../observe/log.ts";
import { earlyFiles } from "../platform/early-files.ts";
import { nodePlatform } from "../platform/node.ts";
import type { AuthFlags } from "../server/listen/auth-flags.ts";
import { type Accept, type Door, ListenError } from "../server/listen/door.ts";
import { parseListen } from "../server/listen/parse.ts";
import { BOBBIN_VERSION } from "../version.ts";
import { LateHost } from "./late-host.ts";
import { onSignals } from "./signals.ts";
import { welcome } from "./welcome.ts";

interface AppServerOptions extends AuthFlags {
  readonly listen?: readonly string[];
  readonly stdio?: boolean;
  readonly config?: readonly string[];
  readonly allowOrigin?: readonly string[];
}

/** After this long an end that hangs is cut short. */
const END_MS = 10_000;

/** Runs until it is told to stop, or until its only client, on stdio, has left. */
export async function appServer(options: AppServerOptions): Promise<void> {
  const places = [...(options.listen ?? []), ...(options.stdio ? ["stdio://"] : [])].map(parseListen);
  if (places.length === 0) places.push({ kind: "stdio" });
  if (places.every((place) => place.kind === "off")) {
    throw new ListenError(
      "badListenUrl",
      "--listen off leaves no door at all; add one, for example --listen unix://",
    );
  }
  const home = homeDirectory();
  const platform = nodePlatform();
  const sockets = places.filter((place) => place.kind === "websocket" || place.kind === "unix");
  const log = pinoLog({
    ...logSettings(process.env, sockets.length > 0 ? "info" : "warn"),
    write: (text) => void process.stderr.write(text),
  });
  // Who started us may have closed the log's other end; that is no reason to go.
  process.stderr.on("error", () => {});
  const overrides = options.config ?? [];
  const { config, wrong } = await hostConfig(earlyFiles, home, overrides);
  if (wrong !== null) log.warn("config.toml can not be used; no thread is loaded until it can", { wrong });
  const load = async () => {
    const { compose } = await import("../compose.ts");
    const composed = compose({
      home,
      cwd: process.cwd(),
      config,
      wrongConfig: wrong,
      overrides,
      platform,
      log,
    });
    // What waits to go on waits for what it needs to do so.
    if (wrong === null) composed.host.takeOver();
    return composed;
  };

  let end!: () => void;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const doors: Door[] = [];
  let host: Host | LateHost | undefined;
  let isCut = false;
  const cutShort = (why: string): void => {
    if (isCut) return;
    isCut = true;
    const pending = host?.pending() ?? ["the start"];
    log.error("the end was cut short", { why, pending: pending.length === 0 ? ["closing doors"] : pending });
    void log.flushed().finally(() => process.exit(1));
  };
  onSignals({ told: end, again: () => cutShort("a second signal") });

  if (sockets.length === 0) host = new LateHost(home, platform.timers, async () => (await load()).host);
  else {
    const composed = await load();
    host = composed.host;
    const { openSockets } = await import("./open-sockets.ts");
    const parts = { ...composed, home, platform, maxClients: config.maxConnections };
    doors.push(...(await openSockets(sockets, options, parts)));
    log.info("listening", { on: doors.map((door) => door.url), home, version: BOBBIN_VERSION });
    if (process.env["LOG_FORMAT"] !== "json") process.stderr.write(welcome(doors, home, config));
  }
  if (places.some((place) => place.kind === "stdio")) {
    const { listenStdio } = await import("../server/listen/stdio.ts");
    // With other doors open, the host outlives the client that started it.
    const accept: Accept = sockets.length > 0 ? (...link) => host.accept(...link) : lastClient(host, end);
    doors.push(listenStdio({ accept }));
  }

  await Promise.race([ended, host instanceof LateHost ? host.host.then(() => ended) : ended]);
  setTimeout(() => cutShort(`it took longer than ${END_MS} ms`), END_MS).unref();
  await Promise.all([host.close(), ...doors.map((door) => door.close(END_MS / 2))]);
}

/** The end of stdin is the end of the host: it answers what it was asked, then leaves. */
function lastClient(host: Host | LateHost, left: () => void): Accept {
  return (link, meta) => {
    const connection = host.accept(link, meta);
    return {
      message: (text) => connection.message(text),
      oversized: (bytes) => connection.oversized(bytes),
      undecodable: () => connection.undecodable(),
      drained: () => connection.drained(),
      // Not told yet that it is gone: it sends no more, but it may still read.
      closed: left,
    };
  };
}
