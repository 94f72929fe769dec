import { execFile } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { readlink } from "node:fs/promises";
import { MARK_VARIABLE } from "./mark-variable.ts";
import { nextTurn, sharedLookup } from "./shared-lookups.ts";
import type { Holder, Peer } from "./socket-peers.ts";

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

/** Sockets that the next search must find. All callers that wait for that search share it. */
let wanted = new Set<number>();

/** Judges the processes that have a socket open. */
export async function holderOf(socket: number): Promise<Holder> {
  wanted.add(socket);
  const found = await sharedLookup("holders", () => {
    const sought = wanted;
    wanted = new Set();
    return holdersOf(sought);
  });
  return found.get(socket) ?? "unknown";
}

/**
 * Searches the descriptor tables of processes for sockets. The tables are read synchronously, which takes a tenth of
 * the time; the event loop has its turn in between.
 */
async function holdersOf(sought: ReadonlySet<number>): Promise<ReadonlyMap<number, Holder>> {
  const all = await processesNow();
  const of = (kind: Holder): number[] => [...all.keys()].filter((pid) => all.get(pid)!.kind === kind);
  const search = new SocketSearch(sought);
  // These processes must not have the socket, so all of their tables are searched: a thread can have a table of its
  // own, and the table of a first thread that has ended is empty.
  const hasHidden = await search.addAll(of("command"), "command", allThreads);
  await search.addAll(of("unknown"), "unknown", allThreads);
  // Most clients are young processes, and have the socket in the table of their first thread.
  const users = of("user").sort((a, b) => all.get(b)!.startedAt - all.get(a)!.startedAt);
  const isSame = (pid: number): boolean => processNow(pid)?.startedAt === all.get(pid)!.startedAt;
  for (const threadsOf of [firstThread, allThreads]) {
    if (search.isOver) break;
    await search.addAll(users, "user", threadsOf, isSame);
  }
  // A process can hide its table from this user. It may have any socket that was not found elsewhere.
  if (hasHidden) for (const socket of search.missing) search.found.set(socket, "command");
  return search.found;
}

/** After this many descriptors, the event loop has its turn. */
const DESCRIPTORS_AT_ONCE = 500;

class SocketSearch {
  readonly found = new Map<number, Holder>();
  readonly missing: Set<number>;
  readonly #links: ReadonlyMap<string, number>;

  constructor(sought: ReadonlySet<number>) {
    this.missing = new Set(sought);
    this.#links = new Map([...sought].map((socket) => [`socket:[${socket}]`, socket]));
  }

  get isOver(): boolean {
    return this.missing.size === 0;
  }

  /**
   * Searches the tables of processes, until all sockets are found if `isSame` is given: whether a process is still
   * the one that was judged. Resolves with whether a process hides a table from this user.
   */
  async addAll(
    processes: readonly number[],
    kind: Holder,
    threadsOf: (pid: number) => readonly string[],
    isSame?: (pid: number) => boolean,
  ): Promise<boolean> {
    let hides = false;
    let read = 0;
    for (const pid of processes) {
      for (const thread of threadsOf(pid)) {
        const descriptors = descriptorsOf(thread);
        hides ||= descriptors === undefined;
        for (const descriptor of descriptors ?? []) {
          if (++read % DESCRIPTORS_AT_ONCE === 0) await nextTurn();
          const socket = this.#links.get(linkOf(`${thread}/fd/${descriptor}`) ?? "");
          if (socket === undefined || (isSame !== undefined && !isSame(pid))) continue;
          // The first kind that is found counts: the callers begin with the one that is refused.
          if (!this.found.has(socket)) this.found.set(socket, kind);
          this.missing.delete(socket);
        }
        if (isSame !== undefined && this.isOver) return hides;
      }
    }
    return hides;
  }
}

const firstThread = (pid: number): readonly string[] => [`/proc/${pid}`];

/** All threads of a process. Most of them share one descriptor table, but that cannot be seen from outside. */
function allThreads(pid: number): readonly string[] {
  return (listed(`/proc/${pid}/task`) ?? []).map((thread) => `/proc/${pid}/task/${thread}`);
}

/** The descriptors of a thread; none if it has ended, undefined if this user may not see what they are. */
function descriptorsOf(thread: string): readonly string[] | undefined {
  // A superuser may list every table, but with fewer capabilities than the thread's may not read the links. The kernel
  // refuses all links of a thread or none, and a thread can have thousands.
  try {
    readlinkSync(`${thread}/cwd`);
  } catch (cause) {
    if (isRefused(cause)) return undefined;
  }
  return listed(`${thread}/fd`);
}

interface Process {
  readonly parent: number;
  /** Together with the PID, identifies a process: a later process with the same PID has another start time. */
  readonly startedAt: number;
}

/** All processes of the machine except those of the kernel, each with what it says about a socket that it has. */
async function processesNow(): Promise<ReadonlyMap<number, Process & { readonly kind: Holder }>> {
  const all = new Map<number, Process & { environment: string }>();
  const kernel = kernelThreads();
  for (const name of listed("/proc") ?? []) {
    if (!/^\d+$/.test(name) || kernel.has(name)) continue;
    const found = processNow(Number(name));
    if (found !== undefined) all.set(Number(name), { ...found, environment: environmentOf(Number(name)) });
    if (all.size % PROCESSES_AT_ONCE === 0) await nextTurn();
  }
  const accepted = new Set(marksIn(`${MARK_VARIABLE}=${process.env[MARK_VARIABLE] ?? ""}`));
  const isMarked = new Map(
    [...all].map(([pid, { environment }]) => [pid, marksIn(environment).some((mark) => !accepted.has(mark))]),
  );
  const isCommand = (pid: number, depth = 0): boolean => {
    const found = all.get(pid);
    if (found === undefined || depth > all.size) return false;
    return isMarked.get(pid)! || found.parent === process.pid || isCommand(found.parent, depth + 1);
  };
  const namespace = linkOf("/proc/self/ns/pid");
  const kindOf = (pid: number): Holder => {
    if (pid === process.pid) return "user";
    if (isCommand(pid)) return "command";
    const isTold =
      // Empty for a process that cleared it, that hides it, or that is about to start another program.
      all.get(pid)!.environment !== "" &&
      // Commands in a sandbox have a namespace of their own. They can overwrite their environment.
      namespace !== undefined &&
      linkOf(`/proc/${pid}/ns/pid`) === namespace &&
      ownerOf(pid) === process.getuid?.();
    return isTold ? "user" : "unknown";
  };
  return new Map(
    [...all].map(([pid, { parent, startedAt }]) => [pid, { parent, startedAt, kind: kindOf(pid) }]),
  );
}

/**
 * The processes of the kernel, which have no descriptors: often more than all others. They are the children of process
 * 2, unless that is an ordinary process, as in a container.
 */
function kernelThreads(): ReadonlySet<string> {
  return new Set(processNow(2) === undefined ? textOf("/proc/2/task/2/children").split(" ") : []);
}

/** After this many processes, the event loop has its turn. */
const PROCESSES_AT_ONCE = 32;
/** PF_KTHREAD: a flag of processes of the kernel, which have no descriptors. */
const KERNEL_THREAD = 0x00200000;

function processNow(pid: number): Process | undefined {
  const stat = textOf(`/proc/${pid}/stat`);
  // /proc/PID/stat: pid (name, which may contain any character) state parent …; field 9 has flags, 22 the start time.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  if (fields.length < 21 || (Number(fields[6]) & KERNEL_THREAD) !== 0) return undefined;
  return { parent: Number(fields[1]), startedAt: Number(fields[19]) };
}

const environmentOf = (pid: number): string => textOf(`/proc/${pid}/environ`);

/** The marks of all hosts in an environment. A host that was started by a host adds its mark behind a colon. */
function marksIn(environment: string): readonly string[] {
  // Fast path: few processes have a mark, and a check looks at the environments of all.
  if (!environment.includes(`${MARK_VARIABLE}=`)) return [];
  return environment
    .split("\0")
    .filter((variable) => variable.startsWith(`${MARK_VARIABLE}=`))
    .flatMap((variable) => variable.slice(MARK_VARIABLE.length + 1).split(":"))
    .filter((mark) => mark !== "");
}

/** The text of a file; empty if it cannot be read. Node reads UTF-8 in one call, and other encodings in five. */
function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

/** The names in a folder of /proc; none if the process is gone, undefined if this user may not read it. */
function listed(path: string): readonly string[] | undefined {
  try {
    return readdirSync(path);
  } catch (cause) {
    return isRefused(cause) ? undefined : [];
  }
}

function isRefused(cause: unknown): boolean {
  const { code } = cause as NodeJS.ErrnoException;
  return code === "EACCES" || code === "EPERM";
}

function linkOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function ownerOf(pid: number): number | undefined {
  return statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid;
}
