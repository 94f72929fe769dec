import type { Ids } from "../platform/platform.ts";

const FIRST_MS = 10_000;
const LONGEST_MS = 300_000;

/**
 * The delay before the next attempt to reach something that may be unreachable for days. It doubles with each
 * attempt, and has jitter.
 */
export function retryDelay(attempts: number, ids: Pick<Ids, "integer">): number {
  const jitter = 0.9 + (ids.integer() % 1000) / 5000;
  return Math.round(Math.min(FIRST_MS * 2 ** attempts, LONGEST_MS) * jitter);
}
