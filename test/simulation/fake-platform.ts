import { randomIds } from "../../packages/host/src/platform/node.ts";
import type { Keyring, Platform } from "../../packages/host/src/platform/platform.ts";
import type { Disk } from "./disk.ts";
import { FakeFiles } from "./fake-files.ts";
import type { Locks } from "./fake-liveness.ts";
import { fakeFileSearchAccess, fakeMachineFileAccess } from "./fake-machine-file-access.ts";
import type { FakeNetwork } from "./fake-network.ts";
import type { FakeProcesses } from "./fake-spawn.ts";
import { fakeWorkspace } from "./fake-workspace.ts";
import type { Owner, Scheduler } from "./scheduler.ts";

export interface FakePlatform extends Platform {
  readonly files: FakeFiles;
}

/** The environment of hosts, which outlives them. */
export interface Surroundings {
  readonly scheduler: Scheduler;
  readonly disk: Disk;
  readonly locks: Locks;
  readonly network: FakeNetwork;
  readonly processes: FakeProcesses;
  /** The machine's keyring; undefined if it has none. */
  readonly keyring: Keyring | undefined;
  /** The environment of the hosts. */
  readonly env: Readonly<Record<string, string>>;
}

/** The world as one incarnation of a host sees it. When that host dies, nothing reaches it any more. */
export function fakePlatform(
  { scheduler, disk, locks, network, processes, keyring, env }: Surroundings,
  owner: Owner,
): FakePlatform {
  const now = () => scheduler.wallClock;
  const files = new FakeFiles(disk, scheduler, owner);
  /** The question and its answer are separate steps. */
  const asked = <T>(ask: (keyring: Keyring) => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      if (keyring === undefined) return reject(new Error("the simulation has no keyring"));
      const step = (what: string, run: () => void): void =>
        scheduler.post(`${owner.name} keyring`, what, run, owner);
      step("question to the keyring", () => {
        ask(keyring).then((answer) => step("answer of the keyring", () => resolve(answer)), reject);
      });
    });
  return {
    files,
    workspace: fakeWorkspace(files),
    machineFileAccess: fakeMachineFileAccess(files),
    fileSearchAccess: fakeFileSearchAccess(files),
    liveness: locks.of(owner, scheduler, disk),
    boot: { id: async () => disk.boot, isNow: async (id) => id === disk.boot },
    keyring: {
      get: (item, signal) => asked((all) => all.get(item, signal)),
      set: (item, value, signal) => asked((all) => all.set(item, value, signal)),
    },
    // Model calls use a fake provider, so no request may come here.
    fetch: () => Promise.reject(new Error("the simulation has no network")),
    http: (url, request) => network.send(url, request, owner),
    prepare() {},
    listen: (place, handle) => network.listen(place, handle, owner),
    // Names are resolved, but no connection succeeds.
    dial: async () => ({
      resolve: async () => ["93.184.216.34"],
      connect: () => Promise.reject(new Error("nobody is there")),
      own: () => ({ ports: new Set(), addresses: [] }),
    }),
    env,
    spawn: (start) => processes.spawn(start, owner),
    markedProcesses: processes.marked(owner),
    machine: { os: "linux", arch: "x64", uid: 1000, userHome: "/home/user" },
    giveBackMemory() {},
    worker: () => undefined,
    messageWorker: () => undefined,
    programs: [],
    process: () => ({ id: 1, residentMemoryBytes: 0, physicalFootprintBytes: null }),
    clock: { now, monotonic: () => scheduler.elapsed },
    timers: {
      after: (ms, run) => scheduler.after(ms, `${owner.name} timers`, `after ${ms} ms`, run, owner),
      soon: (run) => scheduler.post(`${owner.name} soon`, "soon", run, owner),
    },
    ids: randomIds(now, (bytes) => scheduler.random.fill(bytes)),
  };
}
