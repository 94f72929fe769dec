import type { ThreadItem } from "@bobbin/protocol";

/** Whether an item shows a compaction. Such an item completes only if the compaction succeeds. */
export function isCompaction({ type }: ThreadItem): boolean {
  return type === "contextCompaction";
}

/** Whether an item is an answer to the user, not a comment of the model on its work. */
export function isAnswer(item: ThreadItem): boolean {
  return item.type === "agentMessage" && (item.phase == null || item.phase === "final_answer");
}

/** The answer of a turn: the last message marked as final, else the last message that is not a comment. */
export function answerAmong(items: readonly ThreadItem[]): ThreadItem | undefined {
  const final = items.findLast((item) => item.type === "agentMessage" && item.phase === "final_answer");
  return final ?? items.findLast(isAnswer);
}
