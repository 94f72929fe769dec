import type { FunctionCallOutputBody } from "@bobbin/protocol";
import type { ContextItem, ContextMessage, ContextPart, ModelRequest } from "./model.ts";

/**
 * For wires with one system text at the start: what developers say before the conversation belongs to it. Later it
 * is said by the user, for many servers take no system message there.
 */
export function splitSystem({ instructions, context, outputSchema }: ModelRequest): {
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
  const system = [instructions, ...leading.map(textOf), ...schema].filter((text) => text !== "");
  return { system, rest: context.slice(start) };
}

export function textOf({ parts }: ContextMessage): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
}

/** The words of an output; what is none is named. */
export function outputText(output: FunctionCallOutputBody): string {
  if (typeof output === "string") return output;
  return output.map((part) => (part.type === "input_text" ? part.text : `(${part.type})`)).join("\n");
}

/** The pictures of an output. */
export function outputImages(output: FunctionCallOutputBody): readonly ContextImage[] {
  if (typeof output === "string") return [];
  return output.flatMap((part) =>
    part.type === "input_image" && typeof part.image_url === "string"
      ? [{ type: "image", url: part.image_url, detail: part.detail ?? null } as const]
      : [],
  );
}

type ContextImage = Extract<ContextPart, { type: "image" }>;

/** What a wire has no place for, in words. */
export const UNHEARD = "(audio, which this model can not be given)";
