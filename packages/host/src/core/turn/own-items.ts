import type { ThreadItem } from "@bobbin/protocol";

/** What shows a compaction completes only if it has come about: clients take its end for a success. */
export function isCompaction({ type }: ThreadItem): boolean {
  return type === "contextCompaction";
}

/** None of the model's words: a turn that shows nothing else has nothing to lose. */
export function isOurs({ type }: ThreadItem): boolean {
  return type === "userMessage" || type === "contextCompaction" || type === "enteredReviewMode";
}
