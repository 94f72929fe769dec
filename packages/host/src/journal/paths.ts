import { join, sep } from "node:path";

/**
 * Where a thread's journal is follows from its id, whose first 48 bits are the time of its creation: no look-up,
 * and no index that could be wrong.
 */
export function sessionPath(home: string, threadId: string): string {
  const at = stampOf(threadId);
  const day = at.slice(0, 10);
  if (day !== folder.day || home !== folder.home) {
    folder = { home, day, path: join(home, "sessions", ...day.split("-")) };
  }
  return `${folder.path}${sep}${fileName(at, threadId)}`;
}

/** Threads are mostly started on the same day as the one before. */
let folder = { home: "", day: "", path: "" };

export function archivePath(home: string, threadId: string): string {
  return join(home, "archived_sessions", fileName(stampOf(threadId), threadId));
}

/** The id in a journal's file name; undefined for other files. */
export function threadIdOf(name: string): string | undefined {
  const id = /^rollout-.{19}-(.{36})\.jsonl$/.exec(name)?.[1];
  return id !== undefined && isThreadId(id) ? id : undefined;
}

export function isThreadId(id: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
}

/** The end of the year 9999: up to there a date has ten characters. */
const LAST_MS = 253_402_300_799_999;

function fileName(at: string, threadId: string): string {
  return `rollout-${at}-${threadId}.jsonl`;
}

/** `2026-11-15T20-08-56`, in UTC. */
function stampOf(threadId: string): string {
  // Ids that clients make up may lie thousands of years ahead: they name no thread, but they need a path.
  const ms = Math.min(Number.parseInt(threadId.slice(0, 8) + threadId.slice(9, 13), 16), LAST_MS);
  const second = Math.floor(ms / 1000);
  if (second !== stamp.second) {
    // oxlint-disable-next-line no-restricted-globals -- a conversion, not the clock
    stamp = { second, text: new Date(ms).toISOString().slice(0, 19).replaceAll(":", "-") };
  }
  return stamp.text;
}

/** And mostly in the same second, where there are many. */
let stamp = { second: Number.NaN, text: "" };
