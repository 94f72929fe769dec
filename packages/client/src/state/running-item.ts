import type { ThreadItem } from "@bobbin/protocol";
import type { ThreadState } from "./thread-state.ts";

/**
 * An item that has started and not ended. Text that streams is appended here and not to the item, so that a delta
 * costs its own length, however long the item and the thread are.
 */
export interface RunningItem {
  /** The turn that the item belongs to. */
  readonly turnId: string;
  /** The text of a message or plan, or the end of a command's output. */
  readonly text: string;
  /** The summary of a reasoning item, by part. */
  readonly summary: readonly string[];
  /** The content of a reasoning item, by part. */
  readonly content: readonly string[];
  /** What an MCP server said last about its progress. */
  readonly progress: string | null;
  /** Texts that the host sends again from their beginning after a reconnect: the next delta replaces them. */
  readonly outdated: readonly string[];
}

/** Which text of an item a delta belongs to. */
export interface TextPart {
  readonly of: "text" | "summary" | "content";
  readonly index: number;
}

export const WHOLE_TEXT: TextPart = { of: "text", index: 0 };

/** Only this much of the end of a command's output is kept, as in the host. Output is cut when it has twice as much. */
const MAX_OUTPUT = 1024 * 1024;

/** The start of an item's stream, with the text that the item already has. */
export function runningItem(turnId: string, item: ThreadItem): RunningItem {
  const none: RunningItem = { turnId, text: "", summary: [], content: [], progress: null, outdated: [] };
  switch (item.type) {
    case "agentMessage":
    case "plan":
      return { ...none, text: item.text };
    case "commandExecution":
      return { ...none, text: item.aggregatedOutput ?? "" };
    case "reasoning":
      return { ...none, summary: item.summary, content: item.content };
    default:
      return none;
  }
}

export function withDelta(
  running: RunningItem,
  part: TextPart,
  delta: string,
  isOutput: boolean,
): RunningItem {
  const key = partKey(part);
  const outdated = running.outdated.includes(key);
  const next = outdated
    ? { ...running, outdated: running.outdated.filter((one) => one !== key) }
    : { ...running };
  if (part.of === "text") {
    const text = outdated ? delta : running.text + delta;
    return { ...next, text: isOutput && text.length > 2 * MAX_OUTPUT ? text.slice(-MAX_OUTPUT) : text };
  }
  const parts = [...running[part.of]];
  // Earlier parts that are empty have had no delta.
  while (parts.length <= part.index) parts.push("");
  parts[part.index] = outdated ? delta : parts[part.index] + delta;
  return { ...next, [part.of]: parts };
}

/** Marks all texts as outdated. After a reconnect the host sends each text from its beginning: a delta replaces it. */
export function withOutdatedText(running: RunningItem): RunningItem {
  return {
    ...running,
    outdated: [
      partKey(WHOLE_TEXT),
      ...running.summary.map((_, index) => partKey({ of: "summary", index })),
      ...running.content.map((_, index) => partKey({ of: "content", index })),
    ],
  };
}

/** The item with the text that has streamed. */
export function withStreamedText(item: ThreadItem, running: RunningItem): ThreadItem {
  switch (item.type) {
    case "agentMessage":
    case "plan":
      return { ...item, text: running.text };
    case "commandExecution":
      return running.text === "" ? item : { ...item, aggregatedOutput: running.text };
    case "reasoning":
      return { ...item, summary: [...running.summary], content: [...running.content] };
    default:
      return item;
  }
}

/**
 * An item of a thread as it is now, with the text that has streamed so far.
 *
 * @example
 * for (const item of turn.items) render(currentItem(state, item));
 */
export function currentItem({ running }: Pick<ThreadState, "running">, item: ThreadItem): ThreadItem {
  const streamed = running.get(item.id);
  return streamed === undefined ? item : withStreamedText(item, streamed);
}

function partKey({ of, index }: TextPart): string {
  return `${of} ${index}`;
}
