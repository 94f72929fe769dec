import type { ServerQuestion } from "../../core/requests/mcp-server-questions.ts";
import { resultText } from "../result-text.ts";
import { McpError, type McpSamplingParams } from "./mcp-interface.ts";

/** Limits on the characters of a sampling request and its answer. */
const MAX_CHARACTERS = 256 * 1024;
const MAX_MESSAGES = 64;
const MAX_TOKENS = 16_384;
const CHARACTERS_PER_TOKEN = 4;
/** Limit on the characters of the request that the user sees. */
const SHOWN = 1000;

/** A server's request to the thread's model. */
export interface SamplingRequest {
  readonly instructions: string;
  readonly messages: readonly SamplingMessage[];
  readonly maxCharacters: number;
}

export interface SamplingMessage {
  readonly role: "user" | "assistant";
  readonly parts: readonly SamplingPart[];
}

export type SamplingPart =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image" | "audio"; readonly url: string };

/**
 * Validates the params of `sampling/createMessage`. Throws an `McpError` with the reason, which is sent to the
 * server.
 */
export function readSampling(params: McpSamplingParams): SamplingRequest {
  const { messages, systemPrompt, maxTokens, tools } = params;
  if (tools !== undefined) throw invalid("tools are not supported");
  if (!Array.isArray(messages) || messages.length === 0 || messages.length > MAX_MESSAGES)
    throw invalid(`messages must be a list of 1 to ${MAX_MESSAGES}`);
  if (JSON.stringify(params).length > MAX_CHARACTERS)
    throw invalid(`the request has more than ${MAX_CHARACTERS} characters`);
  const tokens =
    typeof maxTokens === "number" && maxTokens > 0 ? Math.min(maxTokens, MAX_TOKENS) : MAX_TOKENS;
  return {
    instructions: typeof systemPrompt === "string" ? systemPrompt : "",
    messages: messages.map(messageOf),
    maxCharacters: Math.ceil(tokens * CHARACTERS_PER_TOKEN),
  };
}

function messageOf(message: unknown): SamplingMessage {
  const { role, content } = Object(message) as { readonly role?: unknown; readonly content?: unknown };
  if (role !== "user" && role !== "assistant") throw invalid("the role of a message is user or assistant");
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
  return { role, parts: blocks.map(partOf) };
}

function partOf(block: unknown): SamplingPart {
  const { type, text, data, mimeType } = Object(block) as Readonly<Record<string, unknown>>;
  if (type === "text" && typeof text === "string") return { type, text };
  if ((type === "image" || type === "audio") && typeof data === "string" && typeof mimeType === "string")
    return { type, url: `data:${mimeType};base64,${data}` };
  throw invalid("a message has text, an image or audio");
}

/** The elicitation that asks the user whether a server may use the model. */
export function samplingQuestion(server: string, request: SamplingRequest): ServerQuestion {
  const words = request.messages.flatMap(({ parts }) =>
    parts.map((part) => (part.type === "text" ? part.text : `(${part.type})`)),
  );
  const shown = resultText(words.join("\n\n"), SHOWN);
  return {
    mode: "form",
    message: `Allow the MCP server ${server} to ask this thread's model?\n\n${shown}`,
    requestedSchema: { type: "object", properties: {} },
    _meta: { bobbin_approval_kind: "mcp_sampling", persist: "session" },
  };
}

export function samplingResult(
  { maxCharacters }: SamplingRequest,
  { text, model }: { readonly text: string; readonly model: string },
): Readonly<Record<string, unknown>> {
  const isLong = text.length > maxCharacters;
  return {
    role: "assistant",
    content: { type: "text", text: isLong ? text.slice(0, maxCharacters) : text },
    model,
    stopReason: isLong ? "maxTokens" : "endTurn",
  };
}

function invalid(why: string): McpError {
  return new McpError("invalid", `The model was not asked: ${why}.`);
}
