import type { ThreadState } from "../state.ts";

/** Whether the thread was closed and tool servers have to be notified of the close. */
export function isClosingDue({ status, untold }: ThreadState): boolean {
  return status.type === "notLoaded" && untold;
}

/** Whether notices to tool servers are due. A notice is due until its record is committed. */
export function areNoticesDue(state: ThreadState): boolean {
  return isClosingDue(state) || (state.rap.cancels?.length ?? 0) > 0;
}
