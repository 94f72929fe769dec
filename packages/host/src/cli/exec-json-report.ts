import type { Notification } from "@bobbin/client";
import type {
  ItemGuardianApprovalReviewCompletedNotification,
  ThreadItem,
  TokenUsageBreakdown,
} from "@bobbin/protocol";
import { execItem, type Fields } from "./exec-json-item.ts";
import type { Decision } from "./exec-question-answers.ts";
import { type ExecReport, turnProblem } from "./exec-report.ts";

export type ExecEvent = { readonly type: string } & Fields;

/**
 * Reports a turn as JSON lines, in the event format of `codex exec --json`: items are numbered; messages and reasoning
 * have one event, when they are complete; other items also have one when they start.
 */
export class JsonReport implements ExecReport {
  readonly #emit: (event: ExecEvent) => void;
  /** The item numbers used in the output, by the protocol's item ID, for items whose `item.started` was emitted. */
  readonly #open = new Map<string, string>();
  #items = 0;
  #usage: TokenUsageBreakdown | undefined;
  #todo: { readonly id: string; readonly item: Fields } | undefined;
  #lastError: string | undefined;

  constructor(emit: (event: ExecEvent) => void) {
    this.#emit = emit;
  }

  started({ id }: { readonly id: string }): void {
    this.#emit({ type: "thread.started", thread_id: id });
  }

  failed(message: string): void {
    this.#emit({ type: "error", message });
  }

  notification({ method, params }: Notification): void {
    switch (method) {
      case "turn/started":
        return this.#emit({ type: "turn.started" });
      case "item/started":
        return this.#itemStarted(params.item);
      case "item/completed":
        return this.#itemCompleted(params.item);
      case "turn/plan/updated":
        return this.#plan(
          params.plan.map(({ step, status }) => ({ text: step, completed: status === "completed" })),
        );
      case "thread/tokenUsage/updated":
        this.#usage = params.tokenUsage.total;
        return;
      case "error":
        this.#lastError = turnProblem(params.error);
        return this.failed(this.#lastError);
      case "warning":
        return this.#notice(params.message);
      case "item/autoApprovalReview/completed":
        return this.#reviewed(params);
      case "configWarning":
      case "deprecationNotice":
        return this.#notice(params.details ? `${params.summary} (${params.details})` : params.summary);
      case "model/rerouted":
        return this.#notice(`model rerouted: ${params.fromModel} -> ${params.toModel}`);
      case "turn/completed":
        return this.#turnCompleted(params.turn);
    }
  }

  /** Emits nothing, because the calls that start a helper and wait for it are already items. */
  helper(): void {}

  /** Emits nothing, because the question is shown on the terminal. */
  asking(): void {}

  /** Emits an event that `codex exec` does not have. */
  decided({ kind, question, answer, change }: Decision): void {
    this.#emit({ type: "question.decided", kind, question, answer, change });
  }

  /** Emits an event that `codex exec` does not have. */
  #reviewed({ action, review }: ItemGuardianApprovalReviewCompletedNotification): void {
    const { status, riskLevel, userAuthorization, rationale } = review;
    this.#emit({
      type: "approval.reviewed",
      status,
      risk_level: riskLevel,
      user_authorization: userAuthorization,
      rationale,
      action,
    });
  }

  #itemStarted(item: ThreadItem): void {
    if (item.type === "agentMessage" || item.type === "reasoning") return;
    const fields = execItem(item);
    if (fields === undefined) return;
    const id = this.#number();
    this.#open.set(item.id, id);
    this.#emit({ type: "item.started", item: { id, ...fields } });
  }

  #itemCompleted(item: ThreadItem): void {
    const fields = execItem(item);
    if (fields === undefined) return;
    const id = this.#open.get(item.id) ?? this.#number();
    this.#open.delete(item.id);
    this.#emit({ type: "item.completed", item: { id, ...fields } });
  }

  #plan(items: readonly Fields[]): void {
    const type = this.#todo === undefined ? "item.started" : "item.updated";
    this.#todo = { id: this.#todo?.id ?? this.#number(), item: { type: "todo_list", items } };
    this.#emit({ type, item: { id: this.#todo.id, ...this.#todo.item } });
  }

  #turnCompleted(turn: Extract<Notification, { method: "turn/completed" }>["params"]["turn"]): void {
    if (this.#todo) this.#emit({ type: "item.completed", item: { id: this.#todo.id, ...this.#todo.item } });
    for (const item of turn.items) if (this.#open.has(item.id)) this.#itemCompleted(item);
    // The format has no event for an interrupted turn; the exit code shows it.
    if (turn.status === "completed") this.#emit({ type: "turn.completed", usage: usageFields(this.#usage) });
    if (turn.status === "failed") {
      const message = turn.error === null ? (this.#lastError ?? "the turn failed") : turnProblem(turn.error);
      this.#emit({ type: "turn.failed", error: { message } });
    }
  }

  /** Emits a warning, which the format represents as an item of the type `error`. */
  #notice(message: string): void {
    this.#emit({ type: "item.completed", item: { id: this.#number(), type: "error", message } });
  }

  #number(): string {
    return `item_${this.#items++}`;
  }
}

function usageFields(usage: TokenUsageBreakdown | undefined): Fields {
  return {
    input_tokens: usage?.inputTokens ?? 0,
    cached_input_tokens: usage?.cachedInputTokens ?? 0,
    cache_write_input_tokens: usage?.cacheWriteInputTokens ?? 0,
    output_tokens: usage?.outputTokens ?? 0,
    reasoning_output_tokens: usage?.reasoningOutputTokens ?? 0,
  };
}
