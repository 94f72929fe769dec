import type { TurnError } from "@bobbin/protocol";
import type { CallFailed, SampleOutcome, SummaryOutcome } from "../core/commands.ts";
import { isPlanning } from "../core/life/modes.ts";
import type { CompactEffect, SampleEffect } from "../core/next.ts";
import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import { coverage, mayCompact } from "../core/turn/compaction.ts";
import { textTokens } from "../core/turn/context-size.ts";
import { messageOf } from "../errors.ts";
import { type ContextItem, type ModelEvent, type ModelRequest, OFFLINE_MODEL } from "../model/model.ts";
import { contextWindowOf } from "../model/windows.ts";
import type { Actor } from "../thread/actor.ts";
import { AnswerWriter } from "./answer.ts";
import { backoff } from "./backoff.ts";
import { message } from "./context.ts";
import { HeldMessages } from "./held-messages.ts";
import { baseInstructions, preamble } from "./instructions.ts";
import { ItemWriter, type Sample } from "./item-writer.ts";
import { keptOf, keptTokens } from "./kept.ts";
import { PlanningMessages, ShownMessages } from "./messages.ts";
import type { RunnerPorts } from "./runner.ts";
import { coveredBy, inPlainWords, SUMMARY_PROMPT, saysAnything, tokensOf } from "./summary.ts";
import type { ThreadModel } from "./thread-model.ts";
import { waitUntil } from "./waiting.ts";

/** Near the end of its window a model gets worse, and the next answer has to fit, too. */
const FULL = 0.9;

/** Calls of the model for one thread: for an answer, or for a summary of what it would be shown. */
export class ModelCalls {
  readonly #actor: Actor;
  readonly #ports: RunnerPorts;
  readonly #model: ThreadModel;
  /** Resolves when clients were shown what the turn has changed so far; undefined if they were. */
  readonly #diffing: () => Promise<void> | undefined;

  constructor(
    actor: Actor,
    ports: RunnerPorts,
    model: ThreadModel,
    diffing: () => Promise<void> | undefined,
  ) {
    this.#actor = actor;
    this.#ports = ports;
    this.#model = model;
    this.#diffing = diffing;
  }

  async sample(effect: SampleEffect, state: ThreadState, signal: AbortSignal): Promise<void> {
    const outcome = await this.#attempt(effect, state, signal, async () => {
      const past = await this.#model.past();
      if (!this.#isFull(state, past)) return this.#answer(effect, state, past, signal);
      const { turnId, attempt } = effect;
      this.#actor.offer({ kind: "compactFirst", at: this.#now(), turnId, attempt });
      return "told";
    });
    if (outcome !== "told") this.#sampled(effect, outcome);
  }

  async compact(effect: CompactEffect, state: ThreadState, signal: AbortSignal): Promise<void> {
    const outcome = await this.#attempt(effect, state, signal, () => this.#summary(effect, state, signal));
    if (outcome === "told") return;
    const { turnId, attempt } = effect;
    this.#actor.offer({ kind: "summarised", at: this.#now(), turnId, attempt, outcome });
  }

  /** Whatever goes wrong is an outcome, too. */
  async #attempt<T>(
    { due }: Pick<SampleEffect, "due">,
    { lastAt }: ThreadState,
    signal: AbortSignal,
    call: () => Promise<T | undefined>,
  ): Promise<T | CallFailed | "told"> {
    const { platform, supervisor } = this.#ports;
    let failure = "The model ended its answer without saying that it was done.";
    try {
      if (due !== null) await waitUntil(due, lastAt, platform, signal);
      const later = this.#ports.work.turn(this.#actor);
      if (later !== undefined) await later;
      signal.throwIfAborted();
      const outcome = await call();
      if (outcome !== undefined) return outcome;
    } catch (cause) {
      if (signal.aborted) return "told";
      supervisor.report("model stream", cause);
      failure = messageOf(cause);
    }
    return signal.aborted ? "told" : failed(failure);
  }

  /** Undefined if the model did not say how it ended. */
  async #answer(
    effect: SampleEffect,
    state: ThreadState,
    past: readonly ThreadRecord[],
    signal: AbortSignal,
  ): Promise<"told" | undefined> {
    const { turnId, attempt } = effect;
    const provider = this.#ports.provider(state.settings.modelProvider);
    if (attempt === 1) this.#warnIfUnknown(state);
    const { limits } = this.#ports;
    const writer = this.#writer(state, { turnId, attempt, provider: provider.id, limits });
    const request = await this.#request(state, past);
    for await (const events of this.#model.listen(provider, request, state, signal)) {
      if (signal.aborted) return undefined;
      for (const event of events) {
        const end = writer.take(event);
        if (end === undefined) continue;
        // In the same breath as what came with it, so that both are one commit.
        this.#sampled(effect, "kind" in end ? this.#windowed(end, state) : this.#failure(end, state));
        return "told";
      }
    }
    return undefined;
  }

  #warnIfUnknown({ facts, settings }: ThreadState): void {
    const message = settings.modelProvider === OFFLINE_MODEL ? standIn(settings) : this.#noWindow(settings);
    if (message !== undefined) this.#actor.tell("warning", { threadId: facts.id, message });
  }

  /** Clients know the sentence by its beginning, and show it once. */
  #noWindow({ model, contextWindow }: ThreadState["settings"]): string | undefined {
    const window = contextWindow ?? this.#ports.models.contextWindow ?? contextWindowOf(model);
    if (window !== null) return undefined;
    return `Model metadata for \`${model}\` not found. Defaulting to fallback metadata; this can degrade performance and cause issues.`;
  }

  #writer({ settings, turn }: ThreadState, sample: Sample): AnswerWriter {
    const items = new ItemWriter(this.#actor, this.#ports.platform.clock, sample);
    if (turn?.kind === "review") return new AnswerWriter(items, new HeldMessages(items));
    return new AnswerWriter(
      items,
      isPlanning(settings) ? new PlanningMessages(items, turn?.plans ?? 0) : new ShownMessages(items),
    );
  }

  async #summary(
    effect: CompactEffect,
    state: ThreadState,
    signal: AbortSignal,
  ): Promise<SummaryOutcome | undefined> {
    const { models } = this.#ports;
    const { turnId, compacting } = effect;
    const covered = coveredBy(await this.#model.past(), { ...effect, ...compacting });
    if (state.turn?.kind !== "compact" && !saysAnything(covered)) {
      return failed("There is nothing before this turn that could be made shorter.");
    }
    const provider = this.#ports.provider(state.settings.modelProvider);
    const said = inPlainWords(await this.#model.conversation(state, covered), compacting);
    const request: ModelRequest = {
      ...(await this.#request(state, [])),
      outputSchema: null,
      context: [...this.#preamble(state), ...said, message("user", models.compactPrompt ?? SUMMARY_PROMPT)],
      tools: [],
    };
    const end = await this.#model.words(provider, request, state, signal);
    if (end === undefined) return undefined;
    if (end.kind === "failed") return this.#failure(end.event, state);
    const summary = end.text.trim();
    if (summary === "") return failed("The model was asked for a summary of the conversation and gave none.");
    const kept = keptOf(covered, turnId, this.#limit(state));
    const { usage, contextWindow } = this.#windowed(end.event, state);
    const contextTokens = tokensOf(this.#preamble(state)) + keptTokens(kept) + textTokens(summary.length);
    return { kind: "done", summary, kept, contextTokens, usage, contextWindow };
  }

  #failure({ error, retry }: Extract<ModelEvent, { type: "failed" }>, { turn }: ThreadState): CallFailed {
    if (retry === undefined) return { kind: "failed", error };
    const afterMs = backoff(retry, turn?.retries ?? 0, this.#ports.platform.ids);
    return { kind: "failed", error, retry: { of: retry.of, afterMs } };
  }

  /** An answer may end its turn: what that has changed is shown before. */
  #sampled(effect: SampleEffect, outcome: SampleOutcome): void {
    const diffing = this.#diffing();
    if (diffing !== undefined) {
      const sampled = () => this.#sampled(effect, outcome);
      // Who performs it reports why it failed.
      this.#ports.supervisor.take("an answer that waits for a diff", diffing.then(sampled, sampled));
      return;
    }
    const { turnId, attempt } = effect;
    this.#actor.offer({ kind: "sampled", at: this.#now(), turnId, attempt, outcome });
  }

  /** The conversation takes so much of the window that it is better made shorter first. */
  #isFull(state: ThreadState, past: readonly ThreadRecord[]): boolean {
    const { turn, contextTokens } = state;
    if (turn === null || !mayCompact(turn) || contextTokens < this.#limit(state)) return false;
    const { id: turnId, attempt } = turn;
    return saysAnything(coveredBy(past, { turnId, attempt, covers: coverage(turn) }));
  }

  /** How many tokens a conversation may have before it is made shorter. */
  #limit({ settings, usage }: ThreadState): number {
    const { models } = this.#ports;
    const contextWindow = settings.contextWindow ?? models.contextWindow;
    const autoCompactTokens = settings.autoCompactTokens ?? models.autoCompactTokens;
    const window = contextWindow ?? contextWindowOf(settings.model) ?? usage?.modelContextWindow;
    const full = window == null ? Number.POSITIVE_INFINITY : Math.floor(window * FULL);
    return Math.min(autoCompactTokens ?? Number.POSITIVE_INFINITY, full);
  }

  /** What people know better about the model's window than its name tells. */
  #windowed<O extends { readonly contextWindow: number | null }>(outcome: O, { settings }: ThreadState): O {
    const contextWindow = settings.contextWindow ?? this.#ports.models.contextWindow;
    return contextWindow === null ? outcome : { ...outcome, contextWindow };
  }

  async #request(state: ThreadState, past: readonly ThreadRecord[]): Promise<ModelRequest> {
    const { models, toolbox } = this.#ports;
    const { settings, turn, facts } = state;
    const unknown = toolbox.ready(state);
    if (unknown !== undefined) await unknown;
    const reviews = turn?.kind === "review";
    // A reviewer sees the work, not what led to it.
    const own = reviews ? past.filter((record) => "turnId" in record && record.turnId === turn.id) : past;
    return {
      model: (reviews ? models.reviewModel : null) ?? settings.model,
      effort: settings.effort,
      summary: settings.summary,
      verbosity: settings.verbosity ?? null,
      serviceTier: settings.serviceTier,
      outputSchema: turn?.outputSchema ?? null,
      instructions: baseInstructions(state),
      context: [...this.#preamble(state), ...(await this.#model.conversation(state, own))],
      tools: [
        ...toolbox.specs(state),
        ...(models.webSearch === null || reviews
          ? []
          : [{ kind: "webSearch", live: models.webSearch === "live" } as const]),
      ],
      parallelToolCalls: true,
      promptCacheKey: facts.id,
      answerBytes: models.answerLimits.answerBytes,
    };
  }

  #preamble(state: ThreadState): readonly ContextItem[] {
    return preamble(state, { now: this.#now(), shell: this.#ports.shell });
  }

  #now(): number {
    return this.#ports.platform.clock.now();
  }
}

/** The offline model answers whatever it is called: people must not take it for the model that they asked for. */
function standIn({ model }: ThreadState["settings"]): string | undefined {
  if (model === OFFLINE_MODEL) return undefined;
  return `The built-in offline model answers in place of \`${model}\`, because no model provider is configured. Set model_provider in config.toml, or send modelProvider with thread/start.`;
}

function failed(message: string): CallFailed {
  const error: TurnError = { message, codexErrorInfo: "other", additionalDetails: null, misalignment: null };
  return { kind: "failed", error };
}
