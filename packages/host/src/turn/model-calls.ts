import type { TurnError } from "@bobbin/protocol";
import type { LastHooks } from "../core/hooks/records.ts";
import { isPlanning } from "../core/life/collaboration-modes.ts";
import type { CompactEffect, SampleEffect } from "../core/next.ts";
import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { CallFailed, SampleOutcome, SummaryOutcome } from "../core/turn/commands.ts";
import { coverage, mayCompact } from "../core/turn/compaction.ts";
import { textTokens } from "../core/turn/context-size.ts";
import { messageOf } from "../errors.ts";
import { ASSUMED_WINDOW, contextWindowOf } from "../model/context-windows.ts";
import type { ContextItem, ModelEvent, ModelRequest } from "../model/model.ts";
import { shownTools } from "../model/tool-search.ts";
import type { Actor } from "../thread/actor.ts";
import { waitUntil } from "./abortable-waits.ts";
import { backoff } from "./backoff.ts";
import { retainedBy, retainedTokens } from "./context/compaction-retained.ts";
import {
  asPlainMessages,
  coveredBy,
  hasContent,
  SUMMARY_PROMPT,
  tokensOf,
} from "./context/compaction-summary.ts";
import { message } from "./context/conversation.ts";
import { baseInstructions, preamble } from "./context/instructions.ts";
import type { ModelPolicy, RunnerPorts } from "./runner.ts";
import { AnswerWriter } from "./stream/answer-writer.ts";
import { CodeReviewMessageWriter } from "./stream/code-review-message-writer.ts";
import { ItemWriter, type Sample } from "./stream/item-writer.ts";
import { LiveMessageWriter, PlanMessageWriter } from "./stream/message-writers.ts";
import type { ThreadModelClient } from "./thread-model-client.ts";
import type { TurnHooks } from "./turn-hooks.ts";

/** The share of the context window that the conversation may use. Answers get worse near the end of the window. */
const FULL_SHARE = 0.9;

/** Performs the model calls of one thread: for answers, and for summaries. */
export class ModelCalls {
  readonly #actor: Actor;
  readonly #ports: RunnerPorts;
  readonly #model: ThreadModelClient;
  /** Resolves when clients were sent the turn's file changes; undefined if nothing is left to send. */
  readonly #diffing: () => Promise<void> | undefined;
  readonly #hooks: TurnHooks;

  constructor(
    actor: Actor,
    ports: RunnerPorts,
    model: ThreadModelClient,
    hooks: TurnHooks,
    diffing: () => Promise<void> | undefined,
  ) {
    this.#actor = actor;
    this.#ports = ports;
    this.#model = model;
    this.#hooks = hooks;
    this.#diffing = diffing;
  }

  async sample(effect: SampleEffect, state: ThreadState, signal: AbortSignal): Promise<void> {
    const outcome = await this.#attempt(effect, state, signal, async () => {
      const recorded = () => this.#model.recorded();
      if (!(await this.#hooks.beforeSample(effect, state, signal, recorded))) return "submitted";
      const lastHooks = await this.#hooks.lastHooks(state);
      const history = await this.#model.history();
      if (!this.#isFull(state, history)) return this.#answer(effect, state, history, lastHooks, signal);
      const { turnId, attempt } = effect;
      this.#actor.offer({ kind: "compactFirst", at: this.#now(), turnId, attempt });
      return "submitted";
    });
    if (outcome !== "submitted") this.#sampled(effect, outcome);
  }

  async compact(effect: CompactEffect, state: ThreadState, signal: AbortSignal): Promise<void> {
    const outcome = await this.#attempt(effect, state, signal, async () =>
      (await this.#hooks.beforeSummary(effect, state, signal, () => this.#model.recorded()))
        ? this.#summary(effect, state, signal)
        : "submitted",
    );
    if (outcome === "submitted") return;
    const { turnId, attempt } = effect;
    const lastHooks = await this.#hooks.lastHooks(state);
    this.#actor.offer({ kind: "summarised", at: this.#now(), turnId, attempt, outcome, lastHooks });
  }

  /**
   * Makes a model call. Errors become an outcome. Returns `submitted` if the outcome was already submitted or the
   * effect was aborted.
   */
  async #attempt<T>(
    { due }: Pick<SampleEffect, "due">,
    { lastAt }: ThreadState,
    signal: AbortSignal,
    call: () => Promise<T | undefined>,
  ): Promise<T | CallFailed | "submitted"> {
    const { platform, supervisor } = this.#ports;
    let failure = "The model ended its answer without saying that it was done.";
    try {
      if (due !== null) {
        await waitUntil(due, lastAt, platform, signal);
        // During the wait, another host may have taken over the thread. Without a wait, the commit that requested the
        // model call has just shown that this host holds the thread.
        if (!(await this.#actor.journal.isHeld())) return "submitted";
      }
      const later = this.#ports.work.turn(this.#actor);
      if (later !== undefined) await later;
      signal.throwIfAborted();
      const outcome = await call();
      if (outcome !== undefined) return outcome;
    } catch (cause) {
      if (signal.aborted) return "submitted";
      supervisor.report("model stream", cause);
      failure = messageOf(cause);
    }
    return signal.aborted ? "submitted" : failed(failure);
  }

  /** Calls the model for an answer. Undefined if the stream ended without an end event. */
  async #answer(
    effect: SampleEffect,
    state: ThreadState,
    history: readonly ThreadRecord[],
    lastHooks: LastHooks | undefined,
    signal: AbortSignal,
  ): Promise<"submitted" | undefined> {
    const { turnId, attempt } = effect;
    const provider = this.#ports.provider(state.settings.modelProvider);
    this.#ports.warnings.beforeTurn(this.#actor, state);
    const { limits } = this.#ports;
    const writer = this.#writer(state, { turnId, attempt, provider: provider.id, limits });
    const request = await this.#request(state, history);
    for await (const events of this.#model.listen(provider, request, state, signal)) {
      if (signal.aborted) return undefined;
      for (const event of events) {
        const end = writer.take(event);
        if (end === undefined) continue;
        // Submitted in the same tick as the last items, so that one commit contains both.
        const outcome = "kind" in end ? this.#windowed(end, state) : this.#failure(end, state);
        this.#sampled(effect, outcome, lastHooks);
        return "submitted";
      }
    }
    return undefined;
  }

  #writer({ settings, turn }: ThreadState, sample: Sample): AnswerWriter {
    const items = new ItemWriter(this.#actor, this.#ports.platform.clock, sample);
    if (turn?.kind === "review") return new AnswerWriter(items, new CodeReviewMessageWriter(items));
    return new AnswerWriter(
      items,
      isPlanning(settings) ? new PlanMessageWriter(items, turn?.plans ?? 0) : new LiveMessageWriter(items),
    );
  }

  async #summary(
    effect: CompactEffect,
    state: ThreadState,
    signal: AbortSignal,
  ): Promise<SummaryOutcome | undefined> {
    const models = this.#models;
    const { turnId, compacting } = effect;
    const covered = coveredBy(await this.#model.history(), { ...effect, ...compacting });
    if (state.turn?.kind !== "compact" && !hasContent(covered)) {
      return failed("There is nothing before this turn that could be made shorter.");
    }
    const provider = this.#ports.provider(state.settings.modelProvider);
    const messages = asPlainMessages(await this.#model.conversation(state, covered), compacting);
    const request: ModelRequest = {
      ...(await this.#request(state, [])),
      outputSchema: null,
      context: [
        ...this.#preamble(state),
        ...messages,
        message("user", state.settings.compactPrompt ?? models.compactPrompt ?? SUMMARY_PROMPT),
      ],
      tools: [],
    };
    const end = await this.#model.textOf(provider, request, state, signal);
    if (end === undefined) return undefined;
    if (end.kind === "failed") return this.#failure(end.event, state);
    const summary = end.text.trim();
    if (summary === "") return failed("The model was asked for a summary of the conversation and gave none.");
    const retained = retainedBy(covered, turnId, this.#limit(state));
    const { usage, contextWindow } = this.#windowed(end.event, state);
    const contextTokens =
      tokensOf(this.#preamble(state)) + retainedTokens(retained) + textTokens(summary.length);
    return { kind: "done", summary, kept: retained, contextTokens, usage, contextWindow };
  }

  #failure({ error, retry }: Extract<ModelEvent, { type: "failed" }>, { turn }: ThreadState): CallFailed {
    if (retry === undefined) return { kind: "failed", error };
    const afterMs = backoff(retry, turn?.retries ?? 0, this.#ports.platform.ids);
    return { kind: "failed", error, retry: { of: retry.of, afterMs } };
  }

  /** Submits the outcome of a model call. The outcome may end the turn, so pending file changes are sent first. */
  #sampled(effect: SampleEffect, outcome: SampleOutcome, lastHooks?: LastHooks): void {
    const diffing = this.#diffing();
    if (diffing !== undefined) {
      const sampled = () => this.#sampled(effect, outcome, lastHooks);
      // If the diff fails, its own effect reports the failure.
      this.#ports.supervisor.take("an answer that waits for a diff", diffing.then(sampled, sampled));
      return;
    }
    const { turnId, attempt } = effect;
    this.#actor.offer({ kind: "sampled", at: this.#now(), turnId, attempt, outcome, lastHooks });
  }

  /** Whether the conversation has to be compacted before the model call. */
  #isFull(state: ThreadState, history: readonly ThreadRecord[]): boolean {
    const { turn, contextTokens } = state;
    if (turn === null || !mayCompact(turn) || contextTokens < this.#limit(state)) return false;
    const { id: turnId, attempt } = turn;
    return hasContent(coveredBy(history, { turnId, attempt, covers: coverage(turn) }));
  }

  /** The number of tokens at which the conversation is compacted. */
  #limit({ settings, usage }: ThreadState): number {
    const models = this.#models;
    const contextWindow = settings.contextWindow ?? models.contextWindow;
    const autoCompactTokens = settings.autoCompactTokens ?? models.autoCompactTokens;
    const window =
      contextWindow ?? contextWindowOf(settings.model) ?? usage?.modelContextWindow ?? ASSUMED_WINDOW;
    return Math.min(autoCompactTokens ?? Number.POSITIVE_INFINITY, Math.floor(window * FULL_SHARE));
  }

  /**
   * Adds the context window to an outcome: the configured one, else the one of the provider or model, else an assumed
   * one.
   */
  #windowed<O extends { readonly contextWindow: number | null }>(outcome: O, { settings }: ThreadState): O {
    const configured = settings.contextWindow ?? this.#models.contextWindow;
    return { ...outcome, contextWindow: configured ?? outcome.contextWindow ?? ASSUMED_WINDOW };
  }

  async #request(state: ThreadState, history: readonly ThreadRecord[]): Promise<ModelRequest> {
    const { toolbox } = this.#ports;
    const models = this.#models;
    const { settings, turn, facts } = state;
    const unknown = toolbox.ready(state);
    if (unknown !== undefined) await unknown;
    const reviews = turn?.kind === "review";
    const search = settings.webSearch ?? models.webSearch ?? "disabled";
    // A code review does not include earlier turns.
    const own = reviews
      ? history.filter((record) => "turnId" in record && record.turnId === turn.id)
      : history;
    const context = [...this.#preamble(state), ...(await this.#model.conversation(state, own))];
    return {
      model: (reviews ? (settings.reviewModel ?? models.reviewModel) : null) ?? settings.model,
      effort: settings.effort,
      summary: settings.summary,
      verbosity: settings.verbosity ?? null,
      serviceTier: settings.serviceTier,
      outputSchema: turn?.outputSchema ?? null,
      instructions: baseInstructions(state),
      context,
      tools: [
        ...shownTools(toolbox.specs(state), context),
        ...(search === "disabled" || reviews
          ? []
          : [{ kind: "webSearch", live: search === "live" } as const]),
      ],
      parallelToolCalls: true,
      promptCacheKey: facts.id,
      answerBytes: models.answerLimits.answerBytes,
    };
  }

  #preamble(state: ThreadState): readonly ContextItem[] {
    return preamble(state, { now: this.#now(), shell: this.#ports.shell });
  }

  get #models(): ModelPolicy {
    return this.#ports.modelsOf(this.#actor.id);
  }

  #now(): number {
    return this.#ports.platform.clock.now();
  }
}

function failed(message: string): CallFailed {
  const error: TurnError = { message, codexErrorInfo: "other", additionalDetails: null, misalignment: null };
  return { kind: "failed", error };
}
