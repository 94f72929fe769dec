import type { McpBlock, McpCallResult } from "./mcp-interface.ts";

/** Limit on the bytes of images, sounds and other binary data in one result. */
const MAX_MEDIA = 16 * 1024 * 1024;
const MAX_BLOCKS = 128;
/** Minimum characters of media data that is replaced where the structured content repeats it. */
const LEAST_REPEATED = 1024;

/** A parsed result. The number of parts and the bytes of media are limited, the length of texts is not. */
export interface ReadResult {
  readonly success: boolean;
  readonly parts: readonly ResultPart[];
  /** The structured content; null if there is none. */
  readonly structured: unknown;
  /** The structured content as JSON; null if there is none. */
  readonly structuredJson: string | null;
  readonly meta: unknown;
}

export type ResultPart =
  | { readonly kind: "text"; readonly block: McpBlock; readonly text: string }
  | { readonly kind: "resourceText"; readonly block: McpBlock; readonly uri: string; readonly text: string }
  | MediaPart
  /** A block of another kind; `text` is its JSON. */
  | { readonly kind: "other"; readonly block: McpBlock; readonly text: string }
  /** A note that replaces a part that is too large or unreadable. */
  | { readonly kind: "left"; readonly text: string };

/** `data` is base64. */
export interface MediaPart {
  readonly kind: "image" | "audio" | "bytes";
  readonly block: McpBlock;
  readonly uri: string;
  readonly data: string;
  readonly mimeType: string;
}

/** Parses the content blocks of a call's result. */
export function readResult({ content, structuredContent, isError, meta }: McpCallResult): ReadResult {
  const room = { bytes: MAX_MEDIA };
  const parts = content.slice(0, MAX_BLOCKS).map((block) => partOf(block, room));
  const more = content.length - parts.length;
  if (more > 0) parts.push(left(`${more} more parts of the result`, "there are too many"));
  return { success: !isError, parts, ...structuredOf(structuredContent ?? null, parts), meta };
}

/**
 * The structured content. Some servers repeat the data of images and sounds in it; there the data is replaced with a
 * note, because the parts contain it.
 */
function structuredOf(
  structured: unknown,
  parts: readonly ResultPart[],
): Pick<ReadResult, "structured" | "structuredJson"> {
  if (structured === null) return { structured, structuredJson: null };
  const notes = new Map<unknown, string>();
  for (const [at, part] of parts.entries())
    if ("data" in part && part.data.length >= LEAST_REPEATED)
      notes.set(part.data, `(the data of content[${at}])`);
  if (notes.size === 0) return { structured, structuredJson: JSON.stringify(structured) };
  const structuredJson = JSON.stringify(structured, (_key, value: unknown) => notes.get(value) ?? value);
  return { structured: JSON.parse(structuredJson), structuredJson };
}

function partOf(block: McpBlock, room: { bytes: number }): ResultPart {
  const { type, text, data, mimeType } = block;
  if (type === "text" && typeof text === "string") return { kind: "text", block, text };
  if (type === "image" || type === "audio") return mediaPart(type, block, "", data, mimeType, room);
  if (type === "resource") {
    const resource = Object(block["resource"]) as Record<string, unknown>;
    const uri = typeof resource["uri"] === "string" ? resource["uri"] : "";
    if (typeof resource["text"] === "string")
      return { kind: "resourceText", block, uri, text: resource["text"] };
    if (resource["blob"] !== undefined) {
      const kind = VIEWABLE.test(String(resource["mimeType"])) ? "image" : "bytes";
      return mediaPart(kind, block, uri, resource["blob"], resource["mimeType"], room);
    }
  }
  return { kind: "other", block, text: JSON.stringify(block) };
}

/** Image types that models can view. */
const VIEWABLE = /^image\/(png|jpeg|gif|webp)$/;

const NAMES = { image: "an image", audio: "a sound", bytes: "a resource" } as const;
const TYPES = { image: "image/png", audio: "audio/wav", bytes: "application/octet-stream" } as const;

function mediaPart(
  kind: MediaPart["kind"],
  block: McpBlock,
  uri: string,
  data: unknown,
  type: unknown,
  room: { bytes: number },
): ResultPart {
  if (typeof data !== "string" || !isBase64(data)) return left(NAMES[kind], "its data is not base64");
  const bytes = Buffer.byteLength(data, "base64");
  if (bytes > room.bytes) return left(NAMES[kind], `the result has more than ${MAX_MEDIA} bytes`);
  room.bytes -= bytes;
  const isType = typeof type === "string" && /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(type);
  return { kind, block, uri, data, mimeType: isType ? type : TYPES[kind] };
}

/**
 * Whether a text is base64. Searches for an invalid character instead of matching the whole text, which stays linear
 * for many megabytes.
 */
function isBase64(text: string): boolean {
  const end = text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0;
  return text.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(text.slice(0, text.length - end));
}

function left(what: string, why: string): ResultPart {
  return { kind: "left", text: `(${what} left out: ${why})` };
}
