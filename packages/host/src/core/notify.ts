import type { Notification } from "./notification.ts";
import { entryOf, type ThreadRecord } from "./records.ts";

/** What clients are sent because of a record. */
export function notify(threadId: string, record: ThreadRecord): readonly Notification[] {
  return entryOf(record).notify(threadId, record);
}
