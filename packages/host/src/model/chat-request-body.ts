import { AUDIO_PLACEHOLDER, outputImages, outputText, splitSystem, textOf } from "./context-conversion.ts";
import type { ContextItem, ContextMessage, ContextPart, ModelRequest } from "./model.ts";
import { PlainTools, plainArguments, plainName } from "./plain-function-tools.ts";

interface AssistantMessage {
  readonly role: "assistant";
  content: string | null;
  tool_calls?: unknown[];
  [reasoning: string]: unknown;
}

/** The reasoning text of a model, and the JSON member in which its provider sent it. */
interface Thought {
  readonly field: string;
  readonly text: string;
}

/**
 * Builds the request body of Chat Completions. `withTools` is false for models without tool support; earlier tool
 * calls then become text.
 */
export function chatBody(request: ModelRequest, withTools: boolean): object {
  const { model, effort, outputSchema } = request;
  const { system, rest } = splitSystem({ ...request, outputSchema: null });
  const tools = withTools ? new PlainTools(request.tools).list : [];
  return {
    model,
    messages: [{ role: "system", content: system.join("\n\n") }, ...messages(rest, withTools)],
    stream: true,
    stream_options: { include_usage: true },
    ...(tools.length > 0 && {
      tools: tools.map((tool) => ({ type: "function", function: tool })),
      parallel_tool_calls: request.parallelToolCalls,
    }),
    ...(effort !== null && effort !== "none" && { reasoning_effort: effort }),
    ...(outputSchema != null && {
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", strict: true, schema: outputSchema },
      },
    }),
  };
}

/** Reads reasoning back from the journal; a damaged value is skipped. */
function thoughtOf(carry: unknown): Thought | undefined {
  const { field, text } = Object(carry) as Record<string, unknown>;
  return typeof field === "string" && typeof text === "string" ? { field, text } : undefined;
}

function messages(items: readonly ContextItem[], withTools: boolean): unknown[] {
  const out: unknown[] = [];
  /** The message that is being built: all items of one answer become one assistant message. */
  let current: AssistantMessage | undefined;
  let thought: Thought | undefined;
  const lastUser = items.findLastIndex((item) => item.type === "message" && item.role === "user");
  const assistantMessage = (): AssistantMessage => {
    if (current === undefined) {
      current = { role: "assistant", content: null };
      out.push(current);
    }
    return current;
  };
  /**
   * Images of tool outputs. In Chat Completions, a tool message may contain only text, so the images follow in a user
   * message.
   */
  let images: ContextPart[] = [];
  const flushImages = (): void => {
    if (images.length > 0) out.push({ role: "user", content: images.map(partOf) });
    images = [];
  };
  for (const [index, item] of items.entries()) {
    if (item.type !== "toolOutput") flushImages();
    switch (item.type) {
      case "message":
        if (item.role === "assistant") {
          const message = assistantMessage();
          message.content = (message.content ?? "") + textOf(item);
          break;
        }
        current = undefined;
        thought = undefined;
        out.push({ role: "user", content: userContent(item) });
        break;
      case "reasoning":
        // Models need their reasoning back while they call tools. Elsewhere, some models refuse it.
        thought = index > lastUser ? thoughtOf(item.carry) : undefined;
        break;
      case "toolCall": {
        const message = assistantMessage();
        const name = plainName(item);
        const text = JSON.stringify(plainArguments(item));
        if (!withTools) {
          message.content = `${message.content ?? ""}\n(I called ${name} with ${text}.)`.trim();
          break;
        }
        message.tool_calls ??= [];
        message.tool_calls.push({ id: item.callId, type: "function", function: { name, arguments: text } });
        if (thought !== undefined) message[thought.field] = thought.text;
        break;
      }
      case "toolOutput":
        current = undefined;
        thought = undefined;
        out.push(
          withTools
            ? { role: "tool", tool_call_id: item.callId, content: outputText(item.output) }
            : { role: "user", content: `(The answer of the tool: ${outputText(item.output)})` },
        );
        images.push(...outputImages(item.output));
        break;
    }
  }
  flushImages();
  return out;
}

function userContent(message: ContextMessage): unknown {
  if (message.parts.every((part) => part.type === "text")) return textOf(message);
  return message.parts.map(partOf);
}

function partOf(part: ContextPart): unknown {
  switch (part.type) {
    case "text":
      return part;
    case "image": {
      const detail = part.detail === null ? {} : { detail: part.detail };
      return { type: "image_url", image_url: { url: part.url, ...detail } };
    }
    case "audio": {
      const data = /^data:audio\/(?:x-)?(wav|mp3|mpeg);base64,(.*)$/s.exec(part.url);
      if (data === null) return { type: "text", text: AUDIO_PLACEHOLDER };
      return {
        type: "input_audio",
        input_audio: { data: data[2], format: data[1] === "wav" ? "wav" : "mp3" },
      };
    }
  }
}
