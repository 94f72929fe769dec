import { messagesBody } from "./anthropic-request-body.ts";
import { contextWindowOf } from "./context-windows.ts";
import { complaintFault, cutShort, disconnected, ModelFault } from "./faults.ts";
import { type Loose, objectIn, textIn } from "./loose-json.ts";
import type { ModelEvent, ModelRequest, ModelStream } from "./model.ts";
import { PlainTools } from "./plain-function-tools.ts";
import type { ModelPorts } from "./provider-requests.ts";
import type { ProviderSettings } from "./provider-settings.ts";
import { type AnswerReader, readAnswer } from "./read-answer.ts";
import { count, usageOf } from "./token-usage.ts";

/** Streams an answer by Anthropic's Messages API. */
export function messagesStream(ports: ModelPorts, request: ModelRequest, signal: AbortSignal): ModelStream {
  const { model, answerBytes } = request;
  const call = { path: "/messages", model, body: messagesBody(request), answerBytes };
  return readAnswer(ports, call, new MessagesAnswer(ports, request), signal);
}

class MessagesAnswer implements AnswerReader {
  readonly #settings: ProviderSettings;
  readonly #model: string;
  readonly #blocks: Blocks;
  #usage: Loose = {};
  #stopReason = "";

  constructor(ports: ModelPorts, { model, tools }: ModelRequest) {
    this.#settings = ports.settings;
    this.#model = model;
    this.#blocks = new Blocks(ports, new PlainTools(tools));
  }

  take(event: Loose): Iterable<ModelEvent> {
    switch (event.type) {
      case "message_start":
        this.#usage = objectIn(objectIn(event.message).usage);
        return [];
      case "content_block_start":
        return this.#blocks.blockStarted(event.index, objectIn(event.content_block));
      case "content_block_delta":
        return this.#blocks.blockDelta(event.index, objectIn(event.delta));
      case "content_block_stop":
        return this.#blocks.blockStopped(event.index);
      case "message_delta":
        this.#usage = { ...this.#usage, ...objectIn(event.usage) };
        this.#stopReason = textIn(objectIn(event.delta).stop_reason) || this.#stopReason;
        return [];
      case "message_stop":
        return this.#stopped();
      case "error": {
        const { type, message } = objectIn(event.error);
        throw complaintFault(this.#settings, this.#model, { code: textIn(type), message: textIn(message) });
      }
      default:
        return [];
    }
  }

  end(): never {
    throw disconnected(this.#settings, "it ended before message_stop");
  }

  #stopped(): Iterable<ModelEvent> {
    const { name } = this.#settings;
    const why = this.#stopReason;
    if (why === "model_context_window_exceeded") {
      throw complaintFault(this.#settings, this.#model, { code: "context_window_exceeded", message: why });
    }
    if (why === "max_tokens") throw cutShort(name, why);
    if (why === "refusal") throw new ModelFault(`${name} declined to answer this.`, "badRequest");
    return [{ type: "done", usage: readUsage(this.#usage), contextWindow: contextWindowOf(this.#model) }];
  }
}

interface Block {
  readonly kind: string;
  readonly itemId: string;
  /** The block from the `content_block_start` event. */
  readonly start: Loose;
  text: string;
  signature: string;
}

/** Assembles the content blocks of one answer, by their index. */
class Blocks {
  readonly #ports: ModelPorts;
  readonly #tools: PlainTools;
  readonly #open = new Map<unknown, Block>();

  constructor(ports: ModelPorts, tools: PlainTools) {
    this.#ports = ports;
    this.#tools = tools;
  }

  *blockStarted(index: unknown, start: Loose): Iterable<ModelEvent> {
    const kind = textIn(start.type);
    const itemId = this.#ports.platform.ids.uuid();
    const block: Block = { kind, itemId, start, text: "", signature: textIn(start.signature) };
    this.#open.set(index, block);
    if (kind === "text") yield { type: "messageStarted", itemId };
    else if (kind === "thinking" || kind === "redacted_thinking") yield { type: "reasoningStarted", itemId };
    yield* this.#grow(block, textIn(start.text) || textIn(start.thinking));
  }

  *blockDelta(index: unknown, delta: Loose): Iterable<ModelEvent> {
    const block = this.#open.get(index);
    if (block === undefined) return;
    const { itemId } = block;
    if (delta.type === "signature_delta") {
      const text = textIn(delta.signature);
      block.signature += text;
      yield { type: "hiddenDelta", itemId, of: "reasoning", text };
    } else if (delta.type === "input_json_delta") {
      const text = textIn(delta.partial_json);
      block.text += text;
      yield { type: "hiddenDelta", itemId, of: "call", text };
    } else yield* this.#grow(block, textIn(delta.text) || textIn(delta.thinking));
  }

  *blockStopped(index: unknown): Iterable<ModelEvent> {
    const block = this.#open.get(index);
    this.#open.delete(index);
    if (block === undefined) return;
    const { kind, itemId, start, text, signature } = block;
    switch (kind) {
      case "text":
        return yield { type: "messageDone", itemId, text };
      case "thinking": {
        // A thinking block without a signature cannot be sent back to the provider.
        const carry = signature === "" ? undefined : { type: "thinking", thinking: text, signature };
        const summary = text === "" ? [] : [text];
        return yield { type: "reasoningDone", itemId, summary, content: [], carry };
      }
      case "redacted_thinking":
        return yield { type: "reasoningDone", itemId, summary: [], content: [], carry: start };
      case "tool_use": {
        const argumentsText = text || JSON.stringify(start.input ?? {});
        const call = this.#tools.read(textIn(start.id), textIn(start.name), argumentsText);
        return yield { type: "toolCall", call };
      }
    }
  }

  *#grow(block: Block, text: string): Iterable<ModelEvent> {
    const { kind, itemId } = block;
    if (text === "") return;
    block.text += text;
    if (kind === "text") yield { type: "messageDelta", itemId, text };
    else if (kind === "thinking") yield { type: "reasoningSummaryDelta", itemId, index: 0, text };
  }
}

function readUsage(usage: Loose) {
  const read = count(usage.cache_read_input_tokens);
  const written = count(usage.cache_creation_input_tokens);
  return usageOf({
    input: count(usage.input_tokens) + read + written,
    cached: read,
    cacheWritten: written,
    output: usage.output_tokens,
  });
}
