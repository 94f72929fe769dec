// Time limits for tests that hold on a busy machine.
//
// A limit in wall-clock time fails when the machine is busy, although nothing is wrong. Limits here count working time:
// time that passes only as fast as this process, and the processes it waits for, get to run.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

const TICK_MS = 50;
/**
 * Limit on the time that one late tick counts: whatever delayed this process has also delayed the processes that it
 * waits for.
 */
const MAX_TICK_MS = 2 * TICK_MS;
/** How much working time a test waits for a single condition. */
export const PATIENCE_MS = 20_000;
/** Time limit of tests with many waits. Each wait has its own limit; this one only ends a test that hangs. */
export const STUCK_MS = 45 * 60_000;

const cores = availableParallelism();
const deadlines = new Map<() => void, number>();
let worked = 0;
let lastTick = performance.now();

// Taken before a test can replace `setInterval` by a fake.
const ticker = setInterval(tick, TICK_MS);
ticker.unref();

function tick(): void {
  const now = performance.now();
  worked += Math.min(now - lastTick, MAX_TICK_MS) / crowding();
  lastTick = now;
  for (const [expired, deadline] of deadlines) if (worked >= deadline) expired();
}

/**
 * The number of processes per core that want to run, or wait for a disk; 1 if there are enough cores, or if the number
 * is unknown.
 */
function crowding(): number {
  try {
    const stat = readFileSync("/proc/stat", "utf8");
    const count = (name: string): number => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(stat)?.[1] ?? 0);
    return Math.max(1, (count("procs_running") + count("procs_blocked")) / cores);
  } catch {
    return 1;
  }
}

/** Working time since this process began, in milliseconds: for measuring how long something took. */
export function workedMs(): number {
  return worked;
}

/** Calls `expired` once after this much working time, unless it is cancelled before. */
export function afterWorking(ms: number, expired: () => void): () => void {
  const cancel = () => {
    deadlines.delete(run);
    if (deadlines.size === 0) ticker.unref();
  };
  const run = () => {
    cancel();
    expired();
  };
  deadlines.set(run, worked + ms);
  ticker.ref();
  return cancel;
}
