import { homeDirectory } from "../config/home-folder.ts";
import { etcFolder } from "../config/layer-files.ts";
import { hostConfig } from "../config/load-config.ts";
import { isJsonLog, logFor } from "../observe/log.ts";
import { RecentLog } from "../observe/recent-log.ts";
import { deadlineMs } from "../platform/deadlines.ts";
import { nodePlatform } from "../platform/node.ts";
import { earlyFiles } from "../platform/startup-file-reader.ts";
import type { AuthFlags } from "../server/listen/auth-flags.ts";
import { parseListen } from "../server/listen/listen-url.ts";
import { type Accept, ListenError, type Listener } from "../server/listen/listener.ts";
import { BOBBIN_VERSION } from "../version.ts";
import { LazyHost } from "./lazy-host.ts";
import { stoppedLine, stoppingLine } from "./shutdown-notice.ts";
import { onStopSignals } from "./stop-signals.ts";

interface AppServerOptions extends AuthFlags {
  readonly listen?: readonly string[];
  readonly stdio?: boolean;
  readonly config?: readonly string[];
  readonly profile?: string;
  readonly allowOrigin?: readonly string[];
  readonly strictConfig?: boolean;
}

/** Time limit for the shutdown. After it the process exits with code 1. */
const END_MS = deadlineMs(10_000);

/**
 * With sockets, the host's modules are loaded after the first `initialize` request, or after this delay. A client that
 * connects during the load waits for it.
 */
const LOAD_DELAY_MS = 250;

/** The check for startup problems, and the welcome message, wait at most this long for the reply to a first client. */
const WELCOME_DELAY_MS = 20;

/** Runs `bobbin app-server` until a signal stops it, or, if it listens on stdio alone, until stdin ends. */
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
  const written = logFor(process.env, sockets.length > 0 ? "info" : "warn", say);
  const log = RecentLog.over(written, () => platform.clock.now());
  /** Whether a person may read stderr. Then messages are printed as text, not as log lines. */
  const watched = !isJsonLog(process.env) && (sockets.length > 0 || process.stderr.isTTY);
  // Without a listener, a write to a stderr that the parent process has closed would end the host.
  process.stderr.on("error", () => {});
  const overrides = options.config ?? [];
  const profile = options.profile ?? null;
  const started = { profile, etc: etcFolder(process.env) };
  const readConfig = async () => {
    const read = await hostConfig(earlyFiles, home, overrides, started);
    const { wrong } = read;
    if (options.strictConfig === true) {
      const { rejectInvalidConfig } = await import("./strict-config.ts");
      await rejectInvalidConfig(platform.files, { home, overrides, ...started }, wrong);
    }
    if (wrong !== null) log.warn("config.toml cannot be used; no thread is loaded until it can", { wrong });
    return read;
  };
  let reading: ReturnType<typeof readConfig> | undefined;
  const configured = () => {
    reading ??= readConfig();
    return reading;
  };
  // `initialize` needs no configuration. With flags the configuration is read now, so that a wrong flag ends the
  // program before it serves a client.
  if (overrides.length > 0 || profile !== null || options.strictConfig === true) await configured();
  let processMark: () => string | undefined = () => undefined;
  let composed: ReturnType<typeof composeHost> | undefined;
  const composeHost = async () => {
    const { config, wrong, files } = await configured();
    const { compose } = await import("../compose.ts");
    const isOpen = options.wsAuth === undefined && places.some(({ kind }) => kind === "websocket");
    const parts = compose({
      home,
      cwd: process.cwd(),
      config,
      wrongConfig: wrong,
      strictConfig: options.strictConfig === true,
      overrides,
      profile,
      files,
      platform,
      log,
      listeningHosts: async () => (await import("./listening-hosts.ts")).listeningHosts(home),
      listenerProblem: isOpen ? (await import("./open-sockets.ts")).listenerProblem() : null,
    });
    processMark = parts.processMark;
    parts.warnOfKeys();
    // Threads of earlier hosts are adopted only with a valid configuration: they need it to continue.
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
  const listeners: Listener[] = [];
  const host = new LazyHost(
    home,
    platform.timers,
    async () => (await load()).host,
    sockets.length > 0 ? LOAD_DELAY_MS : undefined,
  );
  let isCut = false;
  const cutShort = (why: string): void => {
    if (isCut) return;
    isCut = true;
    const pending = host.pending();
    log.error("shutdown cut short: the process exits with work pending", {
      why,
      pending: pending.length === 0 ? ["closing listeners"] : pending,
    });
    process.exit(1);
  };
  const signals = onStopSignals({
    onFirst: () => {
      const counts = host.counts();
      // The terminal has echoed ^C into the current line, so the message begins on a new line.
      if (watched) say(`${process.stderr.isTTY ? "\n" : ""}${stoppingLine(counts)}`);
      else log.info("stopping", counts);
      end();
    },
    onSecond: () => cutShort("a second signal"),
  });

  if (sockets.length > 0) {
    const { config, wrong } = await configured();
    const { listenOnSockets } = await import("./open-sockets.ts");
    const parts = {
      accept: (...link: Parameters<Accept>) => host.accept(...link),
      site: {
        metrics: async () => (await load()).metrics.text(),
        status: async () => (await load()).host.status(),
      },
      ...{ home, platform, maxClients: config.maxConnections, processMark: () => processMark(), log },
    };
    const opened = await listenOnSockets(sockets, options, parts);
    listeners.push(...opened.listeners, ...(opened.forCommands === undefined ? [] : [opened.forCommands]));
    const on = opened.listeners.map((listener) => listener.url);
    log.info("listening", { on, home, version: BOBBIN_VERSION });
    await Promise.race([host.begun, new Promise((resolve) => setTimeout(resolve, WELCOME_DELAY_MS))]);
    const { findStartupProblems, welcomeMessage } = await import("./welcome-message.ts");
    const problems = await findStartupProblems(home, config, wrong);
    // The welcome message is left out if a signal has already stopped the host.
    if (watched && signals.exitCode === undefined) {
      // With authentication, the link contains a token: it is printed for a person at a terminal, but not into a log.
      const isPrivate = process.stderr.isTTY || options.wsAuth === undefined;
      const link = isPrivate ? opened.openConsole() : undefined;
      say(welcomeMessage(opened.listeners, home, config, problems, options, link));
    } else if (!watched)
      for (const [about, problem] of Object.entries(problems)) log.warn("not ready", { about, ...problem });
  }
  if (places.some((place) => place.kind === "stdio")) {
    const { listenStdio } = await import("../server/listen/stdio.ts");
    // If sockets are open as well, the end of stdin does not end the host.
    const accept: Accept = sockets.length > 0 ? (...link) => host.accept(...link) : lastClient(host, end);
    listeners.push(listenStdio({ accept }));
    if (watched && sockets.length === 0 && process.stdin.isTTY) say(STDIO_HINT);
  }

  await Promise.race([ended, host.host.then(() => ended)]);
  setTimeout(() => cutShort(`shutdown took longer than ${END_MS} ms`), END_MS).unref();
  const [counts] = await Promise.all([
    host.close(),
    ...listeners.map((listener) => listener.close(END_MS / 2)),
  ]);
  if (signals.exitCode === undefined) return;
  if (watched) say(stoppedLine(counts));
  else log.info("stopped", { ...counts });
}

const STDIO_HINT = `Waiting for protocol messages on stdin, one JSON object per line. Ctrl-D ends it.
To serve clients on a socket:  bobbin app-server --listen ws://127.0.0.1:4545
`;

/** Accepts the stdio client. When stdin ends, calls `left`: the host answers the pending requests and shuts down. */
function lastClient(host: LazyHost, left: () => void): Accept {
  return (link, meta) => {
    const connection = host.accept(link, meta);
    return {
      message: (text) => connection.message(text),
      oversized: (bytes) => connection.oversized(bytes),
      undecodable: () => connection.undecodable(),
      drained: () => connection.drained(),
      // The connection stays open: the client sends no more, but may still read replies.
      closed: left,
    };
  };
}
