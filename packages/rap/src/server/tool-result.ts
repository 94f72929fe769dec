// Turns the output or the error of a tool into the result message for the host.
import type { ContentItem, DisplaySegment, ReturnAddress, ToolResult } from "../wire/index.ts";
import type { ToolOutput } from "./tool.ts";

/**
 * An error whose message the model gets as the result. Say what the model can do about it. The messages of other errors
 * are only logged.
 *
 * @example
 * throw new ToolError("The repository acme/api does not exist. Check the name with list_repositories.");
 */
export class ToolError extends Error {
  /** Always `ToolError`. */
  override readonly name = "ToolError";
}

/**
 * A result with images. Created by `content()`.
 *
 * @example
 * const { items } = content({ type: "text", text: "The chart of last week's builds." });
 */
export class ToolContent {
  /** Its texts and images, in order. */
  readonly items: readonly ContentItem[];
  constructor(items: readonly ContentItem[]) {
    this.items = items;
  }
}

/**
 * Makes a result with images. The first item should be a text that describes them, for models without vision.
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

/** The outcome of a call: the parts of a result message that do not depend on the call's ids. */
export interface Outcome {
  readonly text?: string;
  readonly content?: readonly ContentItem[];
  readonly display_as?: readonly DisplaySegment[];
}

/** The outcome for a tool's output. Throws if the output cannot be encoded as JSON. */
export function outcomeOf(output: ToolOutput, display: readonly DisplaySegment[] = []): Outcome {
  if (output instanceof ToolContent) {
    if (output.items.length === 0) return { text: "Done." };
    const items = withText(output.items);
    return { content: items, ...displayFields(display, textOf(items)) };
  }
  const text = toText(output);
  return { text, ...displayFields(display, text) };
}

/** A string as it is, other values as JSON, and "Done." for values without JSON (undefined). */
export function toText(value: unknown): string {
  if (typeof value === "string") return value;
  return JSON.stringify(value) ?? "Done.";
}

export function failure(words: string): Outcome {
  return { text: words.startsWith("Error: ") ? words : `Error: ${words}` };
}

/** Puts a text first: models without vision get the first text instead of the images. */
function withText(items: readonly ContentItem[]): readonly ContentItem[] {
  if (items[0]!.type === "text") return items;
  const count = items.filter(({ type }) => type === "image").length;
  const text = count === 1 ? "The result is an image." : `The result has ${count} images.`;
  return [{ type: "text", text }, ...items];
}

function textOf(items: readonly ContentItem[]): string {
  return items.flatMap((item) => (item.type === "text" ? [item.text] : [])).join("\n");
}

/**
 * The `display_as` of a result. Ends with a short text, for clients that support no other type. Left out if it would
 * only repeat the result's text.
 */
function displayFields(segments: readonly DisplaySegment[], text: string): Pick<Outcome, "display_as"> {
  if (segments.length === 0) return {};
  const short = segments.map((segment) =>
    segment.type === "text" ? { ...segment, content: line(segment.content) } : segment,
  );
  const last = short.at(-1)!;
  const all = last.type === "text" ? short : [...short, { type: "text" as const, content: line(text) }];
  if (all.length === 1 && all[0]!.content === text) return {};
  return { display_as: all };
}

const MAX_LINE_LENGTH = 200;

function line(text: string): string {
  const first = text.trim().split("\n", 1)[0]!.trim();
  if (first.length <= MAX_LINE_LENGTH) return first;
  // Removes half of a surrogate pair at the cut.
  return `${first.slice(0, MAX_LINE_LENGTH - 1).replace(/\p{Cs}$/u, "")}…`;
}

export function resultMessage(
  { group_id, id, call_id }: Pick<ReturnAddress, "group_id" | "id" | "call_id">,
  outcome: Outcome,
  subscription: boolean,
): ToolResult {
  return { type: "tool_result", group_id, id, call_id, ...outcome, subscription };
}
