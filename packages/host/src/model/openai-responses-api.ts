import type { MessagePhase, WebSearchAction } from "@bobbin/protocol";
import type { HttpAnswer } from "../platform/platform.ts";
import { contextWindowOf } from "./context-windows.ts";
import { complaintFault, cutShort, disconnected } from "./faults.ts";
import { arrayIn, type Loose, objectIn, textIn } from "./loose-json.ts";
import type { ModelEvent, ModelRequest, ModelStream } from "./model.ts";
import type { ModelPorts } from "./provider-requests.ts";
import type { ProviderSettings } from "./provider-settings.ts";
import { limitsInEvent, limitsInHeaders } from "./rate-limit-parser.ts";
import { type AnswerReader, readAnswer } from "./read-answer.ts";
import { responsesBody } from "./responses-request-body.ts";
import { count, usageOf } from "./token-usage.ts";
import { TOOL_SEARCH } from "./tool-search.ts";

/** Streams an answer by OpenAI's Responses API. */
export function responsesStream(ports: ModelPorts, request: ModelRequest, signal: AbortSignal): ModelStream {
  const { model, answerBytes } = request;
  const call = { path: "/responses", model, body: responsesBody(request), answerBytes };
  return readAnswer(ports, call, new ResponsesAnswer(ports, model), signal);
}

class ResponsesAnswer implements AnswerReader {
  readonly #settings: ProviderSettings;
  readonly #model: string;
  readonly #output: Output;

  constructor(ports: ModelPorts, model: string) {
    this.#settings = ports.settings;
    this.#model = model;
    this.#output = new Output(ports);
  }

  *headersReceived(headers: HttpAnswer["headers"]): Iterable<ModelEvent> {
    for (const limits of limitsInHeaders(headers)) yield { type: "rateLimits", limits };
    const model = headers.get("openai-model");
    if (model) yield { type: "servedBy", model };
  }

  take(event: Loose): Iterable<ModelEvent> {
    switch (event.type) {
      case "codex.rate_limits":
        return [{ type: "rateLimits", limits: limitsInEvent(event) }];
      case "response.output_item.added":
        return this.#output.itemAdded(event);
      case "response.output_text.delta":
      case "response.refusal.delta":
      case "response.reasoning_summary_text.delta":
      case "response.reasoning_text.delta":
        return this.#output.textDelta(event);
      case "response.function_call_arguments.delta":
      case "response.custom_tool_call_input.delta":
        return this.#output.argumentsDelta(event);
      case "response.output_item.done":
        return this.#output.itemDone(event);
      case "response.completed":
      case "response.done": {
        const { usage } = objectIn(event.response);
        const contextWindow = contextWindowOf(this.#model);
        return [{ type: "done", usage: readUsage(objectIn(usage)), contextWindow }];
      }
      case "response.incomplete": {
        const { reason } = objectIn(objectIn(event.response).incomplete_details);
        throw cutShort(this.#settings.name, textIn(reason));
      }
      case "response.failed":
      case "error": {
        const error = objectIn(objectIn(event.response).error ?? event.error ?? event);
        const complaint = { code: textIn(error.code), message: textIn(error.message) };
        throw complaintFault(this.#settings, this.#model, complaint);
      }
      default:
        return [];
    }
  }

  end(): never {
    throw disconnected(this.#settings, "it ended before response.completed");
  }
}

interface OpenItem {
  readonly itemId: string;
  readonly kind: string;
  /** How the server refers to the item: by ID or by index. */
  readonly id: unknown;
  readonly index: unknown;
}

/** Assembles the items of one answer. Other servers with this API may omit IDs, indexes or events. */
class Output {
  readonly #ports: ModelPorts;
  readonly #open: OpenItem[] = [];

  constructor(ports: ModelPorts) {
    this.#ports = ports;
  }

  *itemAdded(event: Loose): Iterable<ModelEvent> {
    const item = objectIn(event.item);
    yield* this.#begin(textIn(item.type), item.id, event.output_index, item);
  }

  *textDelta(event: Loose): Iterable<ModelEvent> {
    const name = textIn(event.type);
    const kind = name.includes("reasoning") ? "reasoning" : "message";
    const text = textIn(event.delta);
    let open = this.#find(kind, event.item_id, event.output_index);
    if (open === undefined) {
      yield* this.#begin(kind, event.item_id, event.output_index, {});
      open = this.#open.at(-1)!;
    }
    const { itemId } = open;
    if (kind === "message") yield { type: "messageDelta", itemId, text };
    else if (name.includes("summary")) {
      yield { type: "reasoningSummaryDelta", itemId, index: count(event.summary_index), text };
    } else yield { type: "reasoningTextDelta", itemId, index: count(event.content_index), text };
  }

  *argumentsDelta(event: Loose): Iterable<ModelEvent> {
    const itemId = `call ${event.item_id ?? event.output_index}`;
    yield { type: "hiddenDelta", itemId, of: "call", text: textIn(event.delta) };
  }

  *itemDone(event: Loose): Iterable<ModelEvent> {
    const item = objectIn(event.item);
    const kind = textIn(item.type);
    const call = callOf(kind, item);
    if (call !== undefined) return yield { type: "toolCall", call };
    if (!SHOWN_KINDS.has(kind)) return;
    let open = this.#find(kind, item.id, event.output_index);
    if (open === undefined) {
      yield* this.#begin(kind, item.id, event.output_index, item);
      open = this.#open.at(-1)!;
    }
    this.#open.splice(this.#open.indexOf(open), 1);
    yield completed(open.itemId, kind, item);
  }

  *#begin(kind: string, id: unknown, index: unknown, item: Loose): Iterable<ModelEvent> {
    if (!SHOWN_KINDS.has(kind)) return;
    const itemId = this.#ports.platform.ids.uuid();
    this.#open.push({ itemId, kind, id, index });
    if (kind === "message") yield { type: "messageStarted", itemId, phase: phaseOf(item) };
    else if (kind === "reasoning") yield { type: "reasoningStarted", itemId };
    else yield { type: "webSearchStarted", itemId, action: searchAction(item) };
  }

  #find(kind: string, id: unknown, index: unknown): OpenItem | undefined {
    const open = this.#open.filter((one) => one.kind === kind);
    return (
      open.find((one) => id !== undefined && one.id === id) ??
      open.find((one) => index !== undefined && one.index === index) ??
      open.findLast((one) => id === undefined || one.id === undefined)
    );
  }
}

const SHOWN_KINDS: ReadonlySet<string> = new Set(["message", "reasoning", "web_search_call"]);

function completed(itemId: string, kind: string, item: Loose): ModelEvent {
  switch (kind) {
    case "message": {
      const text = arrayIn(item.content).map((part) => textIn(part.text ?? part.refusal));
      return { type: "messageDone", itemId, text: text.join(""), phase: phaseOf(item) };
    }
    case "reasoning":
      return {
        type: "reasoningDone",
        itemId,
        summary: arrayIn(item.summary).map((part) => textIn(part.text)),
        content: arrayIn(item.content).map((part) => textIn(part.text)),
        carry: textIn(item.encrypted_content) || undefined,
      };
    default: {
      const { id: _, ...carry } = item;
      return { type: "webSearchDone", itemId, action: searchAction(item), carry };
    }
  }
}

function callOf(kind: string, item: Loose) {
  if (kind === "tool_search_call") {
    const args = JSON.stringify(objectIn(item.arguments));
    const callId = textIn(item.call_id) || textIn(item.id);
    return { callId, name: TOOL_SEARCH, namespace: null, arguments: args, kind: "function" as const };
  }
  if (kind !== "function_call" && kind !== "custom_tool_call") return undefined;
  const custom = kind === "custom_tool_call";
  return {
    callId: textIn(item.call_id) || textIn(item.id),
    name: textIn(item.name),
    namespace: textIn(item.namespace) || null,
    arguments: textIn(custom ? item.input : item.arguments),
    kind: custom ? ("custom" as const) : ("function" as const),
  };
}

function searchAction(item: Loose): WebSearchAction {
  const action = objectIn(item.action);
  const text = (name: string) => textIn(action[name]) || null;
  switch (action.type) {
    case "search": {
      const queries = Array.isArray(action.queries) ? action.queries.map(String) : null;
      return { type: "search", query: text("query"), queries };
    }
    case "open_page":
      return { type: "openPage", url: text("url") };
    case "find_in_page":
    case "find":
      return { type: "findInPage", url: text("url"), pattern: text("pattern") };
    default:
      return { type: "other" };
  }
}

function phaseOf({ phase }: Loose): MessagePhase | null {
  return phase === "commentary" || phase === "partial_answer" || phase === "final_answer" ? phase : null;
}

function readUsage(usage: Loose) {
  return usageOf({
    input: usage.input_tokens,
    cached: objectIn(usage.input_tokens_details).cached_tokens,
    output: usage.output_tokens,
    reasoning: objectIn(usage.output_tokens_details).reasoning_tokens,
  });
}
