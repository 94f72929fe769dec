import type { NotificationName, ThreadItem } from "@bobbin/protocol";

/** Which of an item's texts. A message has one, which needs no name; reasoning has several of two kinds. */
export type TextPart = `summary ${number}` | `content ${number}`;

/** One text of a running item, and the notification that clients are sent for each piece of it. */
export interface RunningText {
  readonly method: NotificationName;
  readonly params: { readonly turnId: string; readonly itemId: string; readonly [name: string]: unknown };
  /** Which one, where an item has several. */
  readonly part?: TextPart;
  /** A notification that is sent once before the first piece. */
  readonly opening?: NotificationName;
  /** Only the end of it is kept: it may grow without bound. */
  readonly isOutput?: boolean;
}

/** How running and saved texts are called. */
export function textKey(itemId: string, part?: TextPart): string {
  return part === undefined ? itemId : `${itemId} ${part}`;
}

export function isTextOf(key: string, itemId: string): boolean {
  return key === itemId || key.startsWith(`${itemId} `);
}

/** An item with as much of its texts as is known. */
export function withTexts(item: ThreadItem, known: (key: string) => string | undefined): ThreadItem {
  switch (item.type) {
    case "agentMessage":
    case "plan":
      return { ...item, text: known(textKey(item.id)) ?? item.text };
    case "commandExecution":
      return { ...item, aggregatedOutput: known(textKey(item.id)) ?? item.aggregatedOutput };
    case "reasoning":
      return {
        ...item,
        summary: parts(item.id, "summary", known),
        content: parts(item.id, "content", known),
      };
    default:
      return item;
  }
}

function parts(
  itemId: string,
  kind: "summary" | "content",
  known: (key: string) => string | undefined,
): string[] {
  const texts: string[] = [];
  for (let index = 0; ; index++) {
    const text = known(textKey(itemId, `${kind} ${index}`));
    if (text === undefined) return texts;
    texts.push(text);
  }
}
