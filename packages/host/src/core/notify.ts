import type { Notification } from "./notification.ts";
import { definitionOf, type ThreadRecord } from "./records.ts";

/** The notifications that a record causes. */
export function notify(threadId: string, record: ThreadRecord): readonly Notification[] {
  return definitionOf(record).notify(threadId, record);
}
