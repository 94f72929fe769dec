import type { ContextItem } from "../../packages/host/src/model/model.ts";

interface Conversation {
  /** What the user said last. */
  readonly said: string;
  /** The tools that were called since the last input. */
  readonly called: readonly string[];
  /** All of it. */
  readonly text: string;
}

/** The parts of a conversation that scripted models use. */
export function conversation(context: readonly ContextItem[]): Conversation {
  const last = context.findLastIndex((item) => item.type === "message" && item.role === "user");
  const since = context.slice(last + 1);
  return {
    said: textOf(context[last]),
    called: since.flatMap((item) => (item.type === "toolCall" ? [item.name] : [])),
    text: context.map((item) => JSON.stringify(item)).join("\n"),
  };
}

export function textOf(item: ContextItem | undefined): string {
  const part = item?.type === "message" ? item.parts[0] : undefined;
  return part?.type === "text" ? part.text : "";
}
