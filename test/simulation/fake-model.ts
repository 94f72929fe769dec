import type { TokenUsageBreakdown } from "@bobbin/protocol";
import type { ToolCall } from "../../packages/host/src/core/turn/records.ts";
import type {
  ModelEvent,
  ModelProvider,
  ModelRequest,
  ModelStream,
} from "../../packages/host/src/model/model.ts";
import type { Random } from "./random.ts";
import type { Owner, Scheduler } from "./scheduler.ts";

/** The next step of a scripted model. Each step is a separate task, so that anything can happen in between. */
type ModelStep =
  /** A message in pieces. */
  | { readonly do: "say"; readonly pieces: readonly string[] }
  /** A message that starts and does not end; its pieces may be endless. */
  | { readonly do: "mumble"; readonly pieces: Iterable<string> }
  /** Calls a tool. Without an ID, the call gets a unique one. */
  | {
      readonly do: "call";
      readonly name: string;
      readonly namespace?: string;
      readonly args: unknown;
      readonly callId?: string;
    }
  | { readonly do: "pause"; readonly ms: number }
  /** Says which model answers. */
  | { readonly do: "serve"; readonly model: string }
  /** `retries`: how often a retry may help. `tooLong`: the conversation exceeds the context window. */
  | {
      readonly do: "fail";
      readonly message: string;
      readonly retries?: number;
      readonly tooLong?: boolean;
    }
  | { readonly do: "throw"; readonly message: string }
  /** Never goes on by itself. */
  | { readonly do: "hang" }
  /** Ends the stream without an end event. */
  | { readonly do: "stop" };

export interface ModelScript {
  readonly steps: readonly ModelStep[];
  /** The tokens that the conversation takes, as reported at the end; 3 by default. The window has 1000. */
  readonly tokens?: number;
  /** Whether the answer comes in one piece, with its end. */
  readonly atOnce?: boolean;
  /** Whether the model continues when it is aborted. */
  readonly ignoresAbort?: boolean;
}

export type ModelScripts = (request: ModelRequest, random: Random, call: number) => ModelScript;

const USAGE: TokenUsageBreakdown = {
  totalTokens: 3,
  inputTokens: 2,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 1,
  reasoningOutputTokens: 0,
};

/** Answers with one or two short messages. */
export const talkative: ModelScripts = (_request, random, call) => {
  const count = random.pick([1, 1, 2]);
  const steps = Array.from({ length: count }, (_, message): ModelStep => {
    const pieces = Array.from({ length: random.between(0, 5) }, (_, piece) => `${call}.${message}.${piece} `);
    return { do: "say", pieces };
  });
  return { steps };
};

/** The model, which is outside of the host and does not die with it. */
export class FakeModel {
  readonly #scheduler: Scheduler;
  scripts: ModelScripts = talkative;
  calls = 0;
  /** The client IDs of inputs that a completed model call contained. */
  readonly answered = new Set<string>();

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
  }

  provider(id: string, owner: Owner): ModelProvider {
    return {
      id,
      models: async () => [],
      stream: (request, signal) => this.#stream(request, signal, owner),
    };
  }

  async *#stream(request: ModelRequest, signal: AbortSignal, owner: Owner): ModelStream {
    const call = ++this.calls;
    const script = this.scripts(request, this.#scheduler.random, call);
    const events = this.#play(request, signal, owner, { call, script });
    if (!script.atOnce) return yield* events;
    const whole: ModelEvent[] = [];
    for await (const together of events) whole.push(...together);
    yield whole;
  }

  async *#play(
    request: ModelRequest,
    signal: AbortSignal,
    owner: Owner,
    { call, script }: { readonly call: number; readonly script: ModelScript },
  ): ModelStream {
    const wait = (label: string, ms?: number) => this.#wait(call, label, ms, script, signal, owner);
    let message = 0;
    for (const step of script.steps) {
      switch (step.do) {
        case "say":
        case "mumble": {
          const itemId = `item-${call}-${++message}`;
          await wait("message starts");
          yield [{ type: "messageStarted", itemId }];
          for (const text of step.pieces) {
            await wait("piece");
            yield [{ type: "messageDelta", itemId, text }];
          }
          if (step.do === "mumble") break;
          await wait("message ends");
          yield [{ type: "messageDone", itemId, text: step.pieces.join("") }];
          break;
        }
        case "call": {
          const { name, args, namespace = null, callId = `call-${call}-${++message}` } = step;
          await wait("call");
          const called = { callId, name, namespace, arguments: JSON.stringify(args), kind: "function" };
          yield [{ type: "toolCall", call: called as ToolCall }];
          break;
        }
        case "pause":
          await wait("pause", step.ms);
          break;
        case "serve":
          await wait("serve");
          yield [{ type: "servedBy", model: step.model }];
          break;
        case "hang":
          await wait("hang", Number.POSITIVE_INFINITY);
          break;
        case "stop":
          await wait("stop");
          return;
        case "throw":
          await wait("throw");
          throw new Error(step.message);
        case "fail": {
          await wait("fail");
          const codexErrorInfo = step.tooLong ? "contextWindowExceeded" : "other";
          const error = { message: step.message, codexErrorInfo } as const;
          const retry = step.retries === undefined ? undefined : { of: step.retries };
          yield [{ type: "failed", error: { ...error, additionalDetails: null, misalignment: null }, retry }];
          return;
        }
      }
    }
    await wait("done");
    for (const item of request.context) {
      if (item.type === "message" && item.clientId) this.answered.add(item.clientId);
    }
    const inputTokens = (script.tokens ?? USAGE.totalTokens) - USAGE.outputTokens;
    const usage = { ...USAGE, inputTokens, totalTokens: inputTokens + USAGE.outputTokens };
    yield [{ type: "done", usage, contextWindow: 1000 }];
  }

  #wait(
    call: number,
    label: string,
    ms: number | undefined,
    { ignoresAbort }: ModelScript,
    signal: AbortSignal,
    owner: Owner,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => reject(signal.reason);
      const go = () => {
        signal.removeEventListener("abort", stop);
        if (owner.alive) resolve();
      };
      const source = `model ${call}`;
      if (ms === undefined) this.#scheduler.post(source, label, go);
      else if (Number.isFinite(ms)) this.#scheduler.after(ms, source, label, go);
      if (ignoresAbort) return;
      if (signal.aborted) stop();
      else signal.addEventListener("abort", stop, { once: true });
    });
  }
}
