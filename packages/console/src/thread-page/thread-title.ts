import type { ThreadState } from "@bobbin/client";

/** The thread's name, its preview, or its first message: a thread that was started in this page has no preview yet. */
export function titleOf({ name, thread, turns }: ThreadState): string {
  if (name !== null) return name;
  const first = turns[0]?.items.find((item) => item.type === "userMessage");
  const text = first?.type === "userMessage" ? first.content.find((part) => part.type === "text") : undefined;
  return thread?.preview || (text?.type === "text" && text.text) || "New thread";
}
