import type { TokenUsageBreakdown } from "@bobbin/protocol";
import type { Verdict } from "../core/approval-reviews/records.ts";
import type { ReviewEffect } from "../core/next.ts";
import type { ThreadState } from "../core/state.ts";
import type { ToolCall } from "../core/turn/records.ts";
import { addUsage } from "../core/turn/usage.ts";
import { messageOf } from "../errors.ts";
import type { ModelRequest } from "../model/model.ts";
import type { Actor } from "../thread/actor.ts";
import { waitUntil } from "./abortable-waits.ts";
import { backoff } from "./backoff.ts";
import { approvalReviewInstructions } from "./context/approval-review-instructions.ts";
import { transcriptOf } from "./context/approval-review-transcript.ts";
import { message } from "./context/conversation.ts";
import type { RunnerPorts } from "./runner.ts";
import { readVerdict, VERDICT_SCHEMA } from "./stream/approval-review-verdict.ts";
import type { ThreadModelClient } from "./thread-model-client.ts";

/** Time limit of a review, including all attempts. */
const REVIEW_MS = 90_000;
const MAX_ATTEMPTS = 3;
/** Limit on the reviewer's answer, in bytes. A verdict is short, but the model may reason at length before it. */
const ANSWER_BYTES = 1024 * 1024;
/**
 * Limit on the characters of an action's description. An action with a longer one cannot be reviewed, and is denied.
 */
const ACTION_CHARACTERS = 200_000;

/**
 * The outcome of one model call of a review: a verdict, or a failure with the delay before a retry (null for no
 * retry).
 */
type Attempt =
  | { readonly kind: "verdict"; readonly review: Verdict }
  | { readonly kind: "failed"; readonly problem: string; readonly retryMs: number | null };

/** Has a model review the approvals of one thread. If a review fails, the action is denied. */
export class ApprovalReviews {
  readonly #actor: Actor;
  readonly #ports: RunnerPorts;
  readonly #model: ThreadModelClient;

  constructor(actor: Actor, ports: RunnerPorts, model: ThreadModelClient) {
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

  /** Asks the model for a verdict, with retries. Rejects when `signal` aborts. */
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
    const { platform } = this.#ports;
    const again = (afterMs?: number) =>
      backoff({ of: MAX_ATTEMPTS, ...(afterMs !== undefined && { afterMs }) }, attempt - 1, platform.ids);
    const provider = this.#ports.provider(state.settings.modelProvider);
    const { answerLimits } = this.#ports.modelsOf(this.#actor.id);
    const limits = {
      ...answerLimits,
      answerBytes: Math.min(answerLimits.answerBytes, ANSWER_BYTES),
      itemBytes: Math.min(answerLimits.itemBytes, ANSWER_BYTES),
    };
    const answer = await this.#model.textOf(provider, request, state, signal, limits);
    if (answer === undefined)
      return { kind: "failed", problem: "the reviewer's answer broke off", retryMs: again() };
    if (answer.kind === "failed") {
      const { error, retry } = answer.event;
      return {
        kind: "failed",
        problem: error.message,
        retryMs: retry === undefined ? null : again(retry.afterMs),
      };
    }
    spent.usage = addUsage(spent.usage ?? undefined, answer.event.usage);
    const problem = { kind: "failed", retryMs: again() } as const;
    if (answer.calledTools)
      return { ...problem, problem: "the reviewer called a tool in place of an answer" };
    const read = readVerdict(answer.final);
    return "problem" in read ? { ...problem, ...read } : { kind: "verdict", review: read };
  }

  async #request(action: string, state: ThreadState): Promise<ModelRequest> {
    const models = this.#ports.modelsOf(this.#actor.id);
    const { settings, facts } = state;
    const goal = JSON.stringify(state.goal?.goal.objective ?? null);
    const transcript = transcriptOf(await this.#model.history(), facts.parentThreadId !== null);
    return {
      model: settings.reviewModel ?? models.reviewModel ?? settings.model,
      effort: settings.effort,
      summary: null,
      verbosity: null,
      serviceTier: settings.serviceTier,
      outputSchema: VERDICT_SCHEMA,
      instructions: approvalReviewInstructions(models.approvalReviewPolicy),
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

/** The description of an action for the reviewer. */
function actionOf(
  { call, callId, review }: ReviewEffect,
  { settings, turn, terminals }: ThreadState,
): object {
  const { action, ask } = review;
  const open = turn?.open.find(({ id }) => id === callId);
  const item = open ?? terminals.find((terminal) => terminal.item.id === callId)?.item;
  const params = ask.params as {
    readonly reason?: string | null;
    readonly additionalPermissions?: unknown;
    readonly _meta?: unknown;
  };
  const { tool_description: toolDescription } = Object(params._meta) as { tool_description?: unknown };
  return {
    ...action,
    ...(call !== null && { call: { tool: toolName(call), arguments: call.arguments } }),
    // The command that opens the connection.
    ...(call === null &&
      item?.type === "commandExecution" && { trigger: { command: item.command, cwd: item.cwd } }),
    ...(item?.type === "fileChange" && { changes: item.changes }),
    ...(params.additionalPermissions != null && { additionalPermissions: params.additionalPermissions }),
    // The MCP server's description of its tool.
    ...(action.type === "mcpToolCall" && { toolDescription }),
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
