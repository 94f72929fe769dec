// Time limits for tests that hold on a busy machine.
//
// A limit in wall-clock time fails when the machine is busy, although nothing is wrong. Limits here count working time:
// time that passes only as fast as this process, and the processes it waits for, get to run.
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";

const TICK_MS = 50;
/** One late tick counts no more than this: whatever held up this process held up what it waits for, too. */
const MAX_TICK_MS = 2 * TICK_MS;
/** How much working time a test gives to a single thing that it waits for. */
export const PATIENCE_MS = 20_000;
/** For tests with many waits: each of these has its own limit, and this one only ends a test that is stuck. */
export const STUCK_MS = 45 * 60_000;

const cores = availableParallelism();
const deadlines = new Map<() => void, number>();
let worked = 0;
let lastTick = performance.now();

// Taken before any test can replace it by a fake.
const ticker = setInterval(tick, TICK_MS);
ticker.unref();

function tick(): void {
  const now = performance.now();
  worked += Math.min(now - lastTick, MAX_TICK_MS) / crowding();
  lastTick = now;
  for (const [expired, deadline] of deadlines) if (worked >= deadline) expired();
}

/** How many processes want each core just now; 1 when there is a core for everyone, or when that is unknown. */
function crowding(): number {
  try {
    const runnable = Number(/(\d+)\/\d+/.exec(readFileSync("/proc/loadavg", "utf8"))?.[1]);
    return Math.max(1, runnable / cores);
  } catch {
    return 1;
  }
}

/** Working time since this process began, in milliseconds: for measuring how long something took. */
export function workedMs(): number {
  return worked;
}

/** Calls `expired` once, after so much working time, unless it is cancelled before. */
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
