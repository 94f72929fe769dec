import type { ThreadRecord } from "../records.ts";
import { recordsOfInstantItem } from "./instant-item.ts";

/** The item that ends a code review. Every code review gets one, because clients wait for that item. */
export function exitReview(turnId: string, at: number, review: string): readonly ThreadRecord[] {
  return recordsOfInstantItem(turnId, at, {
    type: "exitedReviewMode",
    id: `${turnId}-exited`,
    review,
    startedAtMs: at,
    completedAtMs: at,
  });
}
