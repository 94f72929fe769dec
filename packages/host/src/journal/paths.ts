import { join } from "node:path";

/**
 * Where a thread's journal is follows from its id, whose first 48 bits are the time of its creation: no look-up,
 * and no index that could be wrong.
 */
export function sessionPath(home: string, threadId: string): string {
  const [year, month, day] = stampOf(threadId).split(/[-T]/) as [string, string, string];
  return join(home, "sessions", year, month, day, fileName(threadId));
}

export function archivePath(home: string, threadId: string): string {
  return join(home, "archived_sessions", fileName(threadId));
}

/** The id in a journal's file name; undefined for other files. */
export function threadIdOf(name: string): string | undefined {
  return /^rollout-.{19}-([0-9a-f-]{36})\.jsonl$/.exec(name)?.[1];
}

/** The end of the year 9999: up to there a date has ten characters. */
const LAST_MS = 253_402_300_799_999;

function fileName(threadId: string): string {
  return `rollout-${stampOf(threadId)}-${threadId}.jsonl`;
}

/** `2026-11-15T20-08-56`, in UTC. */
function stampOf(threadId: string): string {
  // Ids that clients make up may lie thousands of years ahead: they name no thread, but they need a path.
  const ms = Math.min(Number.parseInt(threadId.slice(0, 8) + threadId.slice(9, 13), 16), LAST_MS);
  // oxlint-disable-next-line no-restricted-globals -- a conversion, not the clock
  return new Date(ms).toISOString().slice(0, 19).replaceAll(":", "-");
}
