import type { Notification } from "@bobbin/client";
import type { Thread } from "@bobbin/protocol";
import { fitsStatus, type ThreadFilter } from "./thread-filter.ts";

export interface ThreadRow {
  readonly thread: Thread;
  /** The text around a search term. */
  readonly snippet?: string;
}

export function recencyOf({ recencyAt, updatedAt, createdAt }: Thread): number {
  return recencyAt ?? updatedAt ?? createdAt;
}

/**
 * Applies a notification to the rows that were read. Returns the same array if nothing changed. `now`: the time in
 * seconds, which becomes the recency of a thread that becomes active. With the order `given` (the user's order), new
 * threads are left out, and no row moves.
 */
export function applyToRows(
  rows: readonly ThreadRow[],
  notification: Notification,
  filter: ThreadFilter,
  now: number,
  order: "recency" | "given" = "recency",
): readonly ThreadRow[] {
  switch (notification.method) {
    case "thread/started":
      return order === "given" ? rows : withNew(rows, notification.params.thread, filter);
    case "thread/status/changed": {
      const { threadId, status } = notification.params;
      const change = (thread: Thread): Thread => ({
        ...thread,
        status,
        // A thread that becomes active becomes recent; one that becomes idle or is unloaded does not.
        ...(status.type === "active" && { recencyAt: now }),
      });
      return changed(rows, threadId, change, order === "recency");
    }
    case "thread/name/updated": {
      const { threadId, threadName } = notification.params;
      return changed(rows, threadId, (thread) => ({ ...thread, name: threadName ?? null }));
    }
    case "thread/archived":
      return filter.archived ? rows : without(rows, notification.params.threadId);
    case "thread/unarchived":
      return filter.archived ? without(rows, notification.params.threadId) : rows;
    case "thread/deleted":
      return without(rows, notification.params.threadId);
    default:
      return rows;
  }
}

/** Replaces the thread of a row. The row keeps its place. */
export function withThread(rows: readonly ThreadRow[], thread: Thread): readonly ThreadRow[] {
  const at = indexOf(rows, thread.id);
  return at < 0 ? rows : rows.with(at, { ...rows[at]!, thread });
}

/** Puts a thread into a section, or into none. */
export function withSection(
  rows: readonly ThreadRow[],
  threadId: string,
  section: Thread["section"],
): readonly ThreadRow[] {
  const at = indexOf(rows, threadId);
  const row = rows[at];
  return row === undefined ? rows : rows.with(at, { ...row, thread: { ...row.thread, section } });
}

/** Whether a row has no title yet. A new thread has none, because notifications do not contain its first message. */
export function lacksTitle({ name, preview }: Thread): boolean {
  return name === null && preview === "";
}

function withNew(rows: readonly ThreadRow[], thread: Thread, filter: ThreadFilter): readonly ThreadRow[] {
  const isWanted =
    filter.search === "" &&
    (filter.owner === "" || thread.owner === filter.owner) &&
    !filter.archived &&
    !thread.ephemeral &&
    thread.parentThreadId === null &&
    (filter.folder === "" || thread.cwd === filter.folder) &&
    fitsStatus(thread, filter.status);
  return isWanted ? [{ thread }, ...without(rows, thread.id)] : rows;
}

function without(rows: readonly ThreadRow[], threadId: string): readonly ThreadRow[] {
  const at = indexOf(rows, threadId);
  return at < 0 ? rows : rows.toSpliced(at, 1);
}

/** Changes one row. With `mayMove` it goes to the front if it became the most recent one. */
function changed(
  rows: readonly ThreadRow[],
  threadId: string,
  change: (thread: Thread) => Thread,
  mayMove = false,
): readonly ThreadRow[] {
  const at = indexOf(rows, threadId);
  const row = rows[at];
  if (row === undefined) return rows;
  const next: ThreadRow = { ...row, thread: change(row.thread) };
  const first = rows[at === 0 ? 1 : 0];
  const moves =
    mayMove &&
    next.thread.recencyAt !== row.thread.recencyAt &&
    (first === undefined || recencyOf(next.thread) >= recencyOf(first.thread));
  return moves ? [next].concat(rows.toSpliced(at, 1)) : rows.with(at, next);
}

function indexOf(rows: readonly ThreadRow[], threadId: string): number {
  return rows.findIndex(({ thread }) => thread.id === threadId);
}
