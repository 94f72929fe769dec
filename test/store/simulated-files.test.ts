// The store in files on a simulated disk: the contract under many schedules, and what a disk does that fails.
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe } from "vitest";
import type { Log } from "../../packages/host/src/observe/log.ts";
import type { Timers } from "../../packages/host/src/platform/platform.ts";
import { append } from "../../packages/host/src/store/append.ts";
import { fileStore } from "../../packages/host/src/store/files/file-store.ts";
import { sessionPath } from "../../packages/host/src/store/files/journal-paths.ts";
import type { Store } from "../../packages/host/src/store/store.ts";
import { readHead } from "../../packages/host/src/store/thread-head.ts";
import { type FakePlatform, fakePlatform } from "../simulation/fake-platform.ts";
import { simulate } from "../simulation/run.ts";
import { HOME } from "../simulation/sim-host.ts";
import type { World } from "../simulation/world.ts";
import { CONTRACT, freesLocksOfTheDead } from "./contract.ts";
import { type Hosts, rename, seqs, started, THIEF, theirCommit } from "./hosts.ts";

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

interface SimulatedHosts extends Hosts {
  readonly platform: FakePlatform;
  powerCut(...hosts: readonly Store[]): void;
}

function simulatedHosts(world: World): SimulatedHosts {
  const owners = new Map<Store, { readonly name: string; alive: boolean }>();
  const outside = fakePlatform(world, { name: "outside", alive: true });
  const kill = (host: Store): void => {
    const owner = owners.get(host)!;
    owner.alive = false;
    world.locks.drop(owner);
  };
  return {
    platform: outside,
    async start() {
      const owner = { name: `host${owners.size + 1}`, alive: true };
      const platform = fakePlatform(world, owner);
      const store = fileStore({ home: HOME, platform, log: SILENT, index: world.index.open() });
      owners.set(store, owner);
      return store;
    },
    kill: async (host) => kill(host),
    powerCut(...hosts) {
      for (const host of hosts) kill(host);
      world.index.powerCut(world.random);
      world.disk.powerCut();
    },
    async takeOver(threadId) {
      const claim = join(HOME, "live", threadId);
      await outside.files.remove(claim);
      await outside.files.claim(claim, THIEF);
      const file = await outside.files.openAppend(sessionPath(HOME, threadId));
      await file.append(Buffer.from(theirCommit()));
      await file.close();
    },
    pause: (ms) => new Promise((go) => void outside.timers.after(ms, go)),
    newId: () => outside.ids.uuid(),
    seesUnused: false,
    hasPaths: true,
    readFile: (path) => outside.files.readText(path),
  };
}

describe("a store in files, on a simulated disk", () => {
  for (const [promise, holds] of Object.entries(CONTRACT))
    simulate(promise, { count: 3, full: 100 }, (world) => holds(simulatedHosts(world)));

  simulate("frees the locks of a host that died", { count: 3, full: 100 }, (world) =>
    freesLocksOfTheDead(simulatedHosts(world)),
  );
});

describe("an append to a disk that fails", () => {
  simulate(
    "is written again, three times at most, within a second",
    { count: 8, full: 200 },
    async (world) => {
      const hosts = simulatedHosts(world);
      const host = await hosts.start();
      const pauses: number[] = [];
      const timers: Pick<Timers, "after"> = {
        after(ms, run) {
          pauses.push(ms);
          return hosts.platform.timers.after(ms, run);
        },
      };
      const thread = await started(hosts, host, "before");
      const failures = world.random.between(1, 6);
      world.disk.fail({
        op: "append",
        code: "EIO",
        path: (path) => path.includes(thread.id),
        times: failures,
      });
      const commit = rename(thread, "after");
      const written = await append(thread.journal, commit, "synced", thread.state, timers).then(
        () => true,
        (cause: { readonly code?: unknown }) => {
          assert.equal(cause.code, "storageFailed");
          return false;
        },
      );
      world.check(() => {
        assert.equal(written, failures <= 3);
        assert.equal(pauses.length, Math.min(3, failures));
        assert(pauses.reduce((sum, ms) => sum + ms, 0) <= 1000);
      });
      const found = await seqs(thread.journal.forwards());
      world.check(() => assert.deepEqual(found, written ? [1, 2, 3] : [1, 2]));
      // What was settled is durable, and listed.
      if (!written) return;
      const row = await host.index.get(thread.id);
      world.check(() => assert.deepEqual([row?.seq, row?.thread.name], [3, "after"]));
      hosts.powerCut(host);
      const next = await hosts.start();
      const reader = (await next.journal.read(thread.id))!;
      const head = await readHead(reader);
      await reader.close();
      world.check(() => assert.equal(head?.state.name, "after"));
    },
  );

  simulate(
    "is not taken for done after a failed sync, whatever can be read",
    { count: 5, full: 100 },
    async (world) => {
      const hosts = simulatedHosts(world);
      const host = await hosts.start();
      let pauses = 0;
      const timers: Pick<Timers, "after"> = {
        after(ms, run) {
          pauses++;
          return hosts.platform.timers.after(ms, run);
        },
      };
      const thread = await started(hosts, host, "before");
      world.disk.fail({ op: "sync", code: "EIO", path: (path) => path.includes(thread.id) });
      const commit = rename(thread, "after");
      let code: unknown;
      await append(thread.journal, commit, "synced", thread.state, timers).catch((cause) => {
        code = cause.code;
      });
      world.check(() => {
        assert.equal(code, "storageFailed");
        assert.equal(pauses, 0, "it was tried again");
      });
      // The commit is on the disk, although the append was refused.
      const found = await seqs(thread.journal.forwards());
      world.check(() => assert.deepEqual(found, [1, 2, 3]));
    },
  );
});

describe("a power cut", () => {
  simulate(
    "leaves what was synced, and says that threads have to be looked at",
    { count: 8, full: 200 },
    async (world) => {
      const hosts = simulatedHosts(world);
      const host = await hosts.start();
      const thread = await started(hosts, host, "synced");
      await thread.journal.append(rename(thread, "written"), "written", thread.state);
      hosts.powerCut(host);
      const next = await hosts.start();
      const needsRecovery = await next.claims.needsFullRecovery();
      const taken = await next.journal.open(thread.id);
      assert(taken?.kind === "mine");
      const found = await seqs(taken.journal.forwards());
      world.check(() => {
        assert.equal(needsRecovery, true);
        assert.deepEqual(found.slice(0, 2), [1, 2]);
        assert(found.length <= 3);
      });
      await next.claims.markFullyRecovered();
      const after = await next.claims.needsFullRecovery();
      world.check(() => assert.equal(after, false));
    },
  );
});
