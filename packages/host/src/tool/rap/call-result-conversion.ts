import type { FunctionCallOutputBody, FunctionCallOutputContentItem } from "@bobbin/protocol";
import type { ContentItem, DisplaySegment, Problem, SubscriptionEvent, ToolResult } from "@bobbin/rap/wire";
import type { CallReport } from "../../core/rap/records.ts";
import { fairLimit, resultText } from "../result-text.ts";
import { problemText } from "./callback-body-parser.ts";

/** Limit on the characters of one result that the model gets. A longer text loses its middle. */
const MAX_TEXT = 256 * 1024;

/** Converts a tool server's result to the output for the model and the content for clients. */
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

/** The report of a result that cannot be read. */
export function unreadableReport(server: string, problem: Problem): CallReport {
  const text = `Error: The tool server ${server} sent a result that cannot be read: ${problemText(problem)}. Whether the call had its effect is not known.`;
  return {
    output: text,
    success: false,
    shown: { content: [textContent(text)], _meta: null },
    subscription: false,
  };
}

/** Converts an event of a subscription in the same way as a result. */
export function eventOf({ text }: SubscriptionEvent): Pick<CallReport, "output" | "success" | "shown"> {
  const words = modelText(text);
  return { output: words, success: !isError(text), shown: { content: [textContent(words)], _meta: null } };
}

/** Whether a result is an error, judging by its text: the protocol has no other sign of a failed call. */
function isError(text: string): boolean {
  return /^error:/i.test(text);
}

function modelText(text: string, limit = MAX_TEXT): string {
  return resultText(text, limit);
}

function limitOf(content: readonly ContentItem[]): number {
  return fairLimit(
    content.map((item) => (item.type === "text" ? item.text.length : 0)),
    MAX_TEXT,
  );
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

/** The content for clients, in MCP's form: the first display segment, else the result itself. */
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

/** `_meta` contains the original segment, for clients that can show it. Image data is not repeated there. */
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
