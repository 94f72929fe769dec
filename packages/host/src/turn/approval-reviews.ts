import type { TokenUsageBreakdown } from "@bobbin/protocol";
import type { ReviewEffect } from "../core/next.ts";
import type { Verdict } from "../core/reviews/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { ToolCall } from "../core/turn/records.ts";
import { addUsage } from "../core/turn/usage.ts";
import { messageOf } from "../errors.ts";
import type { ModelRequest } from "../model/model.ts";
import type { Actor } from "../thread/actor.ts";
import { backoff } from "./backoff.ts";
import { message } from "./context.ts";
import { REVIEW_SCHEMA, readVerdict } from "./review-answer.ts";
import { reviewInstructions } from "./review-policy.ts";
import { transcriptOf } from "./review-transcript.ts";
import type { RunnerPorts } from "./runner.ts";
import type { ThreadModel } from "./thread-model.ts";
import { waitUntil } from "./waiting.ts";

/** How long a review may take, all attempts together. */
const REVIEW_MS = 90_000;
const MAX_ATTEMPTS = 3;
/** A verdict is short, but a model may think at length before it. */
const ANSWER_BYTES = 1024 * 1024;
/** What a reviewer cannot be shown in full is not approved. */
const ACTION_CHARACTERS = 200_000;

/** One call of the reviewer: a verdict, or why there is none and whether another call can help. */
type Attempt =
  | { readonly kind: "verdict"; readonly review: Verdict }
  | { readonly kind: "failed"; readonly problem: string; readonly retryMs: number | null };

/** Has a model judge approvals of one thread. Whatever goes wrong denies. */
export class ApprovalReviews {
  readonly #actor: Actor;
  readonly #ports: RunnerPorts;
  readonly #model: ThreadModel;

  constructor(actor: Actor, ports: RunnerPorts, model: ThreadModel) {
    this.#actor = actor;
    this.#ports = ports;
    this.#model = model;
  }

  async review(effect: ReviewEffect, state: ThreadState, signal: AbortSignal): Promise<void> {
    const { turnId, callId, review: running } = effect;
    const { clock, timers } = this.#ports.platform;
    const late = new AbortController();
    const cancel = timers.after(REVIEW_MS, () => late.abort());
    const spent: { usage: TokenUsageBreakdown | null } = { usage: null };
    let review: Verdict;
    try {
      const both = AbortSignal.any([signal, late.signal]);
      review = await this.#verdict(effect, state, both, spent);
    } catch (cause) {
      if (signal.aborted) return;
      if (!late.signal.aborted) this.#ports.supervisor.report("approval review", cause);
      review = late.signal.aborted ? TIMED_OUT : failed(messageOf(cause));
    } finally {
      cancel();
    }
    if (signal.aborted) return;
    const { reviewId } = running;
    const outcome = { turnId, callId, reviewId, review, usage: spent.usage };
    this.#actor.offer({ kind: "reviewed", at: clock.now(), ...outcome });
  }

  /** Rejects when `signal` aborts. */
  async #verdict(
    effect: ReviewEffect,
    state: ThreadState,
    signal: AbortSignal,
    spent: { usage: TokenUsageBreakdown | null },
  ): Promise<Verdict> {
    const { reviewProblem } = this.#ports.provider(state.settings.modelProvider);
    if (reviewProblem !== undefined) return failed(reviewProblem);
    const action = JSON.stringify(actionOf(effect, state));
    if (action.length > ACTION_CHARACTERS) return failed("the action is too large to be reviewed");
    const request = await this.#request(action, state);
    for (let attempt = 1; ; attempt++) {
      const made = await this.#attempt(request, state, signal, attempt, spent);
      signal.throwIfAborted();
      if (made.kind === "verdict") return made.review;
      if (made.retryMs === null || attempt === MAX_ATTEMPTS) return failed(made.problem);
      const now = this.#ports.platform.clock.now();
      await waitUntil(now + made.retryMs, state.lastAt, this.#ports.platform, signal);
    }
  }

  async #attempt(
    request: ModelRequest,
    state: ThreadState,
    signal: AbortSignal,
    attempt: number,
    spent: { usage: TokenUsageBreakdown | null },
  ): Promise<Attempt> {
    const { platform, models } = this.#ports;
    const again = (afterMs?: number) =>
      backoff({ of: MAX_ATTEMPTS, ...(afterMs !== undefined && { afterMs }) }, attempt - 1, platform.ids);
    const provider = this.#ports.provider(state.settings.modelProvider);
    const { answerLimits } = models;
    const limits = {
      ...answerLimits,
      answerBytes: Math.min(answerLimits.answerBytes, ANSWER_BYTES),
      itemBytes: Math.min(answerLimits.itemBytes, ANSWER_BYTES),
    };
    const said = await this.#model.words(provider, request, state, signal, limits);
    if (said === undefined)
      return { kind: "failed", problem: "the reviewer's answer broke off", retryMs: again() };
    if (said.kind === "failed") {
      const { error, retry } = said.event;
      return {
        kind: "failed",
        problem: error.message,
        retryMs: retry === undefined ? null : again(retry.afterMs),
      };
    }
    spent.usage = addUsage(spent.usage ?? undefined, said.event.usage);
    const problem = { kind: "failed", retryMs: again() } as const;
    if (said.calledTools) return { ...problem, problem: "the reviewer called a tool in place of an answer" };
    const read = readVerdict(said.final);
    return "problem" in read ? { ...problem, ...read } : { kind: "verdict", review: read };
  }

  async #request(action: string, state: ThreadState): Promise<ModelRequest> {
    const { models } = this.#ports;
    const { settings, facts } = state;
    const goal = JSON.stringify(state.goal?.goal.objective ?? null);
    const transcript = transcriptOf(await this.#model.past(), facts.parentThreadId !== null);
    return {
      model: models.reviewModel ?? settings.model,
      effort: settings.effort,
      summary: null,
      verbosity: null,
      serviceTier: settings.serviceTier,
      outputSchema: REVIEW_SCHEMA,
      instructions: reviewInstructions(models.approvalReviewPolicy),
      context: [
        message("user", `{"goal":${goal},"transcript":${JSON.stringify(transcript)},"action":${action}}`),
      ],
      tools: [],
      parallelToolCalls: false,
      promptCacheKey: `${facts.id}-review`,
      answerBytes: ANSWER_BYTES,
    };
  }
}

/** All that is known about an action before it is done. */
function actionOf(
  { call, callId, review }: ReviewEffect,
  { settings, turn, terminals }: ThreadState,
): object {
  const { action, ask } = review;
  const open = turn?.open.find(({ id }) => id === callId);
  const item = open ?? terminals.find((terminal) => terminal.item.id === callId)?.item;
  const params = ask.params as { readonly reason?: string | null; readonly additionalPermissions?: unknown };
  return {
    ...action,
    ...(call !== null && { call: { tool: toolName(call), arguments: call.arguments } }),
    // The command that is to be connected.
    ...(call === null &&
      item?.type === "commandExecution" && { trigger: { command: item.command, cwd: item.cwd } }),
    ...(item?.type === "fileChange" && { changes: item.changes }),
    ...(params.additionalPermissions != null && { additionalPermissions: params.additionalPermissions }),
    whyAsked: params.reason ?? null,
    project: settings.roots ?? [settings.cwd],
    sandbox: settings.sandbox,
  };
}

function toolName({ name, namespace }: ToolCall): string {
  return namespace === null ? name : `${namespace}.${name}`;
}

const TIMED_OUT: Verdict = {
  status: "timedOut",
  riskLevel: null,
  userAuthorization: null,
  rationale: "The automatic review of an approval did not end in time, so the action was not allowed.",
};

function failed(problem: string): Verdict {
  const rationale = `The automatic review failed, so the action was not allowed: ${problem}`;
  return { status: "denied", riskLevel: null, userAuthorization: null, rationale };
}
