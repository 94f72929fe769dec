import type { Model } from "@bobbin/protocol";
import type { Ids, Platform, Timers } from "../platform/platform.ts";
import {
  type ContextItem,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
  type ModelStream,
  OFFLINE_MODEL,
} from "./model.ts";
import { OFFLINE_WORDS, reactionTo } from "./offline-request.ts";
import { outputText } from "./plain-context.ts";

const CONTEXT_WINDOW = 128_000;

/** What the model repeats of a tool's output. */
const MAX_OUTPUT_CHARACTERS = 8_000;

/**
 * The built-in model: no key, no network, no intelligence. It makes a first conversation possible on a bare
 * machine, says what it is, and calls tools when it is asked to in fixed words.
 */
export function offlineProvider({ timers, ids }: Platform): ModelProvider {
  return {
    id: OFFLINE_MODEL,
    models: async () => [description],
    reviewProblem:
      'the built-in offline model cannot judge approvals. Configure a model provider, or set approvals_reviewer = "user"',
    stream: (request, signal) => stream(timers, ids, request, signal),
  };
}

const description: Model = {
  id: OFFLINE_MODEL,
  model: OFFLINE_MODEL,
  upgrade: null,
  upgradeInfo: null,
  availabilityNux: null,
  displayName: "Offline (built in)",
  description:
    "Not a language model: a built-in stand-in that echoes and calls tools on request, for trying things out without a key.",
  modelSpecialty: null,
  hidden: false,
  supportedReasoningEfforts: [{ reasoningEffort: "none", description: "It does not reason." }],
  defaultReasoningEffort: "none",
  inputModalities: ["text"],
  supportsPersonality: false,
  multiAgentVersion: null,
  additionalSpeedTiers: [],
  serviceTiers: [],
  defaultServiceTier: null,
  availableAccessPrograms: null,
  isDefault: true,
};

async function* stream(timers: Timers, ids: Ids, request: ModelRequest, signal: AbortSignal): ModelStream {
  const { context } = request;
  const said = lastUserText(context);
  const reaction = isAsked(context) ? reactionTo(said, request.tools, () => `call_${ids.uuid()}`) : undefined;
  const inputTokens = tokens(context.map(textOf).join("\n"));
  if (reaction?.kind === "call") {
    const { call } = reaction;
    yield [{ type: "toolCall", call }, done(inputTokens, tokens(call.arguments))];
    return;
  }
  const itemId = ids.uuid();
  const pace = pacing(said);
  const report = reaction === undefined ? reported(context) : undefined;
  const text = reaction?.kind === "say" ? reaction.text : (report ?? answer(said, request));
  yield [{ type: "messageStarted", itemId }];
  // A tool's output can be long: it comes line by line, everything else word by word.
  const pieces = text.match(text === report ? /.*\n|.+$/g : /\s*\S+\s*/g) ?? [text];
  for (const piece of pieces) {
    await pause(timers, pace, signal);
    yield [{ type: "messageDelta", itemId, text: piece }];
  }
  yield [{ type: "messageDone", itemId, text }, done(inputTokens, tokens(text))];
}

function done(inputTokens: number, outputTokens: number): ModelEvent {
  const usage = {
    totalTokens: inputTokens + outputTokens,
    inputTokens,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    outputTokens,
    reasoningOutputTokens: 0,
  };
  return { type: "done", usage, contextWindow: CONTEXT_WINDOW };
}

/** Whether a message of the user is what comes last: else it was reacted to already. */
function isAsked(items: readonly ContextItem[]): boolean {
  const last = items.findLast((item) => item.type !== "message" || item.role !== "developer");
  return last !== undefined && isUserMessage(last);
}

/** The outputs that came since the model last said something; undefined if there are none. */
function reported(items: readonly ContextItem[]): string | undefined {
  const names = new Map(
    items.flatMap((item) => (item.type === "toolCall" ? [[item.callId, item.name]] : [])),
  );
  const since = items.findLastIndex((item) => item.type === "message" && item.role !== "developer");
  const outputs = items.slice(since + 1).flatMap((item) => {
    if (item.type !== "toolOutput") return [];
    const name = names.get(item.callId) ?? "the tool";
    const text = outputText(item.output).trimEnd();
    if (text === "") return [`\`${name}\` ${item.success ? "succeeded" : "failed"} and says nothing.`];
    return [`\`${name}\` ${item.success ? "gave this:" : "failed:"}\n\n${fenced(shortened(text))}`];
  });
  return outputs.length === 0 ? undefined : outputs.join("\n\n");
}

function shortened(text: string): string {
  if (text.length <= MAX_OUTPUT_CHARACTERS) return text;
  return `${text.slice(0, MAX_OUTPUT_CHARACTERS)}\n(… ${text.length - MAX_OUTPUT_CHARACTERS} more characters)`;
}

/** In a fence that is longer than any in the text. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function answer(said: string, { context, tools }: ModelRequest): string {
  const turns = context.filter((item) => isUserMessage(item)).length;
  const echo = said === "" ? "Your message has no text that I could echo." : `You said: ${said}`;
  if (turns > 1) return `${echo}\n\n(Offline model, message ${turns} of this thread.)`;
  return [
    "This is Bobbin's built-in offline model: it needs no key and no network, and it does not think.",
    echo,
    ...invitation(tools),
    "To talk to a real model, set `model_provider` in config.toml.",
  ].join("\n\n");
}

/** The words that work in this thread, if it has tools. */
function invitation(tools: ModelRequest["tools"]): readonly string[] {
  const names = new Set(tools.map((tool) => (tool.kind === "webSearch" ? null : tool.name)));
  if (tools.length === 0) return [];
  const words = OFFLINE_WORDS.filter(({ tool }) => tool === null || names.has(tool));
  return [`It uses tools when you ask in these words:\n${words.map(({ say }) => `- ${say}`).join("\n")}`];
}

/** "slowly" in the message makes it stream like a real one: good for trying interrupt and reconnect. */
function pacing(said: string): number {
  return /\bslowly\b/i.test(said) ? 150 : 0;
}

function lastUserText(items: readonly ContextItem[]): string {
  const last = items.findLast((item) => isUserMessage(item));
  return last === undefined ? "" : textOf(last);
}

function isUserMessage(item: ContextItem): boolean {
  return item.type === "message" && item.role === "user";
}

function textOf(item: ContextItem): string {
  if (item.type !== "message" || item.role === "developer") return "";
  return item.parts
    .map((part) => (part.type === "text" ? part.text : ""))
    .filter((part) => part !== "")
    .join("\n");
}

function tokens(text: string): number {
  return Math.ceil(text.length / 4);
}

function pause(timers: Timers, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      cancel();
      reject(signal.reason);
    };
    const go = () => {
      signal.removeEventListener("abort", stop);
      resolve();
    };
    let cancel = () => {};
    if (ms > 0) cancel = timers.after(ms, go);
    else timers.soon(go);
    signal.addEventListener("abort", stop, { once: true });
  });
}
