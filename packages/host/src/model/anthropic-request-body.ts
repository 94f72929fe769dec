import type { FunctionCallOutputBody } from "@bobbin/protocol";
import { AUDIO_PLACEHOLDER, outputImages, outputText, splitSystem } from "./context-conversion.ts";
import type { ContextItem, ContextPart, ModelRequest } from "./model.ts";
import { PlainTools, plainArguments, plainName } from "./plain-function-tools.ts";

interface Block {
  readonly type: string;
  readonly [member: string]: unknown;
}

interface Message {
  readonly role: "user" | "assistant";
  content: Block[];
}

const CACHED = { cache_control: { type: "ephemeral" } };
/** Token budget for reasoning, by effort. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 4096,
  medium: 10_000,
  high: 24_000,
  xhigh: 31_000,
};

/** Builds the request body of Anthropic's Messages API. */
export function messagesBody(request: ModelRequest): object {
  const { system, rest } = splitSystem(request);
  const tools = new PlainTools(request.tools).list;
  const messages = messagesOf(rest);
  const budget = mayThink(messages) ? BUDGETS[request.effort ?? ""] : undefined;
  return {
    model: request.model,
    max_tokens: /^claude-3-(opus|haiku|sonnet)/.test(request.model)
      ? 4096
      : /^claude-3/.test(request.model)
        ? 8192
        : 32_000,
    system: withCacheBreakpoint(system.map((text) => ({ type: "text", text }))),
    messages: messages.map((message, index) =>
      index === messages.length - 1 ? { ...message, content: withCacheBreakpoint(message.content) } : message,
    ),
    stream: true,
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        name,
        description,
        input_schema: parameters,
      })),
      tool_choice: { type: "auto", disable_parallel_tool_use: !request.parallelToolCalls },
    }),
    ...(budget !== undefined && { thinking: { type: "enabled", budget_tokens: budget } }),
  };
}

/**
 * Marks the last block as a cache breakpoint, so that the provider can reuse everything up to it in the next call.
 */
function withCacheBreakpoint(blocks: readonly Block[]): readonly Block[] {
  return blocks.map((block, index) => (index === blocks.length - 1 ? { ...block, ...CACHED } : block));
}

/**
 * Groups items into messages. The API requires that user and assistant alternate, and that a user message is first
 * and last.
 */
function messagesOf(items: readonly ContextItem[]): Message[] {
  const messages: Message[] = [];
  const add = (role: Message["role"], ...blocks: Block[]): void => {
    if (blocks.length === 0) return;
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else messages.push({ role, content: blocks });
  };
  for (const item of items) {
    switch (item.type) {
      case "message": {
        const blocks = item.parts.map(partBlock).filter((block) => block.text !== "");
        add(item.role === "assistant" ? "assistant" : "user", ...blocks);
        break;
      }
      case "reasoning":
        // The value comes from the journal. A damaged one is skipped.
        if (isBlock(item.carry)) add("assistant", item.carry);
        break;
      case "toolCall":
        add("assistant", {
          type: "tool_use",
          id: item.callId.replace(/[^\w-]/g, "_"),
          name: plainName(item),
          input: plainArguments(item),
        });
        break;
      case "toolOutput":
        add("user", {
          type: "tool_result",
          tool_use_id: item.callId.replace(/[^\w-]/g, "_"),
          content: outputContent(item.output),
          ...(!item.success && { is_error: true }),
        });
        break;
    }
  }
  const userText = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
  if (messages[0]?.role === "assistant")
    messages.unshift(userText("(The conversation begins with your words.)"));
  if (messages.at(-1)?.role !== "user") messages.push(userText("(Go on.)"));
  return messages;
}

function isBlock(value: unknown): value is Block {
  return typeof (Object(value) as Record<string, unknown>).type === "string";
}

/** Whether thinking may be enabled. Between tool calls, the API allows it only if the answer began with thinking. */
function mayThink(messages: readonly Message[]): boolean {
  const answered = messages.at(-1)?.content.some(({ type }) => type === "tool_result");
  return !answered || /thinking$/.test(messages.at(-2)?.content[0]?.type ?? "");
}

function outputContent(output: FunctionCallOutputBody): unknown {
  const images = outputImages(output);
  if (typeof output === "string" || images.length === 0) return outputText(output);
  const words = outputText(output.filter(({ type }) => type !== "input_image"));
  return [...(words === "" ? [] : [{ type: "text", text: words }]), ...images.map(partBlock)];
}

function partBlock(part: ContextPart): Block {
  if (part.type === "text") return part;
  if (part.type === "audio") return { type: "text", text: AUDIO_PLACEHOLDER };
  const data = /^data:([^;,]+);base64,(.*)$/s.exec(part.url);
  if (data === null) return { type: "image", source: { type: "url", url: part.url } };
  return { type: "image", source: { type: "base64", media_type: data[1], data: data[2] } };
}
