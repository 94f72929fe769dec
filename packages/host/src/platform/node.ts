import { randomFillSync } from "node:crypto";
import { homedir, userInfo } from "node:os";
import { dirname, join } from "node:path";
import { nodeBoot } from "./node-boot.ts";
import { nodeFiles } from "./node-files.ts";
import { nodeHttp } from "./node-http.ts";
import { nodeListen } from "./node-listen.ts";
import { loadLocks, nodeLiveness } from "./node-liveness.ts";
import { NodeWorker } from "./node-worker.ts";
import type { Cancel, Ids, Platform, WorkspaceFiles } from "./platform.ts";

/** The real world. */
export function nodePlatform(): Platform {
  return {
    prepare,
    giveBackMemory,
    // Beside the bundle; where the sources are run, everything is done in one thread.
    worker: (name) =>
      typeof __dirname === "string" ? new NodeWorker(join(__dirname, `${name}-worker.cjs`)) : undefined,
    programs:
      typeof __dirname === "string" ? [join(__dirname, "../bin/commands"), dirname(process.execPath)] : [],
    process: () => ({
      id: process.pid,
      residentMemoryBytes: process.memoryUsage.rss(),
      physicalFootprintBytes: null,
    }),
    files: nodeFiles(),
    workspace: lateWorkspace,
    liveness: nodeLiveness,
    boot: nodeBoot,
    fetch: (input, init) => fetch(input, init),
    http: nodeHttp(),
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

const loadWorkspace = async (): Promise<WorkspaceFiles> =>
  (await import("./node-workspace.ts")).nodeWorkspace;

const loadMarked = () => import("./node-marked.ts");

/** Loaded with its first use: most threads change no files. */
const lateWorkspace: WorkspaceFiles = {
  read: async (...given) => (await loadWorkspace()).read(...given),
  replace: async (...given) => (await loadWorkspace()).replace(...given),
  remove: async (...given) => (await loadWorkspace()).remove(...given),
};

// Timers count in 31 bits, and go off at once for more.
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
  // What can not be loaded is told when it is needed.
  loadLocks().catch(() => {});
}

/** Not from `performance`, which is a module that has to be loaded. */
function monotonic(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}

/**
 * V8 keeps the room that a burst of work made it take, also when nothing is left in it. It lets go of it when the
 * inspector asks for a collection; no port is opened for that.
 */
function giveBackMemory(): void {
  import("node:inspector").then(
    ({ Session }) => {
      const session = new Session();
      session.connect();
      session.post("HeapProfiler.collectGarbage", () => setImmediate(() => session.disconnect()));
    },
    // A Node that was built without it goes on as it is.
    () => {},
  );
}

/** From here on a clock that goes back was set, and did not only waver. */
const SET_BACK_MS = 10_000;

const HEX = Array.from({ length: 256 }, (_, byte) => (byte + 0x100).toString(16).slice(1));

/** Ids from a clock and a source of random bytes; the simulation hands in seeded ones. */
export function randomIds(now: () => number, fill: (bytes: Uint8Array) => void): Ids {
  // UUIDv7 keeps ids of one millisecond in order by counting up in the 12 bits after the version. So it does for a clock
  // that was set back a little; one that was set back further is followed, or ids would stay in the future for good.
  let last = 0;
  let counter = 0;
  // Random bytes are drawn in bulk: one call into the crypto library serves many ids.
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

/** A service has no SHELL: then the user's own is named in the list of users. */
function withShell(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env["SHELL"]) return env;
  try {
    const { shell } = userInfo();
    return shell ? { ...env, SHELL: shell } : env;
  } catch {
    // The list does not have everybody who runs in a container.
    return env;
  }
}
