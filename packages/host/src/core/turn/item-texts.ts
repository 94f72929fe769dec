import type { NotificationName, ThreadItem } from "@bobbin/protocol";

/** Identifies one of several texts of a reasoning item. Other items have one text, without a part. */
export type TextPart = `summary ${number}` | `content ${number}`;

/** A text of a running item, and its delta notification. */
export interface RunningText {
  readonly method: NotificationName;
  readonly params: { readonly turnId: string; readonly itemId: string; readonly [name: string]: unknown };
  /** The part, if the item has several texts. */
  readonly part?: TextPart;
  /** A notification that is sent once before the first delta. */
  readonly opening?: NotificationName;
  /** Whether the text is a command's output. Only the end of an output is stored, because it may grow without limit. */
  readonly isOutput?: boolean;
}

/** The key of a text, for running and saved texts. */
export function textKey(itemId: string, part?: TextPart): string {
  return part === undefined ? itemId : `${itemId} ${part}`;
}

export function isTextOf(key: string, itemId: string): boolean {
  return key === itemId || key.startsWith(`${itemId} `);
}

/** Returns the item with the texts that `known` finds. */
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
