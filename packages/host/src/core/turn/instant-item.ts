import type { ThreadItem } from "@bobbin/protocol";
import type { ThreadRecord } from "../records.ts";

/** The records of an item that starts and completes at the same time. */
export function recordsOfInstantItem(turnId: string, at: number, item: ThreadItem): readonly ThreadRecord[] {
  return [
    { type: "itemStarted", turnId, at, item: { ...item, completedAtMs: null } },
    { type: "itemCompleted", turnId, at, item: { ...item, completedAtMs: at } },
  ];
}
