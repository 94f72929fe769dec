import type { ImageDetail, MessagePhase } from "@bobbin/protocol";
import type { ContextItem, ContextPart } from "../model/model.ts";
import { isResponseItem } from "../model/response-items.ts";

type Loose = { readonly [key: string]: unknown };

/**
 * An item that a client put into the history, in the words of the `responses` wire. Nothing for a kind that nobody
 * knows, and for what older versions took that is no item at all.
 */
export function injectedItem(given: unknown): ContextItem | undefined {
  const item = (typeof given === "object" && given !== null ? given : {}) as Loose;
  const callId = String(item.call_id ?? "");
  switch (item.type) {
    case "message":
      return messageOf(item) ?? rawItem(given);
    case "function_call":
    case "custom_tool_call": {
      const custom = item.type === "custom_tool_call";
      return {
        type: "toolCall",
        callId,
        name: String(item.name ?? ""),
        namespace: typeof item.namespace === "string" ? item.namespace : null,
        arguments: String((custom ? item.input : item.arguments) ?? ""),
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
        output: typeof output === "string" || Array.isArray(output) ? output : JSON.stringify(output ?? ""),
        success: true,
      };
    }
    default:
      return rawItem(given);
  }
}

function rawItem(item: unknown): ContextItem | undefined {
  return isResponseItem(item) ? { type: "raw", item } : undefined;
}

const ROLES: Readonly<Record<string, "user" | "assistant" | "developer">> = {
  user: "user",
  assistant: "assistant",
  developer: "developer",
  system: "developer",
};

function messageOf({ role, content, phase }: Loose): ContextItem | undefined {
  const known = ROLES[String(role)];
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

function partOf(part: Loose): ContextPart | undefined {
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
