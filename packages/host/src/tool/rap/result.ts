import type { FunctionCallOutputBody, FunctionCallOutputContentItem } from "@bobbin/protocol";
import type { ContentItem, DisplaySegment, SubscriptionEvent, ToolResult } from "@bobbin/rap/wire";
import type { CallReport } from "../../core/rap/records.ts";

/** A model reads no more of one result than this; what is longer loses its middle. */
const MAX_TEXT = 256 * 1024;
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g;

/** What a tool server's result is to the model, and to people. */
export function reportOf({ text, content, display_as, subscription }: ToolResult): CallReport {
  const words = content?.find((item) => item.type === "text")?.text ?? text ?? "";
  const success = !isError(words);
  return {
    output: content === undefined ? modelText(text ?? "") : contentOutput(content),
    success,
    shown: shownContent(display_as, content, text),
    subscription,
  };
}

/** An event of a subscription, likewise. */
export function eventOf({ text }: SubscriptionEvent): Pick<CallReport, "output" | "success" | "shown"> {
  const words = modelText(text);
  return { output: words, success: !isError(text), shown: { content: [textContent(words)], _meta: null } };
}

/** There is no other sign that something went wrong. */
function isError(text: string): boolean {
  return /^error:/i.test(text);
}

/** Whole characters, none that ends a text, and not too many. */
export function modelText(text: string): string {
  const whole = text.replaceAll("\0", "\uFFFD").replace(LONE_SURROGATE, "\uFFFD");
  if (whole.length <= MAX_TEXT) return whole;
  const half = MAX_TEXT / 2;
  const left = whole.length - MAX_TEXT;
  return `${whole.slice(0, half)}\n… (${left} characters are left out) …\n${whole.slice(-half)}`.replace(
    LONE_SURROGATE,
    "\uFFFD",
  );
}

function contentOutput(content: readonly ContentItem[]): FunctionCallOutputBody {
  return content.map((item): FunctionCallOutputContentItem => {
    if (item.type === "text") return { type: "input_text", text: modelText(item.text) };
    return {
      type: "input_image",
      image_url: `data:${item.mediaType};base64,${item.data}`,
    } as FunctionCallOutputContentItem;
  });
}

/** In the form that clients know from MCP: the first way to show it, else the result itself. */
function shownContent(
  display: readonly DisplaySegment[] | undefined,
  content: readonly ContentItem[] | undefined,
  text: string | undefined,
): CallReport["shown"] {
  const segment = display?.[0];
  if (segment !== undefined) return { content: [segmentContent(segment)], _meta: { display_as: segment } };
  if (text !== undefined || content === undefined) return { content: [textContent(text ?? "")], _meta: null };
  return {
    content: content.map((item) => (item.type === "text" ? textContent(item.text) : imageContent(item))),
    _meta: null,
  };
}

function segmentContent(segment: DisplaySegment): unknown {
  switch (segment.type) {
    case "text":
      return textContent(segment.content);
    case "diff":
      return textContent(segment.content.patch);
    case "image":
      return imageContent(segment.content);
  }
}

function textContent(text: string): unknown {
  return { type: "text", text: modelText(text) };
}

function imageContent({ data, mediaType }: { readonly data: string; readonly mediaType: string }): unknown {
  return { type: "image", data, mimeType: mediaType };
}
