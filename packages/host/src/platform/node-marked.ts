import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import type { Writable } from "node:stream";
import { covered } from "./exposed-descriptors.ts";
import { eachFewAtOnce } from "./few-at-once.ts";
import type { Watchdog } from "./platform.ts";
import { shared } from "./shared-looks.ts";

/** A program that starts others faster than they are found is given up after this many looks. */
const MAX_ROUNDS = 100;
/** How many processes are looked at at once. */
const AT_ONCE = 16;

/** Its end would be that of everything inside, at once. */
const SANDBOX = "bwrap";

/** What is started meanwhile is not asked. */
export async function askMarked(marks: readonly string[]): Promise<boolean> {
  const found = await marked(marks.map((mark) => Buffer.from(mark)));
  if (found.length === 0) return false;
  const all = await shared("processes", processes);
  const family = new Set(found);
  // A sandbox hides its mark from what is inside. Parents are not always listed first.
  for (let size = 0; size < family.size; ) {
    size = family.size;
    for (const { pid, parent } of all) if (family.has(parent)) family.add(pid);
  }
  const asked = all.filter(({ pid, name }) => family.has(pid) && name !== SANDBOX);
  for (const { pid } of asked) send(pid, "SIGTERM");
  return asked.length > 0;
}

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
}

async function processes(): Promise<readonly ProcessEntry[]> {
  const found: ProcessEntry[] = [];
  await eachFewAtOnce(AT_ONCE, await pids(), async (pid) => {
    const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => "");
    // The name is in brackets, and may have some itself.
    const [, name, parent] = /^\d+ \((.*)\) \S (\d+) /s.exec(stat) ?? [];
    if (name !== undefined) found.push({ pid, parent: Number(parent), name });
  });
  return found;
}

async function pids(): Promise<readonly number[]> {
  const names = await readdir("/proc").catch(() => []);
  return names.filter((name) => /^\d+$/.test(name)).map(Number);
}

/** Linux only: elsewhere nobody else's environment can be read, and nothing is found. */
export async function endMarked(marks: readonly string[]): Promise<void> {
  const wanted = marks.map((mark) => Buffer.from(mark));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const found = await marked(wanted);
    if (found.length === 0) return;
    for (const pid of found) send(pid, "SIGKILL");
  }
}

async function marked(marks: readonly Buffer[]): Promise<readonly number[]> {
  const environments = await shared("environments", readEnvironments);
  return [...environments].flatMap(([pid, environment]) =>
    marks.some((mark) => environment.includes(mark)) ? [pid] : [],
  );
}

/** Of all processes that we may look at. Whoever asks at the same time shares it: there may be thousands. */
async function readEnvironments(): Promise<ReadonlyMap<number, Buffer>> {
  const found = new Map<number, Buffer>();
  await eachFewAtOnce(AT_ONCE, await pids(), async (pid) => {
    // One that is gone, or is somebody else's, has none of our marks.
    const environment = await readFile(`/proc/${pid}/environ`).catch(() => undefined);
    if (environment !== undefined) found.set(pid, environment);
  });
  return found;
}

function send(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Gone already.
  }
}

/**
 * Waits until its input ends, which the operating system sees to when the host is gone. Then it kills what has the mark,
 * until it finds nothing twice: the host may have died between fork and exec, when its child has no mark yet.
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

/** A shell, which takes a twentieth of the memory of another Node process. It has no mark, and a session of its own. */
export async function watch(mark: string): Promise<Watchdog> {
  const child = spawn("/bin/sh", ["-c", WATCHDOG, "bobbin-watchdog", mark], {
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    detached: true,
    stdio: covered(["pipe", "ignore", "ignore"]),
  });
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
  });
  await once(child, "spawn");
  const input = child.stdin as unknown as Writable & { unref(): void };
  input.on("error", () => {});
  // Nothing waits for it: the host ends when it has nothing else to do.
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
