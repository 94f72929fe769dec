import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import type { Writable } from "node:stream";
import { eachFewAtOnce } from "./concurrency-limit.ts";
import { withoutInherited } from "./inherited-descriptors.ts";
import type { Watchdog } from "./platform.ts";
import { sharedLookup } from "./shared-lookups.ts";

/**
 * Limit on the rounds of the search. A program that starts processes faster than they are found is given up after
 * that many rounds.
 */
const MAX_ROUNDS = 100;
/** How many processes are inspected at once. */
const MAX_CONCURRENT = 16;

/** bubblewrap gets no signal, because its end would kill everything inside the sandbox at once. */
const SANDBOX = "bwrap";

/**
 * Sends SIGTERM to all processes that have one of the marks in their environment, and to their descendants. Processes
 * that start in the meantime get no signal. Resolves with whether any was found.
 */
export async function askMarked(marks: readonly string[]): Promise<boolean> {
  const found = await marked(marks.map((mark) => Buffer.from(mark)));
  if (found.length === 0) return false;
  const all = await sharedLookup("processes", processes);
  const family = new Set(found);
  // Processes inside a sandbox do not show the mark, so the descendants of marked processes are added. A parent may
  // be listed after its children.
  for (let size = 0; size < family.size; ) {
    size = family.size;
    for (const { pid, parent } of all) if (family.has(parent)) family.add(pid);
  }
  const signalled = all.filter(({ pid, name }) => family.has(pid) && name !== SANDBOX);
  for (const { pid } of signalled) send(pid, "SIGTERM");
  return signalled.length > 0;
}

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
}

async function processes(): Promise<readonly ProcessEntry[]> {
  const found: ProcessEntry[] = [];
  await eachFewAtOnce(MAX_CONCURRENT, await pids(), async (pid) => {
    const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
    // The name is in parentheses, and may contain parentheses itself.
    const [, name, parent] = /^\d+ \((.*)\) \S (\d+) /s.exec(stat) ?? [];
    if (name !== undefined) found.push({ pid, parent: Number(parent), name });
  });
  return found;
}

async function pids(): Promise<readonly number[]> {
  const names = await readdir("/proc").catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/**
 * Kills all processes that have one of the marks, until none is found. Linux only: other systems do not show the
 * environment of other processes, so nothing is found there.
 */
export async function endMarked(marks: readonly string[]): Promise<void> {
  const wanted = marks.map((mark) => Buffer.from(mark));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = await marked(wanted);
    if (found.length === 0) return;
    for (const pid of found) send(pid, "SIGKILL");
  }
}

async function marked(marks: readonly Buffer[]): Promise<readonly number[]> {
  const environments = await sharedLookup("environments", readEnvironments);
  return [...environments].flatMap(([pid, environment]) =>
    marks.some((mark) => environment.includes(mark)) ? [pid] : [],
  );
}

/**
 * The environments of all processes that this user may read. Concurrent callers share one read: there may be
 * thousands of processes.
 */
async function readEnvironments(): Promise<ReadonlyMap<number, Buffer>> {
  const found = new Map<number, Buffer>();
  await eachFewAtOnce(MAX_CONCURRENT, await pids(), async (pid) => {
    // A process that has ended, or that belongs to another user, has no mark of this host.
    const environment = await readFile(`/proc/${pid}/environ`).catch(() => undefined);
    if (environment !== undefined) found.set(pid, environment);
  });
  return found;
}

function send(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // The process has ended already.
  }
}

/**
 * The script of the watchdog. It waits for the end of its input, which the operating system closes when the host
 * ends. Then it kills all processes with the mark, until it twice finds none: between fork and exec, a child of the
 * host has no mark.
 */
const WATCHDOG = `
read -r _
round=0
none=0
while [ $none -lt 2 ] && [ $round -lt ${MAX_ROUNDS} ]; do
  round=$((round + 1))
  found=$(grep -lsF -- "$1" /proc/[0-9]*/environ)
  if [ -z "$found" ]; then
    none=$((none + 1))
    sleep 0.1 || sleep 1
  else
    none=0
    for file in $found; do
      pid=\${file#/proc/}
      kill -9 "\${pid%/environ}"
    done
  fi
done`;

/**
 * Starts the watchdog process for a mark. It is a shell, which takes a twentieth of the memory of a Node process; it
 * has no mark and a session of its own.
 */
export async function watch(mark: string): Promise<Watchdog> {
  const child = spawn("/bin/sh", ["-c", WATCHDOG, "bobbin-watchdog", mark], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    detached: true,
    stdio: withoutInherited(["pipe", "ignore", "ignore"]),
  });
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
  });
  await once(child, "spawn");
  const input = child.stdin as unknown as Writable & { unref(): void };
  input.on("error", () => {});
  // The watchdog does not keep the host's event loop alive.
  child.unref();
  input.unref();
  return {
    gone,
    async stop() {
      child.ref();
      child.kill("SIGKILL");
      await gone;
    },
  };
}
