import type { FunctionCallOutputContentItem } from "@bobbin/protocol";
import type { ContextItem, ContextPart } from "../../model/model.ts";
import { inlineMedia, invalidMediaNote } from "../../tool/media.ts";

/**
 * The conversation with a note in place of each invalid image or sound. A provider would refuse the whole request
 * because of one, and every later request, too.
 */
export function withValidMedia(context: readonly ContextItem[]): readonly ContextItem[] {
  return context.map((item): ContextItem => {
    if (item.type === "message") {
      return item.parts.every(({ type }) => type === "text")
        ? item
        : { ...item, parts: item.parts.map(partOf) };
    }
    if (item.type !== "toolOutput" || typeof item.output === "string") return item;
    return { ...item, output: item.output.map(outputPart) };
  });
}

function partOf(part: ContextPart): ContextPart {
  if (part.type === "text") return part;
  const read = inlineMedia(part.url, part.type);
  return "problem" in read
    ? { type: "text", text: invalidMediaNote(part.type, read.problem) }
    : { ...part, url: read.url };
}

function outputPart(part: FunctionCallOutputContentItem): FunctionCallOutputContentItem {
  if (part.type === "input_image" && typeof part.image_url === "string") {
    const read = inlineMedia(part.image_url, "image");
    return "problem" in read
      ? textPart("image", read.problem)
      : ({ ...part, image_url: read.url } as FunctionCallOutputContentItem);
  }
  if (part.type !== "input_audio" || typeof part.audio_url !== "string") return part;
  const read = inlineMedia(part.audio_url, "audio");
  return "problem" in read ? textPart("audio", read.problem) : part;
}

function textPart(kind: "image" | "audio", problem: string): FunctionCallOutputContentItem {
  return { type: "input_text", text: invalidMediaNote(kind, problem) };
}
