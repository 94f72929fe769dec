import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { readdir, readFile, readlink } from "node:fs/promises";
import { eachFewAtOnce } from "./few-at-once.ts";
import type { OwnSockets, Peer } from "./peers.ts";
import { nextTurn, shared } from "./shared-looks.ts";

/** How many processes are looked at at once. */
const AT_ONCE = 16;
const SS_MS = 2_000;

const UNKNOWN: Peer = { kind: "unknown" };

/** Node does not ask for the peer of a Unix socket; `ss` does. */
export async function unixPeer(fd: number): Promise<Peer> {
  const own = /^socket:\[(\d+)\]$/.exec(await readlink(`/proc/self/fd/${fd}`).catch(() => ""))?.[1];
  if (own === undefined) return UNKNOWN;
  const table = await shared("unix", unixTable).catch(() => undefined);
  if (table === undefined) return UNKNOWN;
  const peer = table.get(Number(own));
  if (peer === undefined) return UNKNOWN;
  // Only this user can open the socket file.
  return peer === 0 ? { kind: "gone" } : { kind: "here", socket: peer, isOtherUser: false };
}

/** Which Unix socket is connected to which. */
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
  /** With its id it stands for one process, and no later one of the same id. */
  readonly startedAt: string;
}

/** Processes that were looked at before: what they were started with does not change. */
const known = new Map<
  number,
  { readonly startedAt: string; readonly mark: string; readonly isMarked: boolean }
>();

export async function socketsOfOwn(mark: string): Promise<OwnSockets> {
  const wanted = Buffer.from(mark);
  const all = new Map<number, Process>();
  for (const name of await readdir("/proc")) {
    const found = /^\d+$/.test(name) ? processNow(name) : undefined;
    if (found !== undefined) all.set(Number(name), found);
    if (all.size % AT_ONCE === 0) await nextTurn();
  }
  for (const pid of known.keys()) if (!all.has(pid)) known.delete(pid);
  await eachFewAtOnce(AT_ONCE, all, async ([pid, { startedAt }]) => {
    const before = known.get(pid);
    if (before?.startedAt === startedAt && before.mark === mark) return;
    const environment = await readFile(`/proc/${pid}/environ`).catch(() => undefined);
    // While a program is being started it has none for a moment.
    if (environment === undefined || environment.length === 0) return;
    known.set(pid, { startedAt, mark, isMarked: environment.includes(wanted) });
  });
  const isOwn = (pid: number, depth = 0): boolean => {
    const found = all.get(pid);
    if (found === undefined || depth > all.size) return false;
    if (known.get(pid)?.isMarked || found.parent === process.pid) return true;
    return isOwn(found.parent, depth + 1);
  };
  const own = [...all.keys()].filter((pid) => isOwn(pid));
  const { sockets, hidesSome } = await socketsOf(own);
  if (!hidesSome) return { mayHave: (socket) => sockets.has(socket) };
  const others = await socketsOf([...all.keys()].filter((pid) => !isOwn(pid)));
  return { mayHave: (socket) => sockets.has(socket) || !others.sockets.has(socket) };
}

/** The sockets of processes, and whether there is one that does not let this user see its own. */
async function socketsOf(
  processes: readonly number[],
): Promise<{ readonly sockets: ReadonlySet<number>; readonly hidesSome: boolean }> {
  const sockets = new Set<number>();
  let hidesSome = false;
  await eachFewAtOnce(AT_ONCE, processes, async (pid) => {
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
  // pid (name, which may have any characters) state parent … the 22nd is the time of its start
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // Without memory it is a thread of the kernel, or dead.
  if (fields.length < 21 || fields[20] === "0") return undefined;
  return { parent: Number(fields[1]), startedAt: fields[19]! };
}
