import type { ThreadItem, TurnError } from "@bobbin/protocol";
import type { SampleOutcome } from "../core/commands.ts";
import { type Effect, next } from "../core/next.ts";
import type { ThreadState } from "../core/state.ts";
import type { ModelEvent, ModelProvider } from "../model/model.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Platform } from "../platform/platform.ts";
import type { Actor } from "../thread/actor.ts";
import { readContext } from "./context.ts";

/**
 * Performs one thread's effects: what `next` names is started, what it no longer names is aborted, and every
 * outcome goes back to the thread as a command. Holds nothing that the journal does not know.
 */
export class Runner {
  readonly #actor: Actor;
  readonly #platform: Platform;
  readonly #provider: (id: string) => ModelProvider;
  readonly #supervisor: Supervisor;
  readonly #running = new Map<string, AbortController>();

  constructor(
    actor: Actor,
    platform: Platform,
    provider: (id: string) => ModelProvider,
    supervisor: Supervisor,
  ) {
    this.#actor = actor;
    this.#platform = platform;
    this.#provider = provider;
    this.#supervisor = supervisor;
  }

  /** Called after each change of the thread's state. */
  reconcile(state: ThreadState): void {
    const wanted = next(state);
    for (const [key, controller] of this.#running) {
      if (wanted.some((effect) => effect.key === key)) continue;
      this.#running.delete(key);
      controller.abort();
    }
    for (const effect of wanted) {
      if (this.#running.has(effect.key)) continue;
      const controller = new AbortController();
      this.#running.set(effect.key, controller);
      this.#supervisor.take(effect.key, this.#sample(effect, state, controller.signal));
    }
  }

  async #sample({ turnId, attempt }: Effect, state: ThreadState, signal: AbortSignal): Promise<void> {
    let outcome: SampleOutcome | undefined;
    const starts = new Map<string, number>();
    try {
      const { settings, load, docs, turn } = state;
      const items = await readContext(this.#actor.journal);
      const stream = this.#provider(settings.modelProvider).stream(
        { settings, load, docs, items, outputSchema: turn?.outputSchema },
        signal,
      );
      for await (const event of untilAborted(stream, signal)) {
        if (signal.aborted) return;
        outcome = this.#take({ turnId, attempt }, event, starts);
        if (outcome !== undefined) break;
      }
      if (signal.aborted) return;
      outcome ??= failed("The model ended its answer without saying that it was done.");
    } catch (cause) {
      if (signal.aborted) return;
      this.#supervisor.report("model stream", cause);
      outcome = failed(cause instanceof Error ? cause.message : String(cause));
    }
    this.#actor.offer({ kind: "sampled", at: this.#platform.clock.now(), turnId, attempt, outcome });
  }

  /** One event of the model; the last one gives the outcome. */
  #take(
    { turnId, attempt }: { readonly turnId: string; readonly attempt: number },
    event: ModelEvent,
    starts: Map<string, number>,
  ): SampleOutcome | undefined {
    const at = this.#platform.clock.now();
    switch (event.type) {
      case "messageStarted": {
        starts.set(event.itemId, at);
        const item = agentMessage(event.itemId, "", at);
        this.#actor.offer({ kind: "itemStarted", at, turnId, attempt, item });
        return undefined;
      }
      case "messageDelta":
        this.#actor.text("item/agentMessage/delta", { turnId, itemId: event.itemId }, event.text);
        return undefined;
      case "messageDone": {
        const started = starts.get(event.itemId) ?? at;
        const item = { ...agentMessage(event.itemId, event.text, started), completedAtMs: at };
        this.#actor.offer({ kind: "itemCompleted", at, turnId, attempt, item });
        return undefined;
      }
      case "done":
        return { kind: "done", usage: event.usage, contextWindow: event.contextWindow };
      case "failed":
        return { kind: "failed", error: event.error };
    }
  }
}

function agentMessage(id: string, text: string, at: number): ThreadItem {
  return {
    type: "agentMessage",
    id,
    text,
    phase: null,
    memoryCitation: null,
    delivery: null,
    questions: null,
    startedAtMs: at,
    completedAtMs: null,
  };
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
