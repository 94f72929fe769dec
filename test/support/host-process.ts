import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { atFileEnd } from "./file-end.ts";
import { afterWorking, PATIENCE_MS } from "./patience.ts";
import { openWebSocket, stdioWire, webSocketWire } from "./wire.ts";
import { WireClient } from "./wire-client.ts";

export const BOBBIN = process.env.BOBBIN_BIN ?? join(import.meta.dirname, "../../bin/bobbin");

export interface HostOptions {
  /** Behind `app-server`. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Flags of Node itself. */
  readonly nodeArgs?: readonly string[];
  /** The folder with `config.toml` and sockets. By default a new folder, which is removed at the end. */
  readonly home?: string;
  /** The working folder; by default that of the tests. */
  readonly cwd?: string;
  /** The user to run as. Only root may set it. */
  readonly uid?: number;
  /** The limit on its open files, as `ulimit -n` sets it. */
  readonly maxOpenFiles?: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const running = new Set<HostProcess>();

/** Starts a real host: the built program, in its own process and with its own home. */
export async function spawnHost(options: HostOptions = {}): Promise<HostProcess> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), "bobbin-home-")));
  if (options.uid !== undefined) await chown(home, options.uid, options.uid);
  const node = [process.execPath, ...(options.nodeArgs ?? []), BOBBIN, "app-server", ...(options.args ?? [])];
  const [file, ...args] =
    options.maxOpenFiles === undefined
      ? node
      : ["/bin/sh", "-c", 'ulimit -n "$0" && exec "$@"', String(options.maxOpenFiles), ...node];
  const child = spawn(file!, args, {
    env: environment(home, options.env),
    stdio: ["pipe", "pipe", "pipe"],
    cwd: options.cwd,
    ...(options.uid !== undefined && { uid: options.uid, gid: options.uid }),
  });
  const host = new HostProcess(child, home, options.home === undefined);
  running.add(host);
  return host;
}

/** Starts a host on stdio, with an initialized client. */
export async function stdioHost(
  options: HostOptions & { readonly capabilities?: object } = {},
): Promise<{ host: HostProcess; client: WireClient }> {
  const host = await spawnHost(options);
  const client = host.stdio();
  await client.initialize(options.capabilities);
  return { host, client };
}

/** What started programs get of the environment of the tests: the machine's settings, and none of the user's. */
const PASSED =
  /^(PATH|HOME|TMPDIR|SHELL|LANG|LC_\w+|TERM|TZ|USER|LOGNAME|GIT_CEILING_DIRECTORIES|npm_config_\w+|NODE_EXTRA_CA_CERTS|SSL_CERT_\w+)$/;

/** The environment of all started programs, without the user's own settings. */
export function environment(
  home: string,
  more: Readonly<Record<string, string>> = {},
): Record<string, string | undefined> {
  const passed = Object.entries(process.env).filter(([name]) => PASSED.test(name));
  return {
    ...Object.fromEntries(passed),
    BOBBIN_HOME: home,
    BOBBIN_NO_KEYRING: "1",
    // A busy machine is not a test of deadlines. A test of one sets the factor to 1.
    BOBBIN_DEADLINE_FACTOR: "4",
    LOG_FORMAT: "json",
    ...more,
  };
}

export class HostProcess {
  readonly pid: number;
  readonly home: string;
  readonly exited: Promise<Exit>;
  stderr = "";
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #ownHome: boolean;
  #stdio: WireClient | undefined;
  #urls: Promise<string[]> | undefined;

  constructor(child: ChildProcessWithoutNullStreams, home: string, ownHome: boolean) {
    this.#child = child;
    this.pid = child.pid!;
    this.home = home;
    this.#ownHome = ownHome;
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    // Waits for `close` instead of `exit`, so that all output has been read.
    this.exited = new Promise((resolve) => {
      child.once("close", (code, signal) => resolve({ code, signal }));
    });
  }

  stdio(): WireClient {
    this.#stdio ??= new WireClient(stdioWire(this.#child));
    return this.#stdio;
  }

  /** The URLs of the listeners, once the host listens. If port 0 was requested, they contain the real port. */
  urls(): Promise<string[]> {
    this.#urls ??= this.logged(({ msg }) => msg === "listening").then(({ on }) => on as string[]);
    return this.#urls;
  }

  async url(scheme: "ws" | "unix" = "ws"): Promise<string> {
    const url = (await this.urls()).find((one) => one.startsWith(`${scheme}://`));
    if (url === undefined) throw new Error(`no ${scheme}:// door`);
    return url;
  }

  /** Its HTTP address. */
  async site(): Promise<string> {
    return (await this.url()).replace(/^ws:/, "http:");
  }

  /** A client on a socket, not initialized. */
  async connect(url?: string, headers: Record<string, string> = {}): Promise<WireClient> {
    return new WireClient(webSocketWire(await openWebSocket(url ?? (await this.url()), headers)));
  }

  /** A client on a socket, initialized. */
  async join(url?: string, capabilities?: object): Promise<WireClient> {
    const client = await this.connect(url);
    await client.initialize(capabilities);
    return client;
  }

  /** The first log line for which `fits` returns true. */
  logged(fits: (entry: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    return new Promise((resolve, reject) => {
      const look = (): boolean => {
        const found = this.#log().find(fits);
        if (found !== undefined) done(() => resolve(found));
        return found !== undefined;
      };
      const cancel = afterWorking(PATIENCE_MS, () =>
        done(() => reject(new Error(`never logged: ${this.stderr}`))),
      );
      const ended = (): void => {
        if (!look()) done(() => reject(new Error(`the host ended: ${this.stderr}`)));
      };
      const done = (settle: () => void): void => {
        cancel();
        this.#child.stderr.off("data", look);
        this.#child.off("close", ended);
        settle();
      };
      this.#child.stderr.on("data", look);
      this.#child.once("close", ended);
      look();
    });
  }

  /** Closes this end of the host's stderr. */
  async closeLog(): Promise<void> {
    this.#child.stderr.destroy();
    if (!this.#child.stderr.closed) await once(this.#child.stderr, "close");
  }

  /** Resident memory in bytes. */
  rss(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, "utf8");
    return Number(/VmRSS:\s*(\d+) kB/.exec(status)![1]) * 1024;
  }

  /** The number of bytes that the process has read so far, from any source. */
  bytesRead(): number {
    return Number(/rchar: (\d+)/.exec(readFileSync(`/proc/${this.pid}/io`, "utf8"))![1]);
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  /** Ends it however it is. */
  async kill(): Promise<void> {
    running.delete(this);
    this.#child.kill("SIGKILL");
    this.#child.stdout.resume();
    await this.exited;
    if (this.#ownHome) await rm(this.home, { recursive: true, force: true });
  }

  #log(): Record<string, unknown>[] {
    return this.stderr
      .split("\n")
      .slice(0, -1)
      .filter((line) => line.startsWith("{"))
      .map((line) => JSON.parse(line));
  }
}

atFileEnd(async () => {
  await Promise.all([...running].map((host) => host.kill()));
});
// Kills the host if the test run is interrupted.
process.once("exit", () => {
  for (const { pid } of running) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Gone already.
    }
  }
});
