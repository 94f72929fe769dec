import type { Thread } from "@bobbin/protocol";

/** The filter of the thread list. Threads that do not match it are left out. */
export interface ThreadFilter {
  readonly search: string;
  readonly status: "all" | "loaded" | "active" | "waiting" | "error";
  readonly folder: string;
  /** The owner as in `Thread.owner`; empty for all owners. */
  readonly owner: string;
  readonly archived: boolean;
}

export const NO_FILTER: ThreadFilter = { search: "", status: "all", folder: "", owner: "", archived: false };

export function isWaiting({ status }: Thread): boolean {
  return status.type === "active" && status.activeFlags.length > 0;
}

/** Whether a thread fits the filter's folder, owner and status. */
export function fits(thread: Thread, { folder, owner, status }: ThreadFilter): boolean {
  return (
    (folder === "" || thread.cwd === folder) &&
    (owner === "" || thread.owner === owner) &&
    fitsStatus(thread, status)
  );
}

/** Whether a thread's status fits the filter. */
export function fitsStatus(thread: Thread, wanted: ThreadFilter["status"]): boolean {
  switch (wanted) {
    case "all":
      return true;
    case "loaded":
      return thread.status.type !== "notLoaded";
    case "active":
      return thread.status.type === "active";
    case "waiting":
      return isWaiting(thread);
    case "error":
      return thread.status.type === "systemError";
  }
}

/** Whether the list is grouped by sections. Searches, status filters and the archive are shown without sections. */
export function isGrouped({ search, status, archived }: ThreadFilter): boolean {
  return search === "" && status === "all" && !archived;
}
