import nodeFs from "node:fs";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { makeFolders } from "./make-folders.ts";
import type { Liveness } from "./platform.ts";

// `node:fs/promises` is avoided here: loading it would delay the start of a host's first thread.
const rm = promisify(nodeFs.rm);
const rename = promisify(nodeFs.rename);
const statfs = promisify(nodeFs.statfs);
/** Ending of a lock's file until it is locked. If its process is killed before that, other processes may remove it. */
const NEW_LOCK = ".new";
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Locks by means of SQLite, which work on every system. The operating system releases them when the process ends. */
export const nodeLiveness: Liveness = {
  async announce(path) {
    await refuseNetwork(path);
    const database = await takeNewLock(path);
    return async () => {
      database.close();
      await rm(path, { force: true });
    };
  },
  async alive(path) {
    const database = await takeLock(path);
    database?.close();
    return database === undefined;
  },
  async exclusively(path, work) {
    for (;;) {
      const database = await takeLock(path);
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

interface Lock {
  close(): void;
}

export function loadLocks(): Promise<Pick<typeof import("@photostructure/sqlite"), "DatabaseSync">> {
  return import("@photostructure/sqlite").then(({ DatabaseSync }) => ({ DatabaseSync }));
}

/** Takes the lock: returns the open database that holds it, undefined if another process holds it. */
async function takeLock(path: string): Promise<Lock | undefined> {
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

/**
 * Creates a file and takes its lock. The file gets its name when it is locked: a process that saw it before would take
 * this one for dead.
 */
async function takeNewLock(path: string): Promise<Lock> {
  const unlocked = `${path}${NEW_LOCK}`;
  for (;;) {
    const database = await takeLock(unlocked);
    if (database === undefined) {
      await wait(10);
      continue;
    }
    try {
      await rename(unlocked, path);
      return database;
    } catch (cause) {
      database.close();
      // Another process has removed it as a file of a dead process.
      if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
    }
  }
}

/** Runs `run`. If it fails, creates the folder of `path` and runs `run` again. Usually the folder exists. */
async function inFolder<T>(path: string, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch {
    await makeFolders(dirname(path));
    return run();
  }
}

/** `statfs` types of network file systems: NFS, SMB, CIFS, AFS, FUSE over the network (sshfs), 9p, Ceph, Lustre. */
const NETWORK = new Set([
  0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x5346414f, 0x01021997, 0x00c36400, 0x0bd00bd0,
]);

/** Throws `ENETFS` on a network file system, where two machines do not see each other's locks and appends. */
async function refuseNetwork(path: string): Promise<void> {
  const { type } = await inFolder(path, () => statfs(dirname(path)));
  if (!NETWORK.has(type >>> 0)) return;
  throw Object.assign(new Error(`${dirname(path)} is on a network file system`), { code: "ENETFS" });
}
