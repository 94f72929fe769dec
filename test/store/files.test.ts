import { appendFile, mkdtemp, realpath, rm, symlink, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, it } from "vitest";
import type { Log } from "../../packages/host/src/observe/log.ts";
import { nodePlatform } from "../../packages/host/src/platform/node.ts";
import type { Platform } from "../../packages/host/src/platform/platform.ts";
import { fileStore } from "../../packages/host/src/store/files/file-store.ts";
import { sessionPath } from "../../packages/host/src/store/files/journal-paths.ts";
import type { Store } from "../../packages/host/src/store/store.ts";
import { CONTRACT } from "./contract.ts";
import { type Hosts, THIEF, theirCommit } from "./hosts.ts";

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

let home: string;
const open = new Map<Store, { release: () => Promise<void> }>();
beforeEach(async () => {
  home = await realpath(await mkdtemp(join(tmpdir(), "store-")));
});
afterEach(async () => {
  for (const store of open.keys()) await store.close().catch(() => {});
  open.clear();
  await rm(home, { recursive: true, force: true });
});

const hosts: Hosts = {
  async start() {
    const real = nodePlatform();
    const held = { release: async () => {} };
    const liveness: Platform["liveness"] = {
      ...real.liveness,
      alive: (path) => real.liveness.alive(path),
      exclusively: (path, work) => real.liveness.exclusively(path, work),
      announce: async (path) => {
        const release = await real.liveness.announce(path);
        held.release = release;
        return release;
      },
    };
    const store = fileStore({ home, platform: { ...real, liveness }, log: SILENT });
    open.set(store, held);
    return store;
  },
  // All that others see of its death is that its lock is free.
  kill: (host) => open.get(host)!.release(),
  async takeOver(threadId) {
    const claim = join(home, "live", threadId);
    await unlink(claim);
    await symlink(THIEF, claim);
    await appendFile(sessionPath(home, threadId), theirCommit());
  },
  newId: () => nodePlatform().ids.uuid(),
  seesUnused: false,
  hasPaths: true,
  readFile: (path) => nodePlatform().files.readText(path),
};

describe("a store in files, on the disk", () => {
  for (const [promise, holds] of Object.entries(CONTRACT)) it(promise, () => holds(hosts));
});
