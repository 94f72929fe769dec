import type { Model } from "@bobbin/protocol";
import type { Platform, Timers } from "../platform/platform.ts";
import {
  type ContextItem,
  type ModelProvider,
  type ModelRequest,
  type ModelStream,
  OFFLINE_MODEL,
} from "./model.ts";

const CONTEXT_WINDOW = 128_000;

/**
 * The built-in model: no key, no network, no intelligence. It makes a first conversation possible on a bare
 * machine, and says what it is.
 */
export function offlineProvider({ timers, ids }: Platform): ModelProvider {
  return {
    id: OFFLINE_MODEL,
    models: async () => [description],
    stream: (request, signal) => stream(timers, ids.uuid(), request, signal),
  };
}

const description: Model = {
  id: OFFLINE_MODEL,
  model: OFFLINE_MODEL,
  upgrade: null,
  upgradeInfo: null,
  availabilityNux: null,
  displayName: "Offline (built in)",
  description: "Not a language model: a built-in stand-in that echoes, for trying things out without a key.",
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

async function* stream(
  timers: Timers,
  itemId: string,
  request: ModelRequest,
  signal: AbortSignal,
): ModelStream {
  const said = lastUserText(request.context);
  const pace = pacing(said);
  const text = answer(said, request.context);
  yield [{ type: "messageStarted", itemId }];
  for (const word of text.match(/\s*\S+\s*/g) ?? [text]) {
    await pause(timers, pace, signal);
    yield [{ type: "messageDelta", itemId, text: word }];
  }
  const inputTokens = tokens(request.context.map(textOf).join("\n"));
  const outputTokens = tokens(text);
  const usage = {
    totalTokens: inputTokens + outputTokens,
    inputTokens,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    outputTokens,
    reasoningOutputTokens: 0,
  };
  yield [
    { type: "messageDone", itemId, text },
    { type: "done", usage, contextWindow: CONTEXT_WINDOW },
  ];
}

function answer(said: string, items: readonly ContextItem[]): string {
  const turns = items.filter((item) => isUserMessage(item)).length;
  const echo = said === "" ? "Your message has no text that I could echo." : `You said: ${said}`;
  if (turns > 1) return `${echo}\n\n(Offline model, message ${turns} of this thread.)`;
  return [
    "This is Bobbin's built-in offline model: it needs no key and no network, and it does not think.",
    echo,
    "To talk to a real model, set `model_provider` in config.toml.",
  ].join("\n\n");
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
