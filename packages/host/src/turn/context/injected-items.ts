import type { FunctionCallOutputBody, ImageDetail, MessagePhase } from "@bobbin/protocol";
import type { ContextItem, ContextPart } from "../../model/model.ts";
import { isResponseItem } from "../../model/response-item-validation.ts";

type Loose = { readonly [key: string]: unknown };

/**
 * Converts an injected item, in the format of the Responses API, to a context item. Undefined for an invalid item:
 * older versions accepted any value.
 */
export function injectedItem(injected: unknown): ContextItem | undefined {
  const item = Object(injected) as Loose;
  const callId = textOf(item.call_id);
  switch (item.type) {
    case "message":
      return messageOf(item) ?? rawItem(injected);
    case "function_call":
    case "custom_tool_call": {
      const custom = item.type === "custom_tool_call";
      return {
        type: "toolCall",
        callId,
        name: textOf(item.name),
        namespace: typeof item.namespace === "string" ? item.namespace : null,
        arguments: textOf(custom ? item.input : item.arguments),
        kind: custom ? "custom" : "function",
      };
    }
    case "function_call_output":
    case "custom_tool_call_output": {
      const output = item.output;
      return {
        type: "toolOutput",
        callId,
        kind: item.type === "custom_tool_call_output" ? "custom" : "function",
        output: isParts(output) ? output : textOf(output),
        success: true,
      };
    }
    default:
      return rawItem(injected);
  }
}

function isParts(output: unknown): output is Extract<FunctionCallOutputBody, readonly unknown[]> {
  return Array.isArray(output) && output.every((part) => typeof Object(part).type === "string");
}

/** Returns a string unchanged, and any other value as JSON. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "");
}

function rawItem(item: unknown): ContextItem | undefined {
  return isResponseItem(item) ? { type: "raw", item } : undefined;
}

const ROLES: ReadonlyMap<unknown, "user" | "assistant" | "developer"> = new Map([
  ["user", "user"],
  ["assistant", "assistant"],
  ["developer", "developer"],
  ["system", "developer"],
]);

function messageOf({ role, content, phase }: Loose): ContextItem | undefined {
  const known = ROLES.get(role);
  if (known === undefined) return undefined;
  if (typeof content === "string")
    return { type: "message", role: known, parts: [{ type: "text", text: content }] };
  if (!Array.isArray(content)) return undefined;
  const parts = content.map(partOf);
  return parts.includes(undefined)
    ? undefined
    : {
        type: "message",
        role: known,
        parts: parts as ContextPart[],
        ...(typeof phase === "string" && { phase: phase as MessagePhase }),
      };
}

function partOf(contentPart: unknown): ContextPart | undefined {
  const part = Object(contentPart) as Loose;
  if (typeof part.text === "string") return { type: "text", text: part.text };
  if (part.type === "input_audio" && typeof part.audio_url === "string") {
    return { type: "audio", url: part.audio_url };
  }
  if (part.type !== "input_image" || typeof part.image_url !== "string") return undefined;
  return {
    type: "image",
    url: part.image_url,
    detail: (part.detail as ImageDetail | undefined) ?? null,
  };
}
