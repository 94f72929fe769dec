import type { ContextItem, ContextMessage, ContextPart, ModelRequest } from "./model.ts";
import { outputImages, outputText, splitSystem, textOf, UNHEARD } from "./plain-context.ts";
import { PlainTools, plainArguments, plainName } from "./tool-names.ts";

interface AssistantMessage {
  readonly role: "assistant";
  content: string | null;
  tool_calls?: unknown[];
  [reasoning: string]: unknown;
}

/** `withTools`: false for models that know none; what was called before is then told in words. */
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

function messages(items: readonly ContextItem[], withTools: boolean): unknown[] {
  const out: unknown[] = [];
  /** What the model says in one answer is one message. */
  let answer: AssistantMessage | undefined;
  let thought: { field: string; text: string } | undefined;
  const lastUser = items.findLastIndex((item) => item.type === "message" && item.role === "user");
  const speak = (): AssistantMessage => {
    if (answer === undefined) {
      answer = { role: "assistant", content: null };
      out.push(answer);
    }
    return answer;
  };
  /** Tools answer in words there: what they have to show follows as the user's. */
  let shown: ContextPart[] = [];
  const show = (): void => {
    if (shown.length > 0) out.push({ role: "user", content: shown.map(partOf) });
    shown = [];
  };
  for (const [index, item] of items.entries()) {
    if (item.type !== "toolOutput") show();
    switch (item.type) {
      case "message":
        if (item.role === "assistant") {
          const message = speak();
          message.content = (message.content ?? "") + textOf(item);
          break;
        }
        answer = undefined;
        thought = undefined;
        out.push({ role: "user", content: userContent(item) });
        break;
      case "reasoning":
        // Models want it back while they call tools, and some refuse it anywhere else.
        thought = index > lastUser ? (item.carry as { field: string; text: string }) : undefined;
        break;
      case "toolCall": {
        const message = speak();
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
        answer = undefined;
        thought = undefined;
        out.push(
          withTools
            ? { role: "tool", tool_call_id: item.callId, content: outputText(item.output) }
            : { role: "user", content: `(The answer of the tool: ${outputText(item.output)})` },
        );
        shown.push(...outputImages(item.output));
        break;
    }
  }
  show();
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
      if (data === null) return { type: "text", text: UNHEARD };
      return {
        type: "input_audio",
        input_audio: { data: data[2], format: data[1] === "wav" ? "wav" : "mp3" },
      };
    }
  }
}
