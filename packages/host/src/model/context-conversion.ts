import type { FunctionCallOutputBody } from "@bobbin/protocol";
import type { ContextItem, ContextMessage, ContextPart, ModelRequest } from "./model.ts";
import { namespaceWords } from "./plain-function-tools.ts";

/**
 * Splits a request for APIs with a single system text at the start. Leading developer messages become part of the
 * system text. Later ones stay in the conversation and are sent as user messages, because many servers accept no
 * system message there.
 */
export function splitSystem({ instructions, context, outputSchema, tools }: ModelRequest): {
  readonly system: readonly string[];
  readonly rest: readonly ContextItem[];
} {
  const first = context.findIndex((item) => item.type !== "message" || item.role !== "developer");
  const start = first < 0 ? context.length : first;
  const leading = context.slice(0, start) as readonly ContextMessage[];
  const schema =
    outputSchema == null
      ? []
      : [
          `Answer with JSON alone, without a fence around it, that fits this schema:\n${JSON.stringify(outputSchema)}`,
        ];
  const servers = namespaceWords(tools);
  const system = [instructions, ...leading.map(textOf), servers, ...schema].filter((text) => text !== "");
  return { system, rest: context.slice(start) };
}

export function textOf({ parts }: ContextMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** The text of a tool output. Parts of other kinds are replaced by the names of their types. */
export function outputText(output: FunctionCallOutputBody): string {
  if (typeof output === "string") return output;
  return output.map((part) => (part.type === "input_text" ? part.text : `(${part.type})`)).join("\n");
}

/** The images of a tool output. */
export function outputImages(output: FunctionCallOutputBody): readonly ContextImage[] {
  if (typeof output === "string") return [];
  return output.flatMap((part) =>
    part.type === "input_image" && typeof part.image_url === "string"
      ? [{ type: "image", url: part.image_url, detail: part.detail ?? null } as const]
      : [],
  );
}

type ContextImage = Extract<ContextPart, { type: "image" }>;

/** Text that replaces audio for APIs that do not support it. */
export const AUDIO_PLACEHOLDER = "(audio, which this model cannot receive)";
