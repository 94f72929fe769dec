import type { FunctionCallOutputBody, FunctionCallOutputContentItem } from "@bobbin/protocol";
import type { ContentItem, DisplaySegment, Problem, SubscriptionEvent, ToolResult } from "@bobbin/rap/wire";
import type { CallReport } from "../../core/rap/records.ts";
import { problemText } from "./callback-body.ts";

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

/** What a result that can not be read is to them. */
export function unreadableReport(server: string, problem: Problem): CallReport {
  const text = `Error: The tool server ${server} sent a result that can not be read: ${problemText(problem)}. Whether the call had its effect is not known.`;
  return {
    output: text,
    success: false,
    shown: { content: [textContent(text)], _meta: null },
    subscription: false,
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
export function modelText(text: string, limit = MAX_TEXT): string {
  const whole = text.replaceAll("\0", "\uFFFD").replace(LONE_SURROGATE, "\uFFFD");
  if (whole.length <= limit) return whole;
  const half = Math.floor(limit / 2);
  const left = whole.length - 2 * half;
  const end = half === 0 ? "" : whole.slice(-half);
  return `${whole.slice(0, half)}\n… (${left} characters are left out) …\n${end}`.replace(
    LONE_SURROGATE,
    "\uFFFD",
  );
}

/** How long each text of a result may be, so that all are not too long: the short ones stay whole. */
function limitOf(content: readonly ContentItem[]): number {
  const lengths = content.map((item) => (item.type === "text" ? item.text.length : 0));
  let left = MAX_TEXT;
  for (const [at, length] of lengths.sort((one, other) => one - other).entries()) {
    const share = Math.floor(left / (lengths.length - at));
    if (length > share) return share;
    left -= length;
  }
  return MAX_TEXT;
}

function contentOutput(content: readonly ContentItem[]): FunctionCallOutputBody {
  const limit = limitOf(content);
  return content.map((item): FunctionCallOutputContentItem => {
    if (item.type === "text") return { type: "input_text", text: modelText(item.text, limit) };
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
  if (segment !== undefined) return shownSegment(segment);
  if (text !== undefined || content === undefined) return { content: [textContent(text ?? "")], _meta: null };
  const limit = limitOf(content);
  return {
    content: content.map((item) =>
      item.type === "text" ? textContent(item.text, limit) : imageContent(item),
    ),
    _meta: null,
  };
}

/** `_meta` says what it is, for those who can show that; a picture is not said twice. */
function shownSegment(segment: DisplaySegment): CallReport["shown"] {
  const { type } = segment;
  switch (segment.type) {
    case "text": {
      const content = modelText(segment.content);
      return { content: [{ type: "text", text: content }], _meta: { display_as: { type, content } } };
    }
    case "diff": {
      const patch = modelText(segment.content.patch);
      const content = { path: modelText(segment.content.path), patch };
      return { content: [{ type: "text", text: patch }], _meta: { display_as: { type, content } } };
    }
    case "image": {
      const { mediaType } = segment.content;
      return {
        content: [imageContent(segment.content)],
        _meta: { display_as: { type, content: { mediaType } } },
      };
    }
  }
}

function textContent(text: string, limit?: number): unknown {
  return { type: "text", text: modelText(text, limit) };
}

function imageContent({ data, mediaType }: { readonly data: string; readonly mediaType: string }): unknown {
  return { type: "image", data, mimeType: mediaType };
}
