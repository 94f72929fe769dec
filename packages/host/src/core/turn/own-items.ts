import type { ThreadItem } from "@bobbin/protocol";

/** What shows a compaction completes only if it has come about: clients take its end for a success. */
export function isCompaction({ type }: ThreadItem): boolean {
  return type === "contextCompaction";
}
