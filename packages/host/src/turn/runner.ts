import type { TurnError } from "@bobbin/protocol";
import type { SampleOutcome } from "../core/commands.ts";
import { type CallEffect, next, type SampleEffect, type StartQueuedEffect } from "../core/next.ts";
import type { ThreadState } from "../core/state.ts";
import type { ModelEvent, ModelProvider, ModelRequest } from "../model/model.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Platform } from "../platform/platform.ts";
import type { Actor } from "../thread/actor.ts";
import { refusal, type Step } from "../tool/tool.ts";
import type { Toolbox } from "../tool/toolbox.ts";
import { AnswerWriter } from "./answer.ts";
import { backoff } from "./backoff.ts";
import { conversation } from "./context.ts";
import { baseInstructions, preamble } from "./instructions.ts";
import type { Pasts } from "./past.ts";
import { userParts } from "./user-parts.ts";

/** What a runner needs from around it. */
export interface RunnerPorts {
  readonly platform: Platform;
  readonly supervisor: Supervisor;
  /** The shell that people use here, for the model to know. */
  readonly shell: string;
  readonly pasts: Pasts;
  readonly toolbox: Toolbox;
  /** Whether models that can search the web by themselves may, and whether in what is there now. */
  readonly webSearch: "live" | "cached" | null;
  provider(id: string): ModelProvider;
}

/** Why an effect is aborted: made once, because most have ended by then, and an error of their own would be for nobody. */
const OVER = new Error("no longer asked for");

/**
 * Performs one thread's effects: what `next` names is started, what it no longer names is aborted, and every
 * outcome goes back to the thread as a command. Holds nothing that the journal does not know.
 */
export class Runner {
  readonly #actor: Actor;
  readonly #ports: RunnerPorts;
  readonly #running = new Map<string, AbortController>();

  constructor(actor: Actor, ports: RunnerPorts) {
    this.#actor = actor;
    this.#ports = ports;
  }

  /** Called after each change of the thread's state. */
  reconcile(state: ThreadState): void {
    const { supervisor } = this.#ports;
    const wanted = next(state);
    for (const [key, controller] of this.#running) {
      if (wanted.some((effect) => effect.key === key)) continue;
      this.#running.delete(key);
      controller.abort(OVER);
    }
    for (const effect of wanted) {
      if (this.#running.has(effect.key)) continue;
      const controller = new AbortController();
      this.#running.set(effect.key, controller);
      const { signal } = controller;
      if (effect.kind === "startQueued") this.#startQueued(effect);
      else if (effect.kind === "continueGoal") this.#continueGoal();
      else if (effect.kind === "call") supervisor.take(effect.key, this.#call(effect, state, signal));
      else supervisor.take(effect.key, this.#sample(effect, state, signal));
    }
  }

  async #sample(effect: SampleEffect, state: ThreadState, signal: AbortSignal): Promise<void> {
    const { platform, supervisor } = this.#ports;
    let failure = "The model ended its answer without saying that it was done.";
    try {
      if (effect.due !== null) await waitUntil(effect.due, platform, signal);
      if (await this.#answer(effect, state, signal)) return;
    } catch (cause) {
      if (signal.aborted) return;
      supervisor.report("model stream", cause);
      failure = cause instanceof Error ? cause.message : String(cause);
    }
    if (!signal.aborted) this.#sampled(effect, failed(failure));
  }

  /** False if the model did not say how it ended. */
  async #answer(effect: SampleEffect, state: ThreadState, signal: AbortSignal): Promise<boolean> {
    const { turnId, attempt } = effect;
    const { platform } = this.#ports;
    const provider = this.#ports.provider(state.settings.modelProvider);
    const writer = new AnswerWriter(this.#actor, platform.clock, { turnId, attempt, provider: provider.id });
    const stream = provider.stream(await this.#request(state), signal);
    for await (const events of untilAborted(stream, signal)) {
      if (signal.aborted) return false;
      for (const event of events) {
        const end = writer.take(event);
        if (end === undefined) continue;
        // In the same breath as what came with it, so that both are one commit.
        this.#sampled(effect, "kind" in end ? end : this.#failure(end, state));
        return true;
      }
    }
    return false;
  }

  #failure({ error, retry }: Extract<ModelEvent, { type: "failed" }>, { turn }: ThreadState): SampleOutcome {
    if (retry === undefined) return { kind: "failed", error };
    const afterMs = backoff(retry, turn?.retries ?? 0, this.#ports.platform.ids);
    return { kind: "failed", error, retry: { of: retry.of, afterMs } };
  }

  #sampled({ turnId, attempt }: SampleEffect, outcome: SampleOutcome): void {
    const at = this.#ports.platform.clock.now();
    this.#actor.offer({ kind: "sampled", at, turnId, attempt, outcome });
  }

  async #request(state: ThreadState): Promise<ModelRequest> {
    const { platform, shell, pasts, webSearch } = this.#ports;
    const { settings, turn, facts } = state;
    const past = await pasts.read(this.#actor.journal, this.#actor.head);
    const said = await conversation(past, settings.modelProvider, ({ content }) =>
      userParts(content, settings.cwd, platform.files),
    );
    return {
      model: settings.model,
      effort: settings.effort,
      summary: settings.summary,
      serviceTier: settings.serviceTier,
      outputSchema: turn?.outputSchema ?? null,
      instructions: baseInstructions(state),
      context: [...preamble(state, { now: platform.clock.now(), shell }), ...said],
      tools: [
        ...this.#ports.toolbox.specs(state),
        ...(webSearch === null ? [] : [{ kind: "webSearch", live: webSearch === "live" } as const]),
      ],
      parallelToolCalls: true,
      promptCacheKey: facts.id,
    };
  }

  #startQueued({ id }: StartQueuedEffect): void {
    const { clock, ids } = this.#ports.platform;
    const fresh = { turnId: ids.uuid(), userItemId: ids.uuid() };
    this.#actor.offer({ kind: "startQueued", at: clock.now(), id, ...fresh, asked: false });
  }

  #continueGoal(): void {
    const { clock, ids } = this.#ports.platform;
    this.#actor.offer({ kind: "continueGoal", at: clock.now(), turnId: ids.uuid() });
  }

  /** Takes a call one step further. Whatever a tool does, the model gets an answer. */
  async #call(effect: CallEffect, state: ThreadState, signal: AbortSignal): Promise<void> {
    const { platform, supervisor, toolbox } = this.#ports;
    const { turnId, call, stage, due } = effect;
    let step: Step;
    try {
      if (due !== null) await waitUntil(due, platform, signal);
      step = await nextStep(toolbox, effect, state, platform.clock.now(), signal);
    } catch (cause) {
      if (signal.aborted) return;
      supervisor.report(`tool ${call.name}`, cause);
      step = refusal(`The tool failed: ${cause instanceof Error ? cause.message : String(cause)}`);
    }
    if (signal.aborted) return;
    this.#actor.offer({
      kind: "stepCall",
      at: platform.clock.now(),
      turnId,
      callId: call.callId,
      from: stage.kind,
      step: step.kind === "ask" ? { ...step, requestId: platform.ids.integer() } : step,
    });
  }
}

async function nextStep(
  toolbox: Toolbox,
  { turnId, call, stage }: CallEffect,
  thread: ThreadState,
  now: number,
  signal: AbortSignal,
): Promise<Step> {
  const found = await toolbox.find(thread, call);
  if ("refused" in found) return found.refused;
  const { tool, args } = found;
  const shown = thread.turn?.open.find(({ id }) => id === call.callId);
  const invocation = { thread, turnId, call, args, startedAt: shown?.startedAtMs ?? now, now };
  switch (stage.kind) {
    case "proposed":
      return tool.begin(invocation);
    case "heard":
      return tool.heard!(invocation, stage.method, stage.answer);
    case "dispatched":
      return tool.perform!(invocation, signal);
    case "waiting":
      return tool.late?.(invocation) ?? refusal("The tool did not answer in time.");
    default:
      throw new Error(`a call that is ${stage.kind} has no next step`);
  }
}

function failed(message: string): SampleOutcome {
  const error: TurnError = { message, codexErrorInfo: "other", additionalDetails: null, misalignment: null };
  return { kind: "failed", error };
}

/** The stream up to the abort, also if it does not care: whoever waits for us must not have to wait for it. */
async function* untilAborted<T>(stream: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  const events = stream[Symbol.asyncIterator]();
  let stop = (): void => {};
  const aborted = (): void => stop();
  signal.addEventListener("abort", aborted, { once: true });
  try {
    while (!signal.aborted) {
      const step = await new Promise<IteratorResult<T> | undefined>((resolve, reject) => {
        stop = () => resolve(undefined);
        events.next().then(resolve, reject);
      });
      if (step === undefined || step.done) return;
      yield step.value;
    }
  } finally {
    signal.removeEventListener("abort", aborted);
    // Not awaited: a stream that hangs would never say that it has returned.
    events.return?.().catch(() => {});
  }
}

function waitUntil(due: number, { clock, timers }: Platform, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = timers.after(Math.max(0, due - clock.now()), () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    const stop = (): void => {
      cancel();
      reject(signal.reason as Error);
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
