import type { Retry } from "../model/model.ts";
import type { Ids } from "../platform/platform.ts";

const FIRST_MS = 200;
const LONGEST_MS = 30_000;

/** The delay before a retry: the server's, if it asked for one, else exponential backoff. Both get jitter. */
export function backoff({ afterMs }: Retry, retries: number, ids: Pick<Ids, "integer">): number {
  const jitter = 0.9 + (ids.integer() % 1000) / 5000;
  if (afterMs !== undefined) return Math.ceil(afterMs + (jitter - 0.9) * FIRST_MS);
  return Math.round(Math.min(FIRST_MS * 2 ** retries, LONGEST_MS) * jitter);
}
