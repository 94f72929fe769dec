import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { readdir, readFile, readlink } from "node:fs/promises";
import { eachFewAtOnce } from "./concurrency-limit.ts";
import { nextTurn, sharedLookup } from "./shared-lookups.ts";
import type { OwnSockets, Peer } from "./socket-peers.ts";

/** How many processes are inspected at once. */
const MAX_CONCURRENT = 16;
const SS_MS = 2_000;

const UNKNOWN: Peer = { kind: "unknown" };

/** Finds the peer of a Unix socket by the program `ss`, because Node has no call for that. */
export async function unixPeer(fd: number): Promise<Peer> {
  const own = /^socket:\[(\d+)\]$/.exec(await readlink(`/proc/self/fd/${fd}`).catch(() => ""))?.[1];
  if (own === undefined) return UNKNOWN;
  const table = await sharedLookup("unix", unixTable).catch(() => undefined);
  if (table === undefined) return UNKNOWN;
  const peer = table.get(Number(own));
  if (peer === undefined) return UNKNOWN;
  // Only this user can open the socket file, so the peer is never another user.
  return peer === 0 ? { kind: "gone" } : { kind: "here", socket: peer, isOtherUser: false };
}

/** Maps each Unix socket's inode to that of its peer. */
function unixTable(): Promise<ReadonlyMap<number, number>> {
  return new Promise((resolve, reject) => {
    const options = {
      timeout: SS_MS,
      maxBuffer: 64 * 1024 * 1024,
      env: { PATH: `${process.env["PATH"]}:/usr/sbin:/sbin` },
    };
    execFile("ss", ["-xH"], options, (error, output) => {
      if (error !== null) return reject(error);
      const pairs = new Map<number, number>();
      for (const line of output.split("\n")) {
        const match = /\s(\d+)\s+\S+\s+(\d+)\s*$/.exec(line);
        if (match !== null) pairs.set(Number(match[1]), Number(match[2]));
      }
      resolve(pairs);
    });
  });
}

interface Process {
  readonly parent: number;
  /** Together with the PID, identifies a process: a later process with the same PID has another start time. */
  readonly startedAt: string;
}

/** Cache of inspected processes. The environment that a process was started with does not change. */
const inspected = new Map<
  number,
  { readonly startedAt: string; readonly mark: string; readonly isMarked: boolean }
>();

/** Finds the sockets of this process's descendants and of all processes with the mark. */
export async function socketsOfOwn(mark: string): Promise<OwnSockets> {
  const wanted = Buffer.from(mark);
  const all = new Map<number, Process>();
  for (const name of await readdir("/proc")) {
    const found = /^\d+$/.test(name) ? processNow(name) : undefined;
    if (found !== undefined) all.set(Number(name), found);
    if (all.size % MAX_CONCURRENT === 0) await nextTurn();
  }
  for (const pid of inspected.keys()) if (!all.has(pid)) inspected.delete(pid);
  await eachFewAtOnce(MAX_CONCURRENT, all, async ([pid, { startedAt }]) => {
    const before = inspected.get(pid);
    if (before?.startedAt === startedAt && before.mark === mark) return;
    const environment = await readFile(`/proc/${pid}/environ`).catch(() => undefined);
    // During exec, a process's environment is empty for a moment.
    if (environment === undefined || environment.length === 0) return;
    inspected.set(pid, { startedAt, mark, isMarked: environment.includes(wanted) });
  });
  const isOwn = (pid: number, depth = 0): boolean => {
    const found = all.get(pid);
    if (found === undefined || depth > all.size) return false;
    if (inspected.get(pid)?.isMarked || found.parent === process.pid) return true;
    return isOwn(found.parent, depth + 1);
  };
  const own = [...all.keys()].filter((pid) => isOwn(pid));
  const { sockets, hidesSome } = await socketsOf(own);
  if (!hidesSome) return { mayHave: (socket) => sockets.has(socket) };
  const others = await socketsOf([...all.keys()].filter((pid) => !isOwn(pid)));
  return { mayHave: (socket) => sockets.has(socket) || !others.sockets.has(socket) };
}

/** The open sockets of processes, and whether one of the processes hides its descriptors from this user. */
async function socketsOf(
  processes: readonly number[],
): Promise<{ readonly sockets: ReadonlySet<number>; readonly hidesSome: boolean }> {
  const sockets = new Set<number>();
  let hidesSome = false;
  await eachFewAtOnce(MAX_CONCURRENT, processes, async (pid) => {
    const open = await readdir(`/proc/${pid}/fd`).catch((cause: NodeJS.ErrnoException) => {
      hidesSome ||= cause.code === "EACCES" || cause.code === "EPERM";
      return [];
    });
    for (const fd of open) {
      const link = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => "");
      const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1];
      if (inode !== undefined) sockets.add(Number(inode));
    }
  });
  return { sockets, hidesSome };
}

function processNow(pid: string): Process | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return undefined;
  }
  // /proc/PID/stat: pid (name, which may contain any character) state parent …; field 22 is the start time.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // Kernel threads and zombies have no memory.
  if (fields.length < 21 || fields[20] === "0") return undefined;
  return { parent: Number(fields[1]), startedAt: fields[19]! };
}
