import { chatBody } from "./chat-request-body.ts";
import { contextWindowOf } from "./context-windows.ts";
import { complaintFault, cutShort, disconnected, ModelFault } from "./faults.ts";
import { arrayIn, type Loose, objectIn, textIn } from "./loose-json.ts";
import type { ModelEvent, ModelRequest, ModelStream } from "./model.ts";
import { PlainTools } from "./plain-function-tools.ts";
import { DONE, type ModelPorts } from "./provider-requests.ts";
import type { ProviderSettings } from "./provider-settings.ts";
import { type AnswerReader, readAnswer } from "./read-answer.ts";
import { usageOf } from "./token-usage.ts";

const NO_TOOLS = /does not support (tools|functions|function calling)|tools? (is|are) not supported/i;
/** Members in which servers send the reasoning text. */
const REASONING_MEMBERS = ["reasoning_content", "reasoning"] as const;

/** Streams an answer by OpenAI's Chat Completions API, which many local servers offer, too. */
export async function* chatStream(
  ports: ModelPorts,
  request: ModelRequest,
  signal: AbortSignal,
): ModelStream {
  try {
    yield* chat(ports, request, signal, true);
  } catch (cause) {
    // The model does not support tools, so it is called again without tools.
    if (!(cause instanceof ModelFault && NO_TOOLS.test(cause.message))) throw cause;
    yield* chat(ports, request, signal, false);
  }
}

function chat(
  ports: ModelPorts,
  request: ModelRequest,
  signal: AbortSignal,
  withTools: boolean,
): ModelStream {
  const { model, answerBytes } = request;
  const call = { path: "/chat/completions", model, body: chatBody(request, withTools), answerBytes };
  return readAnswer(ports, call, new ChatAnswer(ports, request), signal);
}

class ChatAnswer implements AnswerReader {
  readonly #settings: ProviderSettings;
  readonly #model: string;
  readonly #assembly: AnswerAssembly;
  #usage: Loose = {};
  #finishReason: string | undefined;

  constructor(ports: ModelPorts, { model, tools }: ModelRequest) {
    this.#settings = ports.settings;
    this.#model = model;
    this.#assembly = new AnswerAssembly(ports, new PlainTools(tools));
  }

  *take(event: Loose): Iterable<ModelEvent> {
    if (event === DONE) this.#finishReason ??= "stop";
    else if (event.error !== undefined) {
      const error = objectIn(event.error);
      const code = textIn(error.code) || textIn(error.type);
      const message = textIn(error.message ?? event.error);
      throw complaintFault(this.#settings, this.#model, { code, message });
    }
    const [choice] = arrayIn(event.choices);
    if (choice !== undefined) {
      yield* this.#assembly.delta(objectIn(choice.delta));
      this.#finishReason = textIn(choice.finish_reason) || this.#finishReason;
    }
    if (event.usage != null) this.#usage = objectIn(event.usage);
  }

  *end(): Iterable<ModelEvent> {
    const ended = this.#finishReason;
    if (ended === undefined) throw disconnected(this.#settings, "it ended before it had a finish_reason");
    yield* this.#assembly.end();
    if (ended === "length" || ended === "content_filter") throw cutShort(this.#settings.name, ended);
    yield { type: "done", usage: readUsage(this.#usage), contextWindow: contextWindowOf(this.#model) };
  }
}

interface PartialCall {
  readonly nth: number;
  id: string;
  name: string;
  text: string;
}

/** Assembles the items of one answer from its deltas. */
class AnswerAssembly {
  readonly #ports: ModelPorts;
  readonly #tools: PlainTools;
  #thought: { readonly itemId: string; readonly field: string; text: string } | undefined;
  #message: { readonly itemId: string; text: string } | undefined;
  readonly #calls: PartialCall[] = [];
  readonly #callsByKey = new Map<unknown, PartialCall>();

  constructor(ports: ModelPorts, tools: PlainTools) {
    this.#ports = ports;
    this.#tools = tools;
  }

  *delta(delta: Loose): Iterable<ModelEvent> {
    const field = REASONING_MEMBERS.find((name) => textIn(delta[name]) !== "");
    if (field !== undefined) yield* this.#think(field, textIn(delta[field]));
    const text = textIn(delta.content) || textIn(delta.refusal);
    if (text !== "") yield* this.#say(text);
    for (const piece of arrayIn(delta.tool_calls)) yield this.#call(piece);
  }

  *end(): Iterable<ModelEvent> {
    yield* this.#endThought();
    if (this.#message !== undefined) yield { type: "messageDone", ...this.#message };
    for (const { id, name, text } of this.#calls) {
      const callId = id || `call_${this.#ports.platform.ids.uuid()}`;
      yield { type: "toolCall", call: this.#tools.read(callId, name, text) };
    }
  }

  *#think(field: string, text: string): Iterable<ModelEvent> {
    if (this.#thought === undefined) {
      this.#thought = { itemId: this.#ports.platform.ids.uuid(), field, text: "" };
      yield { type: "reasoningStarted", itemId: this.#thought.itemId };
    }
    this.#thought.text += text;
    yield { type: "reasoningTextDelta", itemId: this.#thought.itemId, index: 0, text };
  }

  *#endThought(): Iterable<ModelEvent> {
    if (this.#thought === undefined) return;
    const { itemId, ...carry } = this.#thought;
    this.#thought = undefined;
    yield { type: "reasoningDone", itemId, summary: [], content: [carry.text], carry };
  }

  *#say(text: string): Iterable<ModelEvent> {
    yield* this.#endThought();
    if (this.#message === undefined) {
      this.#message = { itemId: this.#ports.platform.ids.uuid(), text: "" };
      yield { type: "messageStarted", itemId: this.#message.itemId };
    }
    this.#message.text += text;
    yield { type: "messageDelta", itemId: this.#message.itemId, text };
  }

  /**
   * Adds a piece of a tool call. The call's name comes once, its arguments in pieces. A piece without an index and an
   * ID belongs to the last call, because some servers do not number their calls.
   */
  #call(callDelta: Loose): ModelEvent {
    const key = callDelta.index ?? callDelta.id;
    let piece = key === undefined ? this.#calls.at(-1) : this.#callsByKey.get(key);
    const id = textIn(callDelta.id);
    if (piece === undefined || (id !== "" && piece.id !== "" && piece.id !== id)) {
      piece = { nth: this.#calls.length, id: "", name: "", text: "" };
      this.#calls.push(piece);
      // If a server uses one index for two calls, the first call keeps the index, and the calls differ by their IDs.
      if (key !== undefined && !this.#callsByKey.has(key)) this.#callsByKey.set(key, piece);
    }
    const { name, arguments: args } = objectIn(callDelta.function);
    const text = typeof args === "object" && args !== null ? JSON.stringify(args) : textIn(args);
    piece.id ||= id;
    piece.name ||= textIn(name);
    piece.text += text;
    return { type: "hiddenDelta", itemId: `call ${piece.nth}`, of: "call", text };
  }
}

function readUsage(usage: Loose) {
  return usageOf({
    input: usage.prompt_tokens,
    cached: objectIn(usage.prompt_tokens_details).cached_tokens,
    output: usage.completion_tokens,
    reasoning: objectIn(usage.completion_tokens_details).reasoning_tokens,
  });
}
