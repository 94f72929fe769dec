import nodeFs from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { makeFolders } from "./make-folders.ts";
import type { Liveness } from "./platform.ts";

// Not from `node:fs/promises`, for which the first thread would have to wait.
const rm = promisify(nodeFs.rm);
const statfs = promisify(nodeFs.statfs);
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Locks of the operating system die with the process, and SQLite knows how to take them on every system. */
export const nodeLiveness: Liveness = {
  async announce(path) {
    await refuseNetwork(path);
    const database = await lock(path);
    if (database === undefined) throw new Error(`the lock ${path} is held by another process`);
    return async () => {
      database.close();
      await rm(path, { force: true });
    };
  },
  async alive(path) {
    const database = await lock(path);
    database?.close();
    return database === undefined;
  },
  async exclusively(path, work) {
    for (;;) {
      const database = await lock(path);
      if (database === undefined) {
        await wait(10);
        continue;
      }
      try {
        return await work();
      } finally {
        database.close();
      }
    }
  },
};

interface Locked {
  close(): void;
}

export function loadLocks(): Promise<Pick<typeof import("@photostructure/sqlite"), "DatabaseSync">> {
  return import("@photostructure/sqlite").then(({ DatabaseSync }) => ({ DatabaseSync }));
}

/** The open database that holds the lock, or undefined if someone else has it. */
async function lock(path: string): Promise<Locked | undefined> {
  const { DatabaseSync } = await loadLocks();
  const database = await inFolder(path, () => new DatabaseSync(path));
  try {
    database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
    return database;
  } catch (cause) {
    database.close();
    if (/locked|busy/i.test((cause as Error).message)) return undefined;
    throw cause;
  }
}

/** Makes the folder of a path only when it turns out to be missing: usually it is there. */
async function inFolder<T>(path: string, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch {
    await makeFolders(dirname(path));
    return run();
  }
}

/** NFS, SMB, CIFS, AFS, FUSE over the network (sshfs), 9p, Ceph, Lustre. */
const NETWORK = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x5346414f, 0x01021997, 0x00c36400, 0x0bd00bd0,
]);

/** Locks and appends of two machines do not see each other there. */
async function refuseNetwork(path: string): Promise<void> {
  const { type } = await inFolder(path, () => statfs(dirname(path)));
  if (!NETWORK.has(type >>> 0)) return;
  throw Object.assign(new Error(`${dirname(path)} is on a network file system`), { code: "ENETFS" });
}
