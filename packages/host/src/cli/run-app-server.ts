import { homeDirectory } from "../config/home.ts";
import { hostConfig } from "../config/load.ts";
import { isJsonLog, logFor } from "../observe/log.ts";
import { earlyFiles } from "../platform/early-files.ts";
import { nodePlatform } from "../platform/node.ts";
import type { AuthFlags } from "../server/listen/auth-flags.ts";
import { type Accept, type Door, ListenError } from "../server/listen/door.ts";
import { parseListen } from "../server/listen/parse.ts";
import { BOBBIN_VERSION } from "../version.ts";
import { LateHost } from "./late-host.ts";
import { stopped, stopping } from "./shutdown-notice.ts";
import { onSignals } from "./signals.ts";

interface AppServerOptions extends AuthFlags {
  readonly listen?: readonly string[];
  readonly stdio?: boolean;
  readonly config?: readonly string[];
  readonly allowOrigin?: readonly string[];
}

/** After this long an end that hangs is cut short. */
const END_MS = 10_000;

/** On sockets the host is loaded after the first hello, or after this long: whoever comes next waits for the load. */
const PATIENCE_MS = 250;

/** Runs until it is told to stop, or until its only client, on stdio, has left. */
export async function appServer(options: AppServerOptions): Promise<void> {
  const places = [...(options.listen ?? []), ...(options.stdio ? ["stdio://"] : [])].map(parseListen);
  if (places.length === 0) places.push({ kind: "stdio" });
  if (places.every((place) => place.kind === "off")) {
    throw new ListenError(
      "badListenUrl",
      "--listen off leaves nothing to listen on; add another, for example --listen unix://",
    );
  }
  const home = homeDirectory();
  const platform = nodePlatform();
  const sockets = places.filter((place) => place.kind === "websocket" || place.kind === "unix");
  const say = (text: string) => void process.stderr.write(text);
  const log = logFor(process.env, sockets.length > 0 ? "info" : "warn", say);
  /** Whether someone may read along who is no program. */
  const watched = !isJsonLog(process.env) && (sockets.length > 0 || process.stderr.isTTY);
  // Who started us may have closed the log's other end; that is no reason to go.
  process.stderr.on("error", () => {});
  const overrides = options.config ?? [];
  const { config, wrong } = await hostConfig(earlyFiles, home, overrides);
  if (wrong !== null) log.warn("config.toml cannot be used; no thread is loaded until it can", { wrong });
  let processMark: () => string | undefined = () => undefined;
  let composed: ReturnType<typeof composeHost> | undefined;
  const composeHost = async () => {
    const { compose } = await import("../compose.ts");
    const isOpen = options.wsAuth === undefined && places.some(({ kind }) => kind === "websocket");
    const parts = compose({
      home,
      cwd: process.cwd(),
      config,
      wrongConfig: wrong,
      overrides,
      platform,
      log,
      listenerProblem: isOpen ? (await import("./open-sockets.ts")).listenerProblem() : null,
    });
    processMark = parts.processMark;
    // What waits to go on waits for what it needs to do so.
    if (wrong === null) parts.host.takeOver();
    return parts;
  };
  const load = () => {
    composed ??= composeHost();
    return composed;
  };

  let end!: () => void;
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const doors: Door[] = [];
  const host = new LateHost(
    home,
    platform.timers,
    async () => (await load()).host,
    sockets.length > 0 ? PATIENCE_MS : undefined,
  );
  let isCut = false;
  const cutShort = (why: string): void => {
    if (isCut) return;
    isCut = true;
    const pending = host.pending();
    log.error("the end was cut short", { why, pending: pending.length === 0 ? ["closing doors"] : pending });
    void log.flushed().finally(() => process.exit(1));
  };
  const signals = onSignals({
    told: () => {
      const counts = host.counts();
      // On a terminal, ^C was echoed into the running line.
      if (watched) say(`${process.stderr.isTTY ? "\n" : ""}${stopping(counts)}`);
      else log.info("stopping", counts);
      end();
    },
    again: () => cutShort("a second signal"),
  });

  if (sockets.length > 0) {
    const { openSockets } = await import("./open-sockets.ts");
    const parts = {
      accept: (...link: Parameters<Accept>) => host.accept(...link),
      site: {
        metrics: async () => (await load()).metrics.text(),
        status: async () => (await load()).host.status(),
      },
      ...{ home, platform, maxClients: config.maxConnections, processMark: () => processMark(), log },
    };
    doors.push(...(await openSockets(sockets, options, parts)));
    log.info("listening", { on: doors.map((door) => door.url), home, version: BOBBIN_VERSION });
    const { problemsOf, welcome } = await import("./welcome.ts");
    const problems = await problemsOf(home, config, wrong);
    if (watched) say(welcome(doors, home, config, problems));
    else
      for (const [about, problem] of Object.entries(problems)) log.warn("not ready", { about, ...problem });
  }
  if (places.some((place) => place.kind === "stdio")) {
    const { listenStdio } = await import("../server/listen/stdio.ts");
    // With other doors open, the host outlives the client that started it.
    const accept: Accept = sockets.length > 0 ? (...link) => host.accept(...link) : lastClient(host, end);
    doors.push(listenStdio({ accept }));
    if (watched && sockets.length === 0 && process.stdin.isTTY) say(STDIO_HINT);
  }

  await Promise.race([ended, host.host.then(() => ended)]);
  setTimeout(() => cutShort(`it took longer than ${END_MS} ms`), END_MS).unref();
  const [counts] = await Promise.all([host.close(), ...doors.map((door) => door.close(END_MS / 2))]);
  if (signals.exitCode === undefined) return;
  if (watched) say(stopped(counts));
  else log.info("stopped", { ...counts });
  await log.flushed();
}

const STDIO_HINT = `Waiting for protocol messages on stdin, one JSON object per line. Ctrl-D ends it.
To serve clients on a socket:  bobbin app-server --listen ws://127.0.0.1:4545
`;

/** The end of stdin is the end of the host: it answers what it was asked, then leaves. */
function lastClient(host: LateHost, left: () => void): Accept {
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
