import type { Ids } from "../platform/platform.ts";

const FIRST_MS = 10_000;
const LONGEST_MS = 300_000;

/** How long to wait before the next attempt at something that may be away for days: longer each time, with jitter. */
export function retryDelay(attempts: number, ids: Pick<Ids, "integer">): number {
  const jitter = 0.9 + (ids.integer() % 1000) / 5000;
  return Math.round(Math.min(FIRST_MS * 2 ** attempts, LONGEST_MS) * jitter);
}
