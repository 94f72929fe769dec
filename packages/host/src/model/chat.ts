import { chatBody } from "./chat-messages.ts";
import { complaintFault, cutShort, disconnected, ModelFault } from "./faults.ts";
import { DONE, type ModelPorts } from "./http.ts";
import { arrayIn, type Loose, objectIn, textIn } from "./loose.ts";
import type { ModelEvent, ModelRequest, ModelStream } from "./model.ts";
import type { ProviderSettings } from "./provider-settings.ts";
import { type AnswerReader, readAnswer } from "./read-answer.ts";
import { PlainTools } from "./tool-names.ts";
import { usageOf } from "./usage.ts";
import { contextWindowOf } from "./windows.ts";

const NO_TOOLS = /does not support (tools|functions|function calling)|tools? (is|are) not supported/i;
/** Where servers put what the model thinks. */
const THOUGHTS = ["reasoning_content", "reasoning"] as const;

/** Chat Completions, as OpenAI made it and many servers on one's own machine speak it. */
export async function* chatStream(
  ports: ModelPorts,
  request: ModelRequest,
  signal: AbortSignal,
): ModelStream {
  try {
    yield* chat(ports, request, signal, true);
  } catch (cause) {
    // A model that knows no tools is a model still.
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
  readonly #pieces: Pieces;
  #usage: Loose = {};
  #ended: string | undefined;

  constructor(ports: ModelPorts, { model, tools }: ModelRequest) {
    this.#settings = ports.settings;
    this.#model = model;
    this.#pieces = new Pieces(ports, new PlainTools(tools));
  }

  *take(event: Loose): Iterable<ModelEvent> {
    if (event === DONE) this.#ended ??= "stop";
    else if (event.error !== undefined) {
      const error = objectIn(event.error);
      const code = textIn(error.code) || textIn(error.type);
      const message = textIn(error.message ?? event.error);
      throw complaintFault(this.#settings, this.#model, { code, message });
    }
    const [choice] = arrayIn(event.choices);
    if (choice !== undefined) {
      yield* this.#pieces.grown(objectIn(choice.delta));
      this.#ended = textIn(choice.finish_reason) || this.#ended;
    }
    if (event.usage != null) this.#usage = objectIn(event.usage);
  }

  *end(): Iterable<ModelEvent> {
    const ended = this.#ended;
    if (ended === undefined) throw disconnected(this.#settings, "it ended before it had a finish_reason");
    yield* this.#pieces.end();
    if (ended === "length" || ended === "content_filter") throw cutShort(this.#settings.name, ended);
    yield { type: "done", usage: readUsage(this.#usage), contextWindow: contextWindowOf(this.#model) };
  }
}

interface Piece {
  readonly nth: number;
  id: string;
  name: string;
  text: string;
}

/** One answer's items, put together from their pieces. */
class Pieces {
  readonly #ports: ModelPorts;
  readonly #tools: PlainTools;
  #thought: { readonly itemId: string; readonly field: string; text: string } | undefined;
  #message: { readonly itemId: string; text: string } | undefined;
  readonly #calls: Piece[] = [];
  readonly #callsByKey = new Map<unknown, Piece>();

  constructor(ports: ModelPorts, tools: PlainTools) {
    this.#ports = ports;
    this.#tools = tools;
  }

  *grown(delta: Loose): Iterable<ModelEvent> {
    const field = THOUGHTS.find((name) => textIn(delta[name]) !== "");
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

  /** A call's name comes once, its arguments in pieces; some servers do not number the calls. */
  #call(given: Loose): ModelEvent {
    const key = given.index ?? given.id;
    let piece = key === undefined ? this.#calls.at(-1) : this.#callsByKey.get(key);
    const id = textIn(given.id);
    if (piece === undefined || (id !== "" && piece.id !== "" && piece.id !== id)) {
      piece = { nth: this.#calls.length, id: "", name: "", text: "" };
      this.#calls.push(piece);
      // The first one keeps the key: a server that gives it twice names its calls by their ids.
      if (key !== undefined && !this.#callsByKey.has(key)) this.#callsByKey.set(key, piece);
    }
    const { name, arguments: args } = objectIn(given.function);
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
