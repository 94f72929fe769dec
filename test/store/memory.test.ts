import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "vitest";
import type { Log } from "../../packages/host/src/observe/log.ts";
import { nodePlatform } from "../../packages/host/src/platform/node.ts";
import { openThreadIndex } from "../../packages/host/src/store/files/index/sqlite-index.ts";
import { rebuildRows } from "../../packages/host/src/store/index-rebuild.ts";
import { SharedMemory } from "../../packages/host/src/store/memory/in-memory-store.ts";
import type { ThreadIndex } from "../../packages/host/src/store/thread-index.ts";
import { IndexFile } from "../simulation/memory-index.ts";
import { CONTRACT, freesLocksOfTheDead } from "./contract.ts";
import type { Hosts } from "./hosts.ts";

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

/** Hosts whose indexes come from `openIndex`. */
function memoryHosts(openIndex: (shared: SharedMemory) => ThreadIndex): Hosts {
  const shared = new SharedMemory();
  let [hosts, ids] = [0, 0];
  return {
    start: async () => shared.open(`host ${++hosts}`, openIndex(shared)),
    kill: async ({ claims }) => shared.died(claims.hostId),
    takeOver: async (threadId) => void shared.claims.set(threadId, { host: "thief", needsRecovery: true }),
    newId: () => `00000000-0000-7000-8000-${String(++ids).padStart(12, "0")}`,
    seesUnused: true,
    hasPaths: false,
  };
}

/** Hosts with the index that simulations use. */
function simulatedIndexHosts(): Hosts {
  const index = new IndexFile();
  return memoryHosts(() => index.open());
}

describe("a store in memory that several hosts share", () => {
  for (const [promise, holds] of Object.entries(CONTRACT)) it(promise, () => holds(simulatedIndexHosts()));

  it("frees the locks of a host that died", () => freesLocksOfTheDead(simulatedIndexHosts()));
});

describe("a store in memory, with its index in SQLite", () => {
  let folder: string;
  let indexes: ThreadIndex[] = [];
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "index-"));
  });
  afterEach(async () => {
    for (const index of indexes) await index.close();
    indexes = [];
    await rm(folder, { recursive: true, force: true });
  });

  const openIndex = (shared: SharedMemory): ThreadIndex => {
    const index = openThreadIndex({
      ...nodePlatform(),
      path: join(folder, "threads.sqlite"),
      log: SILENT,
      rebuild: () => rebuildRows(shared.open("rebuild", index), SILENT),
    });
    indexes.push(index);
    return index;
  };

  for (const [promise, holds] of Object.entries(CONTRACT)) it(promise, () => holds(memoryHosts(openIndex)));
});
