import { randomFillSync } from "node:crypto";
import { homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import type { MachineFileAccess } from "./machine-file-access.ts";
import { nodeBoot } from "./node-boot-id.ts";
import { nodeFileSearchAccess } from "./node-file-search-access.ts";
import { nodeFiles } from "./node-files.ts";
import { nodeHttp } from "./node-http.ts";
import { nodeListen } from "./node-listen.ts";
import { loadLocks, nodeLiveness } from "./node-liveness-locks.ts";
import { NodeMessageWorker } from "./node-message-worker.ts";
import { nodeWatch } from "./node-watch.ts";
import { NodeWorker } from "./node-worker.ts";
import type { Cancel, Ids, Keyring, Platform, WorkspaceFiles } from "./platform.ts";
import type { ProxiedFetch } from "./proxy-fetch.ts";
import { isUnaffected, proxySettings } from "./proxy-settings.ts";

/** The platform of a running host: Node's clock, files, sockets and processes. */
export function nodePlatform(): Platform {
  return {
    ...requestPorts(process.env),
    prepare,
    giveBackMemory,
    // The worker bundles are beside the main bundle. A host that runs from sources has none, and does the work in the
    // main thread.
    worker: (name) =>
      typeof __dirname === "string" ? new NodeWorker(join(__dirname, `${name}-worker.cjs`)) : undefined,
    messageWorker: (name, events) =>
      typeof __dirname === "string"
        ? new NodeMessageWorker(join(__dirname, `${name}-worker.cjs`), events)
        : undefined,
    programs:
      typeof __dirname === "string" ? [join(__dirname, "../bin/commands"), dirname(process.execPath)] : [],
    process: () => ({
      id: process.pid,
      residentMemoryBytes: process.memoryUsage.rss(),
      physicalFootprintBytes: null,
    }),
    files: nodeFiles(),
    workspace: lazyWorkspace,
    machineFileAccess: lazyMachineFileAccess,
    get fileSearchAccess() {
      return nodeFileSearchAccess();
    },
    liveness: nodeLiveness,
    boot: nodeBoot,
    keyring: lazyKeyring,
    listen: nodeListen,
    dial: () => import("./node-dial.ts").then(({ nodeDial }) => nodeDial),
    env: withShell(process.env),
    spawn: (start) => import("./node-spawn.ts").then(({ nodeSpawn }) => nodeSpawn(start)),
    markedProcesses: {
      ask: async (marks) => (await loadMarked()).askMarked(marks),
      end: async (marks) => (await loadMarked()).endMarked(marks),
      watch: async (mark) => (await loadMarked()).watch(mark),
    },
    get machine() {
      return { os: process.platform, arch: process.arch, uid: process.getuid?.(), userHome: homedir() };
    },
    clock: { now: () => Date.now(), monotonic },
    timers: {
      after,
      soon: (run) => void setImmediate(run),
    },
    ids: randomIds(
      () => Date.now(),
      (bytes) => randomFillSync(bytes),
    ),
  };
}

/**
 * Chooses how requests are sent. Proxy support is loaded with the first request, and only if the environment names a
 * proxy or certificates.
 */
function requestPorts(env: NodeJS.ProcessEnv): Pick<Platform, "fetch" | "http"> {
  const settings = proxySettings(env);
  const direct = nodeHttp();
  if (settings === undefined) return { fetch: (input, init) => fetch(input, init), http: direct };
  let loaded: Promise<ProxiedFetch> | undefined;
  const load = (): Promise<ProxiedFetch> => {
    loaded ??= import("./proxy-fetch.ts")
      .then(({ proxiedFetch }) => proxiedFetch(settings))
      .catch((cause: unknown) => {
        // The next request loads it again, so that a corrected certificate file takes effect.
        loaded = undefined;
        throw cause;
      });
    return loaded;
  };
  return {
    fetch: async (input, init) => {
      const url = new URL(input instanceof Request ? input.url : input);
      return isUnaffected(settings, url) ? fetch(input, init) : (await load()).fetch(input, init);
    },
    http: async (url, request) =>
      isUnaffected(settings, url) ? direct(url, request) : (await load()).http(url, request),
  };
}

const loadWorkspace = async (): Promise<WorkspaceFiles> =>
  (await import("./node-workspace-files.ts")).nodeWorkspace;

const loadMarked = () => import("./node-marked-processes.ts");

/** Loaded with its first use: most threads change no files. */
const lazyWorkspace: WorkspaceFiles = {
  hold: async (...args) => (await loadWorkspace()).hold(...args),
  makeFolder: async (...args) => (await loadWorkspace()).makeFolder(...args),
  removeFolder: async (...args) => (await loadWorkspace()).removeFolder(...args),
  read: async (...args) => (await loadWorkspace()).read(...args),
  locate: async (...args) => (await loadWorkspace()).locate(...args),
  replace: async (...args) => (await loadWorkspace()).replace(...args),
  removeDrafts: async (...args) => (await loadWorkspace()).removeDrafts(...args),
  remove: async (...args) => (await loadWorkspace()).remove(...args),
};

/**
 * Loads keyring access at its first use. The keyring program is beside the bundle. A host that runs from sources has
 * none.
 */
const loadKeyring = async (): Promise<Keyring> => {
  if (typeof __dirname !== "string") throw new Error("the program that asks it was not built");
  return (await import("./node-keyring.ts")).nodeKeyring(join(__dirname, "keyring-program.cjs"), process.env);
};

const lazyKeyring: Keyring = {
  get: async (...args) => (await loadKeyring()).get(...args),
  set: async (...args) => (await loadKeyring()).set(...args),
};

const loadMachineFileAccess = async (): Promise<MachineFileAccess> =>
  (await import("./node-machine-file-access.ts")).nodeMachineFileAccess;

/** Loaded with its first use: few clients request files. */
const lazyMachineFileAccess: MachineFileAccess = {
  read: async (...args) => (await loadMachineFileAccess()).read(...args),
  write: async (...args) => (await loadMachineFileAccess()).write(...args),
  makeFolder: async (...args) => (await loadMachineFileAccess()).makeFolder(...args),
  look: async (...args) => (await loadMachineFileAccess()).look(...args),
  list: async (...args) => (await loadMachineFileAccess()).list(...args),
  remove: async (...args) => (await loadMachineFileAccess()).remove(...args),
  copy: async (...args) => (await loadMachineFileAccess()).copy(...args),
  trace: async (...args) => (await loadMachineFileAccess()).trace(...args),
  watch: nodeWatch,
};

// `setTimeout` counts in 31 bits, and fires at once for a longer delay.
const LONGEST_TIMER = 2 ** 31 - 1;

function after(ms: number, run: () => void): Cancel {
  let timer: NodeJS.Timeout;
  const wait = (left: number): void => {
    const now = Math.min(left, LONGEST_TIMER);
    timer = setTimeout(left > now ? () => wait(left - now) : run, now);
    timer.unref();
  };
  wait(ms);
  return () => clearTimeout(timer);
}

function prepare(): void {
  randomFillSync(new Uint8Array(1));
  // If loading fails, the error is reported when the locks are needed.
  loadLocks().catch(() => {});
}

/** `performance.now()` is avoided here: its module would have to be loaded. */
function monotonic(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/**
 * V8 keeps heap pages after a burst of work, even empty ones. It frees them when a garbage collection is requested
 * through the inspector, for which no port has to be opened.
 */
function giveBackMemory(): void {
  import("node:inspector").then(
    ({ Session }) => {
      const session = new Session();
      session.connect();
      session.post("HeapProfiler.collectGarbage", () => setImmediate(() => session.disconnect()));
    },
    // A Node built without the inspector keeps the memory.
    () => {},
  );
}

/** If the clock jumps back by more than this, someone has set it. Smaller jumps are jitter. */
const SET_BACK_MS = 10_000;

const HEX = Array.from({ length: 256 }, (_, byte) => (byte + 0x100).toString(16).slice(1));

/** Generates IDs from a clock and a source of random bytes. The simulation passes seeded ones. */
export function randomIds(now: () => number, fill: (bytes: Uint8Array) => void): Ids {
  // IDs of the same millisecond stay in order, because the 12 bits after the version count up. The same happens when
  // the clock jumps back a little. If it was set back further, IDs follow the clock; otherwise they would contain a
  // future time until the clock catches up.
  let last = 0;
  let counter = 0;
  // Random bytes are drawn in bulk, because one call into the crypto library then serves many IDs.
  const pool = new Uint8Array(1024);
  let used = pool.length;
  const draw = (count: number): Uint8Array => {
    if (used + count > pool.length) {
      fill(pool);
      used = 0;
    }
    used += count;
    return pool.subarray(used - count, used);
  };
  return {
    uuid() {
      const time = now();
      if (time > last || time < last - SET_BACK_MS) {
        last = time;
        counter = draw(1)[0]!;
      } else if (++counter > 0xfff) {
        last++;
        counter = 0;
      }
      const stamp = last.toString(16).padStart(12, "0");
      const random = draw(8);
      random[0] = (random[0]! & 0x3f) | 0x80;
      let tail = "";
      for (const byte of random) tail += HEX[byte];
      const count = counter.toString(16).padStart(3, "0");
      return `${stamp.slice(0, 8)}-${stamp.slice(8)}-7${count}-${tail.slice(0, 4)}-${tail.slice(4)}`;
    },
    integer() {
      const random = draw(7);
      let value = random[0]! & 0x1f;
      for (let at = 1; at < 7; at++) value = value * 256 + random[at]!;
      return value + 1 > Number.MAX_SAFE_INTEGER ? value : value + 1;
    },
  };
}

/** Sets SHELL if it is missing, as in services: looks up the user's shell in the password database. */
function withShell(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env["SHELL"]) return env;
  try {
    const { shell } = userInfo();
    return shell ? { ...env, SHELL: shell } : env;
  } catch {
    // In a container the user may have no entry in the password database.
    return env;
  }
}
