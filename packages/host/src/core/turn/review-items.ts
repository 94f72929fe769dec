import type { ThreadItem } from "@bobbin/protocol";
import type { ThreadRecord } from "../records.ts";

/** Every review that was entered is left, whatever comes of it: clients wait for that. */
export function exitReview(turnId: string, at: number, review: string): readonly ThreadRecord[] {
  return wholeItem(turnId, at, {
    type: "exitedReviewMode",
    id: `${turnId}-exited`,
    review,
    startedAtMs: at,
    completedAtMs: at,
  });
}

/** An item that is there all at once. */
export function wholeItem(turnId: string, at: number, item: ThreadItem): readonly ThreadRecord[] {
  return [
    { type: "itemStarted", turnId, at, item: { ...item, completedAtMs: null } },
    { type: "itemCompleted", turnId, at, item: { ...item, completedAtMs: at } },
  ];
}
