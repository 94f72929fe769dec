import type { Ids } from "../../platform/platform.ts";

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;

/** The delay before a failed server is started again. It doubles with each consecutive failure, and has jitter. */
export function backoffMs(failures: number, ids: Pick<Ids, "integer">): number {
  const jitter = 0.8 + (ids.integer() % 1000) / 2500;
  return Math.round(Math.min(FIRST_MS * 2 ** (failures - 1), LONGEST_MS) * jitter);
}
