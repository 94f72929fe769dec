import type { FunctionCallOutputContentItem } from "@bobbin/protocol";
import type { ContextItem, ContextPart } from "../model/model.ts";
import { inlineMedia } from "../tool/media.ts";

/**
 * The same conversation with words in place of pictures and sounds that are none: a provider would refuse them, and
 * all around them, with every later call.
 */
export function withSoundMedia(context: readonly ContextItem[]): readonly ContextItem[] {
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
    ? { type: "text", text: leftOut(part.type, read.problem) }
    : { ...part, url: read.url };
}

function outputPart(part: FunctionCallOutputContentItem): FunctionCallOutputContentItem {
  if (part.type === "input_image" && typeof part.image_url === "string") {
    const read = inlineMedia(part.image_url, "image");
    return "problem" in read
      ? words("image", read.problem)
      : ({ ...part, image_url: read.url } as FunctionCallOutputContentItem);
  }
  if (part.type !== "input_audio") return part;
  const read = inlineMedia(part.audio_url, "audio");
  return "problem" in read ? words("audio", read.problem) : part;
}

function words(kind: "image" | "audio", problem: string): FunctionCallOutputContentItem {
  return { type: "input_text", text: leftOut(kind, problem) };
}

function leftOut(kind: "image" | "audio", problem: string): string {
  return `(${kind} left out because it could not be processed: ${problem})`;
}
