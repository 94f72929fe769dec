import { answerOf } from "../core/approval-reviews/verdict-outcome.ts";
import type { HookAnswer, HookOutcome } from "../core/hooks/records.ts";
import type { CallEffect } from "../core/next.ts";
import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState } from "../core/state.ts";
import type { ToolCall } from "../core/turn/records.ts";
import { hookInput } from "../hooks/hook-input.ts";
import type { HookVerdict } from "../hooks/hook-output.ts";
import { type Hooks, outcomeOf } from "../hooks/thread-hooks.ts";
import { toolUse, withInput } from "../hooks/tool-call-for-hooks.ts";
import type { Step } from "../tool/tool.ts";
import type { HookGates, TurnPoint } from "./hook-gates.ts";

type AskStep = Extract<Step, { kind: "ask" }>;

/** The methods of requests for approval. */
const APPROVALS: ReadonlySet<string> = new Set([
  "item/commandExecution/requestApproval",
  "item/fileChange/requestApproval",
  "mcpServer/elicitation/request",
]);

/** Runs the hooks of tool calls: before a call, before its request for approval, and after it. */
export class ToolCallHooks {
  readonly #hooks: Hooks;
  readonly #gates: HookGates;

  constructor(hooks: Hooks, gates: HookGates) {
    this.#hooks = hooks;
    this.#gates = gates;
  }

  /** Runs `preToolUse` hooks. Returns false if hooks ran: the recorded outcome lets the call continue. */
  async beforeCall(
    { turnId, call, stage }: CallEffect,
    state: ThreadState,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (stage.kind !== "proposed" || stage.hooked || state.turn === null) return true;
    const set = await this.#hooks.of(state);
    const use = set.isEmpty ? undefined : toolUse(call);
    if (use === undefined) return !signal.aborted;
    const input = hookInput("preToolUse", state, toolInput(call, use.name, use.input));
    const names = [use.name, ...use.aliases];
    const question = { event: "preToolUse", names, input, suffix: call.callId } as const;
    const point = { state, signal, turnId, attempt: state.turn.attempt };
    const outcome = await this.#gates.pass({
      ...point,
      question,
      subject: call.callId,
      outcome: (verdicts) => callOutcome(call, verdicts),
    });
    return outcome === undefined && !signal.aborted;
  }

  /** Runs `permissionRequest` hooks. Returns false if a hook answered the request, so that nobody is asked. */
  async beforeQuestion(
    { turnId, call, stage }: CallEffect,
    step: AskStep,
    state: ThreadState,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (!APPROVALS.has(step.ask.method) || state.turn === null) return true;
    if ("undecided" in stage && stage.undecided) return true;
    const set = await this.#hooks.of(state);
    const use = set.isEmpty ? undefined : toolUse(call);
    if (use === undefined) return !signal.aborted;
    const { reason } = step.ask.params as { readonly reason?: string | null };
    const answer =
      reason == null || use.name !== "Bash" ? use.input : { ...Object(use.input), description: reason };
    const input = hookInput("permissionRequest", state, { tool_name: use.name, tool_input: answer });
    const names = [use.name, ...use.aliases];
    const question = { event: "permissionRequest", names, input, suffix: call.callId } as const;
    const point = { state, signal, turnId, attempt: state.turn.attempt };
    const outcome = await this.#gates.pass({
      ...point,
      question,
      subject: call.callId,
      more: { item: step.item },
      outcome: (verdicts) => ({ ...outcomeOf(verdicts), answer: permissionAnswer(step, verdicts) }),
    });
    return outcome?.answer === undefined && !signal.aborted;
  }

  /** Runs `postToolUse` hooks for successful calls. */
  async afterCalls(
    point: TurnPoint,
    history: readonly ThreadRecord[],
    done: ReadonlySet<string>,
  ): Promise<void> {
    const { state, signal } = point;
    const calls = new Map<string, ToolCall>();
    for (const record of history) {
      if (record.type === "toolCalled") calls.set(record.call.callId, record.call);
      if (
        record.type === "hooksEnded" &&
        record.event === "preToolUse" &&
        record.outcome.input !== undefined
      ) {
        const call = calls.get(record.subject ?? "");
        if (call !== undefined) calls.set(call.callId, { ...call, arguments: record.outcome.input });
      }
    }
    const answered = history.flatMap((one) => (one.type === "toolAnswered" && one.success ? [one] : []));
    for (const { callId, output } of answered) {
      const call = calls.get(callId);
      const use = call && toolUse(call);
      if (call === undefined || use === undefined || done.has(`postToolUse ${callId}`)) continue;
      const more = { ...toolInput(call, use.name, use.input), tool_response: output };
      const input = hookInput("postToolUse", state, more);
      const names = [use.name, ...use.aliases];
      const question = { event: "postToolUse", names, input, suffix: callId } as const;
      await this.#gates.pass({ ...point, question, subject: callId });
      if (signal.aborted) return;
    }
  }
}

function toolInput({ callId }: ToolCall, name: string, input: unknown): object {
  return { tool_name: name, tool_input: input, tool_use_id: callId };
}

/** The outcome of `preToolUse` hooks. If the tool does not accept the replaced arguments, the call is blocked. */
function callOutcome(call: ToolCall, verdicts: readonly HookVerdict[]): HookOutcome {
  const outcome = outcomeOf(verdicts);
  const wanted = verdicts.find(({ input }) => input !== undefined)?.input;
  if (wanted === undefined || outcome.block !== undefined) return outcome;
  const input = withInput(call, wanted);
  return input === undefined
    ? { ...outcome, block: "a hook changed its input to something that the tool does not take." }
    : { ...outcome, input };
}

/** The answer of `permissionRequest` hooks: a denial if any hook denies, else an approval if any approves. */
function permissionAnswer(
  { ask, question }: AskStep,
  verdicts: readonly HookVerdict[],
): HookAnswer | undefined {
  const decisions = verdicts.flatMap(({ permission }) => (permission === undefined ? [] : [permission]));
  const denial = decisions.find(({ allow }) => !allow);
  if (decisions.length === 0) return undefined;
  const named = { method: ask.method, ...(question !== undefined && { question }) };
  if (denial !== undefined)
    return { ...named, answer: { kind: "denied", words: `a hook denied it: ${denial.message}` } };
  const approved = { status: "approved", riskLevel: null, userAuthorization: null, rationale: null } as const;
  return { ...named, answer: answerOf(ask, approved) };
}
