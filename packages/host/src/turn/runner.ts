import type { RateLimitSnapshot } from "@bobbin/protocol";
import type { Command } from "../core/commands.ts";
import type {
  CallEffect,
  CommandEffect,
  ContinueGoalEffect,
  DiffEffect,
  Effect,
  ExpireQuestionEffect,
  LateCallEffect,
  NetworkRuleEffect,
  NoticesEffect,
  PostChoiceEffect,
  StartEventsEffect,
  StartQueuedEffect,
} from "../core/next.ts";
import type { ThreadState } from "../core/state.ts";
import type { FilesBefore } from "../core/turn/file-changes.ts";
import { stepState } from "../core/turn/turn-settings.ts";
import { Fault } from "../errors.ts";
import type { AnswerLimits } from "../model/answer-limits.ts";
import type { ModelProvider } from "../model/model.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Slices } from "../platform/event-loop-slices.ts";
import type { Platform, ReadableFiles } from "../platform/platform.ts";
import type { Actor } from "../thread/actor.ts";
import { keepMedia, namesMedia } from "../tool/input-media-blobs.ts";
import { keepOutcome } from "../tool/output-blobs.ts";
import { type LiveOutput, refusal, type Step } from "../tool/tool.ts";
import type { Toolbox } from "../tool/toolbox.ts";
import type { WorkspaceChanges } from "../workspace/lazy-turn-files.ts";
import { waitUntil } from "./abortable-waits.ts";
import { ApprovalReviews } from "./approval-reviews.ts";
import { type ChildEffectPorts, performForChild } from "./child-effects.ts";
import type { ModelHistories } from "./context/model-history.ts";
import { HookGates } from "./hook-gates.ts";
import { ModelCalls } from "./model-calls.ts";
import type { ModelFallbackWarnings } from "./model-fallback-warnings.ts";
import { nextStep } from "./next-tool-step.ts";
import { mustOutlivePower, questionFingerprint, recordableStep } from "./recordable-step.ts";
import { ThreadModelClient } from "./thread-model-client.ts";
import { ToolCallHooks } from "./tool-call-hooks.ts";
import { sendTurnDiff } from "./turn-diff.ts";
import type { TurnHookPorts } from "./turn-hook-ports.ts";
import { TurnHooks } from "./turn-hooks.ts";

/** The dependencies of a runner. */
export interface RunnerPorts extends ChildEffectPorts, Pick<TurnHookPorts, "hooks"> {
  readonly platform: Platform;
  /** Shares the event loop among threads with much work. */
  readonly work: Slices<Actor>;
  readonly supervisor: Supervisor;
  /** The user's shell. The instructions name it to the model. */
  readonly shell: string;
  readonly modelHistories: ModelHistories;
  readonly toolbox: Toolbox;
  modelsOf(threadId: string): ModelPolicy;
  readonly warnings: ModelFallbackWarnings;
  provider(id: string): ModelProvider;
  /** The thread's state with the grants that a helper inherits from its parents. */
  inherited(thread: ThreadState): Promise<ThreadState>;
  /** The files that an owner's threads may read. */
  filesOf(owner: string): ReadableFiles;
  readonly turnFiles: WorkspaceChanges;
  /** Receives the rate limits that providers report. */
  limits(snapshot: RateLimitSnapshot): void;
}

/** The configuration of model calls. */
export interface ModelPolicy {
  /** Whether models may use their built-in web search, live or in a cache; null if not. */
  readonly webSearch: "live" | "cached" | null;
  /** The configured context window; null for the model's own. */
  readonly contextWindow: number | null;
  /** The number of tokens at which a conversation is compacted; null for a share of the context window. */
  readonly autoCompactTokens: number | null;
  /** The prompt for summaries; null for the built-in one. */
  readonly compactPrompt: string | null;
  /** The model for reviews; null for the thread's model. */
  readonly reviewModel: string | null;
  /** The policy for reviews of approvals; null for the built-in one. */
  readonly approvalReviewPolicy: string | null;
  readonly answerLimits: AnswerLimits;
}

interface RunningEffect {
  readonly controller: AbortController;
  readonly isExpiry: boolean;
  /** The number of the last reconciliation (`#round`) that wanted the effect. */
  wantedIn: number;
}

/** The reason of all aborts. Created once, because an error per effect would cost time and no code reads it. */
const OVER = new Error("no longer asked for");

/**
 * Performs the effects of one thread. Starts the effects that `next` names, aborts the others, and submits each
 * outcome to the thread as a command. The runner has no state that is not in the journal.
 */
export class Runner {
  readonly #actor: Actor;
  readonly #ports: RunnerPorts;
  readonly #modelCalls: ModelCalls;
  readonly #reviews: ApprovalReviews;
  readonly #hooks: TurnHooks;
  readonly #toolCallHooks: ToolCallHooks;
  readonly #running = new Map<string, RunningEffect>();
  /** Counts the calls of `reconcile` and `reconcileExpiries`. */
  #round = 0;
  /** Set while the turn's file changes are being sent. The turn ends only afterwards. */
  #diffing: Promise<void> | undefined;

  constructor(actor: Actor, ports: RunnerPorts) {
    this.#actor = actor;
    this.#ports = ports;
    const model = new ThreadModelClient(actor, ports);
    const gates = new HookGates(actor, ports);
    this.#toolCallHooks = new ToolCallHooks(ports.hooks, gates);
    this.#hooks = new TurnHooks(ports, gates, this.#toolCallHooks);
    this.#modelCalls = new ModelCalls(actor, ports, model, this.#hooks, () => this.#diffing);
    this.#reviews = new ApprovalReviews(actor, ports, model);
  }

  /** Sends live output of a tool to clients. */
  readonly #live: LiveOutput = (text, delta) => this.#actor.text(text, delta);

  /** Whether no effect is running. */
  get idle(): boolean {
    return this.#running.size === 0;
  }

  /** Called after each change of the state. `wanted`: the effects that the state names. */
  reconcile(state: ThreadState, wanted: readonly Effect[]): void {
    const { supervisor } = this.#ports;
    for (const effect of this.#missing(wanted, false)) {
      const signal = this.#begin(effect);
      if (effect.kind === "startQueued")
        supervisor.take(effect.key, this.#startQueued(effect, state, signal));
      else if (effect.kind === "continueGoal") this.#continueGoal();
      else if (effect.kind === "startEvents") this.#startEvents();
      else if (effect.kind === "notices") this.#notifyToolServers(state);
      else supervisor.take(effect.key, this.#perform(effect, state, signal));
    }
  }

  /** Called when clients come and leave. `wanted`: the effects that depend on the presence of clients. */
  reconcileExpiries(wanted: readonly ExpireQuestionEffect[]): void {
    for (const effect of this.#missing(wanted, true))
      this.#ports.supervisor.take(effect.key, this.#expireQuestion(effect, this.#begin(effect)));
  }

  /**
   * Returns the wanted effects that are not running. Aborts running effects that are not wanted; with `expiries`,
   * only those of that kind.
   */
  #missing<E extends Effect>(wanted: readonly E[], expiries: boolean): readonly E[] {
    this.#round++;
    const missing: E[] = [];
    for (const effect of wanted) {
      const running = this.#running.get(effect.key);
      if (running === undefined) missing.push(effect);
      else running.wantedIn = this.#round;
    }
    for (const [key, { controller, wantedIn, isExpiry }] of this.#running) {
      if (wantedIn === this.#round || (expiries && !isExpiry)) continue;
      this.#running.delete(key);
      controller.abort(OVER);
    }
    return missing;
  }

  #begin({ key, kind }: Effect): AbortSignal {
    const controller = new AbortController();
    this.#running.set(key, { controller, isExpiry: kind === "expireQuestion", wantedIn: this.#round });
    return controller.signal;
  }

  /** Aborts all effects. */
  stop(): void {
    for (const { controller } of this.#running.values()) controller.abort(OVER);
    this.#running.clear();
  }

  #perform(
    effect: Exclude<Effect, StartQueuedEffect | ContinueGoalEffect | StartEventsEffect | NoticesEffect>,
    state: ThreadState,
    signal: AbortSignal,
  ): Promise<void> {
    switch (effect.kind) {
      case "sample":
        return this.#modelCalls.sample(effect, stepState(state), signal);
      case "compact":
        return this.#modelCalls.compact(effect, stepState(state), signal);
      case "call":
        return effect.due === null
          ? this.#call(effect, state, signal)
          : this.#later(effect.due, state, signal, (later) => this.#call(effect, later, signal));
      case "review":
        return this.#reviews.review(effect, stepState(state), signal);
      case "lastHooks":
        return this.#hooks.atEnd(effect, stepState(state), signal);
      case "lateCall":
        return this.#expire(effect, state, signal);
      case "expireQuestion":
        return this.#expireQuestion(effect, signal);
      case "child":
      case "helper":
        return performForChild(this.#actor, this.#ports, effect, signal);
      case "diff":
        return this.#diff(effect, state, signal);
      case "command":
      case "networkRule":
        return this.#bySource(effect, state, signal);
      case "postChoice":
        return effect.due === null
          ? this.#bySource(effect, state, signal)
          : this.#later(effect.due, state, signal, (later) => this.#bySource(effect, later, signal));
    }
  }

  #diff(effect: DiffEffect, state: ThreadState, signal: AbortSignal): Promise<void> {
    const diffing = sendTurnDiff(this.#actor, this.#ports, effect, state, signal).finally(() => {
      if (this.#diffing === diffing) this.#diffing = undefined;
    });
    this.#diffing = diffing;
    return diffing;
  }

  async #startQueued({ id }: StartQueuedEffect, state: ThreadState, signal: AbortSignal): Promise<void> {
    const { clock, ids } = this.#ports.platform;
    const files = this.#ports.filesOf(this.#actor.owner);
    const { journal } = this.#actor;
    const input = state.queue.items.find((item) => item.id === id)?.input ?? [];
    const keep = (name: string, bytes: Uint8Array) => journal.keep(name, bytes);
    const blobs = namesMedia(input)
      ? await keepMedia(input, state.settings.cwd, files, keep).catch(() => undefined)
      : undefined;
    if (signal.aborted) return;
    const fresh = { turnId: ids.uuid(), userItemId: ids.uuid() };
    this.#actor.offer({ kind: "startQueued", at: clock.now(), id, ...fresh, asked: false, blobs });
  }

  #startEvents(): void {
    const { clock, ids } = this.#ports.platform;
    this.#actor.offer({ kind: "startEvents", at: clock.now(), turnId: ids.uuid() });
  }

  #notifyToolServers(state: ThreadState): void {
    if (!this.#ports.toolbox.mustNotify(state)) return;
    this.#actor.offer({ kind: "notifyToolServers", at: this.#ports.platform.clock.now() });
  }

  #continueGoal(): void {
    const { clock, ids } = this.#ports.platform;
    this.#actor.offer({ kind: "continueGoal", at: clock.now(), turnId: ids.uuid() });
  }

  /** Performs an effect that belongs to a tool source. */
  async #bySource(
    effect: PostChoiceEffect | CommandEffect | NetworkRuleEffect,
    state: ThreadState,
    signal: AbortSignal,
  ): Promise<void> {
    // As for a dispatched call: another host may have taken over the thread.
    if (!(await this.#actor.journal.isHeld()) || signal.aborted) return;
    return this.#offerOutcome(this.#ports.toolbox.perform(effect, state, signal, this.#live), signal);
  }

  /** References no state, so that the thread can hibernate: a background terminal may run for days. */
  async #offerOutcome(outcome: Promise<Command>, signal: AbortSignal): Promise<void> {
    const command = await outcome;
    if (!signal.aborted) this.#actor.offer(command);
  }

  async #expire(
    { callId, due }: LateCallEffect,
    { lastAt }: ThreadState,
    signal: AbortSignal,
  ): Promise<void> {
    const { platform } = this.#ports;
    try {
      await waitUntil(due, lastAt, platform, signal);
    } catch {
      return;
    }
    const at = platform.clock.now();
    this.#actor.offer({ kind: "expireCall", at, callId, eventId: `late_${platform.ids.uuid()}` });
  }

  async #expireQuestion({ requestId, since, due }: ExpireQuestionEffect, signal: AbortSignal): Promise<void> {
    const { platform } = this.#ports;
    try {
      await waitUntil(due, since, platform, signal);
    } catch {
      return;
    }
    const answer = { kind: "expired" } as const;
    this.#actor.offer({ kind: "answer", at: platform.clock.now(), requestId, answer });
  }

  /** Runs work at a later time. References no state until then, so that the thread can hibernate. */
  async #later(
    due: number,
    { lastAt }: ThreadState,
    signal: AbortSignal,
    run: (state: ThreadState) => Promise<void>,
  ): Promise<void> {
    try {
      await waitUntil(due, lastAt, this.#ports.platform, signal);
      const state = await this.#actor.peek();
      if (!signal.aborted) await run(state);
    } catch (cause) {
      // The effect was aborted, or the thread is unloaded.
      if (!signal.aborted && !(cause instanceof Fault)) throw cause;
    }
  }

  /** Moves large media in a tool's output to blobs. If the blobs cannot be stored, the media stays in the journal. */
  async #kept(step: Step): Promise<Step> {
    const { ephemeral, journal } = this.#actor;
    if (step.kind !== "settle" || ephemeral) return step;
    const result = step.item?.type === "mcpToolCall" ? step.item.result : null;
    const stored = await keepOutcome({ output: step.output, content: result?.content ?? [] }, (name, bytes) =>
      journal.keep(name, bytes),
    ).catch(() => undefined);
    if (stored === undefined) return step;
    const { output, content, blobs } = stored;
    if (result === null || step.item?.type !== "mcpToolCall") return { ...step, output, blobs };
    return { ...step, output, blobs, item: { ...step.item, result: { ...result, content: [...content] } } };
  }

  /** Saves the files that a call is about to change, after the diff of earlier calls was sent. */
  async #filesBefore(step: Step, signal: AbortSignal): Promise<FilesBefore | undefined> {
    if (step.kind !== "dispatch" || step.changes === undefined) return undefined;
    await this.#diffing?.catch(() => {});
    const { journal } = this.#actor;
    return this.#ports.turnFiles.before(await this.#actor.peek(), journal, step.changes, signal);
  }

  /** Performs the next step of a tool call. If the tool fails, the model gets an error output. */
  async #call(effect: CallEffect, thread: ThreadState, signal: AbortSignal): Promise<void> {
    const state = stepState(thread);
    const { platform, supervisor, toolbox } = this.#ports;
    const { turnId, call, stage } = effect;
    const later = this.#ports.work.turn(this.#actor);
    if (later !== undefined) await later;
    if (signal.aborted) return;
    let step: Step;
    let before: FilesBefore | undefined;
    try {
      if (!(await this.#toolCallHooks.beforeCall(effect, state, signal))) return;
      const thread = this.#actor.parentId === null ? state : await this.#ports.inherited(state);
      step = await this.#kept(
        await nextStep(
          toolbox,
          effect,
          thread,
          platform.clock.now(),
          signal,
          this.#live,
          this.#actor.journal,
        ),
      );
      if (step.kind === "ask" && !(await this.#toolCallHooks.beforeQuestion(effect, step, state, signal)))
        return;
      before = await this.#filesBefore(step, signal);
    } catch (cause) {
      if (signal.aborted) return;
      supervisor.report(`tool ${call.name}`, cause);
      step = refusal(`The tool failed: ${cause instanceof Error ? cause.message : String(cause)}`);
    }
    if (signal.aborted) return;
    const command = {
      kind: "stepCall",
      at: platform.clock.now(),
      turnId,
      callId: call.callId,
      from: stage.kind,
      step: recordableStep(
        step,
        platform.ids,
        (question) => questionFingerprint(call, state, question),
        before,
      ),
    } as const;
    this.#actor.offer(command, mustOutlivePower(step));
  }
}
