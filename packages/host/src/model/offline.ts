import type { Model } from "@bobbin/protocol";
import type { Ids, Platform, Timers } from "../platform/platform.ts";
import { outputText } from "./context-conversion.ts";
import {
  type ContextItem,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
  type ModelStream,
  OFFLINE_MODEL,
} from "./model.ts";
import { OFFLINE_WORDS, type OfflineReaction, reactionTo } from "./offline-commands.ts";

const CONTEXT_WINDOW = 128_000;

/** Limit on the part of a tool's output that the model repeats. */
const MAX_OUTPUT_CHARACTERS = 8_000;

/** How long the model waits for a helper. */
const HELPER_MS = 10 * 60_000;

/**
 * The built-in model, which needs no key and no network, and has no intelligence. It makes a first conversation
 * possible on a new machine, explains what it is, and calls tools by fixed commands.
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
  const userText = lastUserText(context);
  const newCallId = (): string => `call_${ids.uuid()}`;
  const reaction = endsWithUserMessage(context)
    ? reactionTo(userText, request.tools, newCallId)
    : waitForHelper(context, request.tools, newCallId);
  const inputTokens = tokens(context.map(textOf).join("\n"));
  if (reaction?.kind === "call") {
    const { call } = reaction;
    yield [{ type: "toolCall", call }, done(inputTokens, tokens(call.arguments))];
    return;
  }
  const itemId = ids.uuid();
  const pace = pacing(userText);
  const report = reaction === undefined ? outputReport(context) : undefined;
  const text = reaction?.kind === "say" ? reaction.text : (report ?? answer(userText, request));
  yield [{ type: "messageStarted", itemId }];
  // A tool's output may be long, so it is streamed line by line. Other text is streamed word by word.
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

/** Whether the last item is a user message. If not, the message was already handled. */
function endsWithUserMessage(items: readonly ContextItem[]): boolean {
  const last = items.findLast((item) => item.type !== "message" || item.role !== "developer");
  return last !== undefined && isUserMessage(last);
}

/** Calls `wait_agent` for a helper that was just started. Otherwise the turn would end before the helper. */
function waitForHelper(
  items: readonly ContextItem[],
  tools: ModelRequest["tools"],
  newCallId: () => string,
): OfflineReaction | undefined {
  const last = items.findLast((item) => item.type === "toolOutput");
  const call = items.findLast((item) => item.type === "toolCall" && item.callId === last?.callId);
  if (last === undefined || call?.type !== "toolCall" || call.name !== "spawn_agent") return undefined;
  const helper = jsonOf(outputText(last.output)).agent_id;
  if (typeof helper !== "string" || !tools.some((tool) => "name" in tool && tool.name === "wait_agent"))
    return undefined;
  const args = JSON.stringify({ targets: [helper], timeout_ms: HELPER_MS });
  const wait = { ...call, callId: newCallId(), name: "wait_agent", arguments: args };
  const { type: _, ...waitArguments } = wait;
  return { kind: "call", call: waitArguments };
}

/** The last message of a helper that completed; undefined if it did not complete. */
function helperAnswer(text: string): string | undefined {
  const [state] = Object.values((jsonOf(text).status ?? {}) as Record<string, unknown>);
  const { completed } = (state ?? {}) as { readonly completed?: unknown };
  return typeof completed === "string" ? completed : undefined;
}

function jsonOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null ? (json as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The tool outputs since the model's last message, as text; undefined if there are none. */
function outputReport(items: readonly ContextItem[]): string | undefined {
  const names = new Map(
    items.flatMap((item) => (item.type === "toolCall" ? [[item.callId, item.name]] : [])),
  );
  const since = items.findLastIndex((item) => item.type === "message" && item.role !== "developer");
  const hasWaited = items
    .slice(since + 1)
    .some((item) => item.type === "toolCall" && item.name === "wait_agent");
  const outputs = items.slice(since + 1).flatMap((item) => {
    if (item.type !== "toolOutput") return [];
    const name = names.get(item.callId) ?? "the tool";
    const text = outputText(item.output).trimEnd();
    const answer = name === "wait_agent" ? helperAnswer(text) : undefined;
    if (answer !== undefined) return [`The helper says:\n\n${shortened(answer)}`];
    if (name === "spawn_agent" && item.success && hasWaited) return [];
    if (text === "") return [`\`${name}\` ${item.success ? "succeeded" : "failed"} and says nothing.`];
    return [`\`${name}\` ${item.success ? "gave this:" : "failed:"}\n\n${fenced(shortened(text))}`];
  });
  return outputs.length === 0 ? undefined : outputs.join("\n\n");
}

function shortened(text: string): string {
  if (text.length <= MAX_OUTPUT_CHARACTERS) return text;
  return `${text.slice(0, MAX_OUTPUT_CHARACTERS)}\n(… ${text.length - MAX_OUTPUT_CHARACTERS} more characters)`;
}

/** Wraps text in a code fence that is longer than any fence in it. */
function fenced(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
  const fence = "`".repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

function answer(userText: string, { context, tools }: ModelRequest): string {
  const turns = context.filter((item) => isUserMessage(item)).length;
  const echo = userText === "" ? "Your message has no text that I could echo." : `You said: ${userText}`;
  if (turns > 1) return `${echo}\n\n(Offline model, message ${turns} of this thread.)`;
  return [
    "This is Bobbin's built-in offline model: it needs no key and no network, and it does not think.",
    echo,
    ...invitation(tools),
    "To talk to a real model, set `model_provider` in config.toml.",
  ].join("\n\n");
}

/** The commands that work in this thread; empty if it has no tools. */
function invitation(tools: ModelRequest["tools"]): readonly string[] {
  const names = new Set(tools.map((tool) => (tool.kind === "webSearch" ? null : tool.name)));
  if (tools.length === 0) return [];
  const words = OFFLINE_WORDS.filter(({ tool }) => tool === null || names.has(tool));
  return [`It uses tools when you ask in these words:\n${words.map(({ say }) => `- ${say}`).join("\n")}`];
}

/** The word "slowly" in a message makes the answer stream slowly, to try out interrupts and reconnects. */
function pacing(userText: string): number {
  return /\bslowly\b/i.test(userText) ? 150 : 0;
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
