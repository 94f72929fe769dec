import type { Commit } from "../core/records.ts";
import type { Log } from "../observe/log.ts";

/**
 * Logs one line when a turn starts and one when it ends. The lines contain IDs, states and times, and no text of
 * users or models.
 */
export function logTurns(log: Log, thread: string, { records }: Commit): void {
  for (const record of records) {
    if (record.type === "turnStarted")
      log.info("turn started", { thread, turn: record.turnId, ...(record.kind && { kind: record.kind }) });
    if (record.type !== "turnEnded") continue;
    const { turnId: turn, status, at, startedAt, error } = record;
    const ms = Math.max(0, at - startedAt);
    log.info("turn ended", { thread, turn, status, ms, ...(error?.code != null && { code: error.code }) });
  }
}
