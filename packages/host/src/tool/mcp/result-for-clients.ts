import type { McpToolCallResult } from "@bobbin/protocol";
import { fairLimit, resultText } from "../result-text.ts";
import type { McpBlock } from "./mcp-interface.ts";
import type { ReadResult, ResultPart } from "./result-parts.ts";

/** Limit on the characters of text in one result that clients get. */
const MAX_TEXT = 256 * 1024;
/** Limit on the characters of a block's further fields, and of `_meta`. */
const MAX_OTHER_FIELDS = 16 * 1024;

/** The result in the form for clients: the server's blocks, with long texts cut. */
export function shownResult({ parts, structured, structuredJson, meta }: ReadResult): McpToolCallResult {
  const lengths = parts.map((part) => ("text" in part ? part.text.length : 0));
  const limit = fairLimit(lengths, MAX_TEXT);
  const content = parts.map((part) => shownBlock(part, limit));
  const isLong = structuredJson !== null && structuredJson.length > MAX_TEXT;
  return {
    content: isLong ? [...content, textBlock(resultText(structuredJson, MAX_TEXT))] : content,
    structuredContent: isLong ? null : structured,
    _meta: meta != null && JSON.stringify(meta).length <= MAX_OTHER_FIELDS ? meta : null,
  };
}

function shownBlock(part: ResultPart, limit: number): unknown {
  switch (part.kind) {
    case "left":
      return textBlock(part.text);
    case "other":
      return part.text.length <= limit ? part.block : textBlock(resultText(part.text, limit));
    case "text":
      return { ...otherFields(part.block), type: "text", text: resultText(part.text, limit) };
    case "resourceText":
      return withResource(part.block, { uri: part.uri, text: resultText(part.text, limit) });
    case "bytes":
      return withResource(part.block, { uri: part.uri, blob: part.data });
    default:
      if (part.block.type === "resource") return withResource(part.block, { uri: part.uri, blob: part.data });
      return { ...otherFields(part.block), type: part.kind, data: part.data, mimeType: part.mimeType };
  }
}

function withResource(block: McpBlock, content: Readonly<Record<string, string>>): unknown {
  const { resource } = block;
  const { text: _, blob: __, ...rest } = Object(resource) as Record<string, unknown>;
  const { resource: ___, ...other } = otherFields({ ...block, resource: rest });
  const known = isShort(rest) ? rest : {};
  return { ...other, type: "resource", resource: { ...known, ...content } };
}

/** The fields of a block other than its content; none if they are too long. */
function otherFields(block: McpBlock): Record<string, unknown> {
  const { text: _, data: __, ...rest } = block;
  return isShort(rest) ? rest : {};
}

function isShort(value: unknown): boolean {
  return JSON.stringify(value).length <= MAX_OTHER_FIELDS;
}

function textBlock(text: string): unknown {
  return { type: "text", text };
}
