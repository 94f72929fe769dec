// What a tool gave back or threw, as the message that its host waits for.
import type { ContentItem, DisplaySegment, ReturnAddress, ToolResult } from "../wire/index.ts";
import type { ToolOutput } from "./tool.ts";

/**
 * An error whose words are for the model: say what it can do about it. Other errors are told without their words.
 *
 * @example
 * throw new ToolError("The repository acme/api does not exist. Check the name with list_repositories.");
 */
export class ToolError extends Error {
  override readonly name = "ToolError";
}

/** A result that is more than text. */
export class ToolContent {
  readonly items: readonly ContentItem[];
  constructor(items: readonly ContentItem[]) {
    this.items = items;
  }
}

/**
 * A result with images. The first item is a text that describes them, for models that can not see.
 *
 * @example
 * return content(
 *   { type: "text", text: "The chart of last week's builds." },
 *   { type: "image", data: png.toString("base64"), mediaType: "image/png" },
 * );
 */
export function content(...items: readonly ContentItem[]): ToolContent {
  return new ToolContent(items);
}

/** What a call came to. */
export interface Outcome {
  readonly text?: string;
  readonly content?: readonly ContentItem[];
  readonly display_as?: readonly DisplaySegment[];
}

/** Throws on what JSON can not hold. */
export function outcomeOf(output: ToolOutput, display: readonly DisplaySegment[] = []): Outcome {
  if (output instanceof ToolContent) {
    if (output.items.length === 0) return { text: "Done." };
    const items = withText(output.items);
    return { content: items, ...displayed(display, textOf(items)) };
  }
  const text = encoded(output);
  return { text, ...displayed(display, text) };
}

/** Text as it is, other things as JSON; something that the model can read in any case. */
export function encoded(value: unknown): string {
  if (typeof value === "string") return value;
  return JSON.stringify(value) ?? "Done.";
}

export function failure(words: string): Outcome {
  return { text: words.startsWith("Error: ") ? words : `Error: ${words}` };
}

/** A model that can not see gets the first text in place of the images. */
function withText(items: readonly ContentItem[]): readonly ContentItem[] {
  if (items[0]!.type === "text") return items;
  const count = items.filter(({ type }) => type === "image").length;
  const text = count === 1 ? "The result is an image." : `The result has ${count} images.`;
  return [{ type: "text", text }, ...items];
}

function textOf(items: readonly ContentItem[]): string {
  return items.flatMap((item) => (item.type === "text" ? [item.text] : [])).join("\n");
}

/** A line of text comes last, for clients that know no more; and nothing at all where the result says the same. */
function displayed(segments: readonly DisplaySegment[], text: string): Pick<Outcome, "display_as"> {
  if (segments.length === 0) return {};
  const short = segments.map((segment) =>
    segment.type === "text" ? { ...segment, content: line(segment.content) } : segment,
  );
  const last = short.at(-1)!;
  const all = last.type === "text" ? short : [...short, { type: "text" as const, content: line(text) }];
  if (all.length === 1 && all[0]!.content === text) return {};
  return { display_as: all };
}

const LINE = 200;

function line(text: string): string {
  const first = text.trim().split("\n", 1)[0]!.trim();
  if (first.length <= LINE) return first;
  // Not in the middle of a pair.
  return `${first.slice(0, LINE - 1).replace(/\p{Cs}$/u, "")}…`;
}

export function resultMessage(
  { group_id, id, call_id }: Pick<ReturnAddress, "group_id" | "id" | "call_id">,
  outcome: Outcome,
  subscription: boolean,
): ToolResult {
  return { type: "tool_result", group_id, id, call_id, ...outcome, subscription };
}
