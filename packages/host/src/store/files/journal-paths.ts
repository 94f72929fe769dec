import { join, sep } from "node:path";

/**
 * Returns the path of a thread's journal. The path follows from the thread's ID, whose first 48 bits are the time of
 * creation, so no lookup is needed.
 */
export function sessionPath(home: string, threadId: string): string {
  const at = stampOf(threadId);
  const day = at.slice(0, 10);
  if (day !== folder.day || home !== folder.home) {
    folder = { home, day, path: join(home, "sessions", ...day.split("-")) };
  }
  return `${folder.path}${sep}${fileName(at, threadId)}`;
}

/** Caches the last folder, because most threads are started on the same day as the previous one. */
let folder = { home: "", day: "", path: "" };

export function archivePath(home: string, threadId: string): string {
  return join(home, "archived_sessions", fileName(stampOf(threadId), threadId));
}

/** Returns the thread id in the name of a journal; undefined for other files. */
export function threadIdOf(name: string): string | undefined {
  const id = /^rollout-.{19}-(.{36})\.jsonl$/.exec(name)?.[1];
  return id !== undefined && isThreadId(id) ? id : undefined;
}

export function isThreadId(id: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
}

/** The end of the year 9999. Up to then, a date has ten characters. */
const LAST_MS = 253_402_300_799_999;

function fileName(at: string, threadId: string): string {
  return `rollout-${at}-${threadId}.jsonl`;
}

/** Formats the time of creation as `2026-11-15T20-08-56`, in UTC. */
function stampOf(threadId: string): string {
  // A made-up ID may contain a time thousands of years ahead. No thread has such an ID, but the ID needs a path.
  const ms = Math.min(Number.parseInt(threadId.slice(0, 8) + threadId.slice(9, 13), 16), LAST_MS);
  const second = Math.floor(ms / 1000);
  if (second !== stamp.second) {
    // oxlint-disable-next-line no-restricted-globals -- a conversion, not the clock
    stamp = { second, text: new Date(ms).toISOString().slice(0, 19).replaceAll(":", "-") };
  }
  return stamp.text;
}

/** Caches the last stamp, because many threads are started in the same second. */
let stamp = { second: Number.NaN, text: "" };
