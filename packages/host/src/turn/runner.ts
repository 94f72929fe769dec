import { createHash } from "node:crypto";
import type { RateLimitSnapshot } from "@bobbin/protocol";
import type { Child } from "../core/children/records.ts";
import type {
  CallEffect,
  ChildEffect,
  CommandEffect,
  ContinueGoalEffect,
  DiffEffect,
  Effect,
  LateCallEffect,
  NetworkRuleEffect,
  PostChoiceEffect,
  StartEventsEffect,
  StartQueuedEffect,
} from "../core/next.ts";
import type { ThreadState } from "../core/state.ts";
import { threadTime } from "../core/thread-time.ts";
import type { CallStep } from "../core/turn/calls.ts";
import type { FilesBefore } from "../core/turn/changes.ts";
import type { ToolCall } from "../core/turn/records.ts";
import { Fault } from "../errors.ts";
import type { AnswerLimits } from "../model/answer-limits.ts";
import type { ModelProvider } from "../model/model.ts";
import type { Supervisor } from "../observe/supervise.ts";
import type { Platform, ReadableFiles } from "../platform/platform.ts";
import type { Slices } from "../platform/slices.ts";
import type { Actor } from "../thread/actor.ts";
import { keepMedia, namesMedia } from "../tool/kept-media.ts";
import { keepOutput } from "../tool/kept-output.ts";
import { retryDelay } from "../tool/retry-delay.ts";
import { type LiveOutput, refusal, type Step } from "../tool/tool.ts";
import type { Toolbox } from "../tool/toolbox.ts";
import type { WorkspaceChanges } from "../workspace/lazy-turn-files.ts";
import { ApprovalReviews } from "./approval-reviews.ts";
import { ModelCalls } from "./model-calls.ts";
import { nextStep } from "./next-step.ts";
import type { Pasts } from "./past.ts";
import { showChanges } from "./shown-changes.ts";
import { ThreadModel } from "./thread-model.ts";
import { waitUntil } from "./waiting.ts";

/** What a runner needs from around it. */
export interface RunnerPorts {
  readonly platform: Platform;
  /** Keeps threads with much work from holding up others. */
  readonly work: Slices<Actor>;
  readonly supervisor: Supervisor;
  /** The shell that people use here, for the model to know. */
  readonly shell: string;
  readonly pasts: Pasts;
  readonly toolbox: Toolbox;
  readonly models: ModelPolicy;
  provider(id: string): ModelProvider;
  /** The files that an owner's threads may read. */
  filesOf(owner: string): ReadableFiles;
  /** Makes a child, or looks whether one is over; what became of it, if that is to be told. */
  child(parent: Actor, state: ThreadState, child: Child): Promise<"childMade" | "childEnded" | undefined>;
  readonly turnFiles: WorkspaceChanges;
  /** Takes what providers say about limits. */
  limits(snapshot: RateLimitSnapshot): void;
}

/** What is configured about calls of models, whichever model it is. */
export interface ModelPolicy {
  /** Whether models that can search the web by themselves may, and whether in what is there now. */
  readonly webSearch: "live" | "cached" | null;
  /** How much the model takes in, where someone knows better than we do. */
  readonly contextWindow: number | null;
  /** From so many tokens on a conversation is made shorter; null: near the end of the window. */
  readonly autoCompactTokens: number | null;
  /** What the model is asked that has to do it; null: our own words. */
  readonly compactPrompt: string | null;
  /** Which model reviews; null: the thread's own. */
  readonly reviewModel: string | null;
  /** What a model judges approvals by; null: our own policy. */
  readonly approvalReviewPolicy: string | null;
  readonly answerLimits: AnswerLimits;
}

/** How often a child is tried again before its parent does without it. */
const CHILD_RETRIES = 4;

/** Why an effect is aborted: made once, because most have ended by then, and an error of their own would be for nobody. */
const OVER = new Error("no longer asked for");

/**
 * Performs one thread's effects: what `next` names is started, what it no longer names is aborted, and every
 * outcome goes back to the thread as a command. Holds nothing that the journal does not know.
 */
export class Runner {
  readonly #actor: Actor;
  readonly #ports: RunnerPorts;
  readonly #modelCalls: ModelCalls;
  readonly #reviews: ApprovalReviews;
  /** `wantedIn`: the last round in which it was wanted. */
  readonly #running = new Map<string, { readonly controller: AbortController; wantedIn: number }>();
  /** Counts the calls of `reconcile`. */
  #round = 0;
  /** Set while clients are to be shown what the turn has changed: it does not end before that. */
  #diffing: Promise<void> | undefined;

  constructor(actor: Actor, ports: RunnerPorts) {
    this.#actor = actor;
    this.#ports = ports;
    const model = new ThreadModel(actor, ports);
    this.#modelCalls = new ModelCalls(actor, ports, model, () => this.#diffing);
    this.#reviews = new ApprovalReviews(actor, ports, model);
  }

  /** Shows clients what a tool does while it does it. */
  readonly #live: LiveOutput = (text, delta) => this.#actor.text(text, delta);

  /** Nothing is under way. */
  get idle(): boolean {
    return this.#running.size === 0;
  }

  /** Called after each change of the thread's state, with what that names. */
  reconcile(state: ThreadState, wanted: readonly Effect[]): void {
    const { supervisor } = this.#ports;
    this.#round++;
    const missing: Effect[] = [];
    for (const effect of wanted) {
      const running = this.#running.get(effect.key);
      if (running === undefined) missing.push(effect);
      else running.wantedIn = this.#round;
    }
    for (const [key, { controller, wantedIn }] of this.#running) {
      if (wantedIn === this.#round) continue;
      this.#running.delete(key);
      controller.abort(OVER);
    }
    for (const effect of missing) {
      const controller = new AbortController();
      this.#running.set(effect.key, { controller, wantedIn: this.#round });
      const { signal } = controller;
      if (effect.kind === "startQueued")
        supervisor.take(effect.key, this.#startQueued(effect, state, signal));
      else if (effect.kind === "continueGoal") this.#continueGoal();
      else if (effect.kind === "startEvents") this.#startEvents();
      else supervisor.take(effect.key, this.#perform(effect, state, signal));
    }
  }

  #perform(
    effect: Exclude<Effect, StartQueuedEffect | ContinueGoalEffect | StartEventsEffect>,
    state: ThreadState,
    signal: AbortSignal,
  ): Promise<void> {
    switch (effect.kind) {
      case "sample":
        return this.#modelCalls.sample(effect, state, signal);
      case "compact":
        return this.#modelCalls.compact(effect, state, signal);
      case "call":
        return effect.due === null
          ? this.#call(effect, state, signal)
          : this.#later(effect.due, state, signal, (later) => this.#call(effect, later, signal));
      case "review":
        return this.#reviews.review(effect, state, signal);
      case "lateCall":
        return this.#expire(effect, state, signal);
      case "child":
        return this.#child(effect, state, signal);
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
    const diffing = showChanges(this.#actor, this.#ports, effect, state, signal).finally(() => {
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

  #continueGoal(): void {
    const { clock, ids } = this.#ports.platform;
    this.#actor.offer({ kind: "continueGoal", at: clock.now(), turnId: ids.uuid() });
  }

  /** A disk that is full, say, may have room later. */
  async #child(effect: ChildEffect, state: ThreadState, signal: AbortSignal, failures = 0): Promise<void> {
    const { platform, supervisor, child: perform } = this.#ports;
    const { childId } = effect.child;
    let done: Awaited<ReturnType<RunnerPorts["child"]>> | "childFailed";
    try {
      done = await perform(this.#actor, state, effect.child);
    } catch (cause) {
      if (signal.aborted || (cause instanceof Fault && cause.code === "shuttingDown")) return;
      supervisor.report(`child ${childId}`, cause);
      const due = threadTime(state, platform.clock.now()) + retryDelay(failures, platform.ids);
      if (failures < CHILD_RETRIES)
        return this.#later(due, state, signal, (later) => this.#child(effect, later, signal, failures + 1));
      done = "childFailed";
    }
    if (done === undefined || signal.aborted) return;
    this.#actor.offer({ kind: done, at: platform.clock.now(), childId });
  }

  /** An effect of a kind that belongs to a tool source. */
  async #bySource(
    effect: PostChoiceEffect | CommandEffect | NetworkRuleEffect,
    state: ThreadState,
    signal: AbortSignal,
  ): Promise<void> {
    const command = await this.#ports.toolbox.perform(effect, state, signal, this.#live);
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

  /** Does what is due then. Holds no state meanwhile: most of a thread that waits can sleep. */
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
      // Who asked for it, or the thread, has gone.
      if (!signal.aborted && !(cause instanceof Fault)) throw cause;
    }
  }

  /** Large pictures go beside the journal, while there is room for them. */
  async #kept(step: Step): Promise<Step> {
    const { ephemeral, journal } = this.#actor;
    if (step.kind !== "settle" || ephemeral) return step;
    const kept = await keepOutput(step.output, (name, bytes) => journal.keep(name, bytes)).catch(
      () => undefined,
    );
    return { ...step, ...kept };
  }

  /** Saves what a call is about to change, when clients were shown what the calls before it have changed. */
  async #filesBefore(step: Step, signal: AbortSignal): Promise<FilesBefore | undefined> {
    if (step.kind !== "dispatch" || step.changes === undefined) return undefined;
    await this.#diffing?.catch(() => {});
    const { journal } = this.#actor;
    return this.#ports.turnFiles.before(await this.#actor.peek(), journal, step.changes, signal);
  }

  /** Takes a call one step further. Whatever a tool does, the model gets an answer. */
  async #call(effect: CallEffect, state: ThreadState, signal: AbortSignal): Promise<void> {
    const { platform, supervisor, toolbox } = this.#ports;
    const { turnId, call, stage } = effect;
    const later = this.#ports.work.turn(this.#actor);
    if (later !== undefined) await later;
    if (signal.aborted) return;
    let step: Step;
    let before: FilesBefore | undefined;
    try {
      step = await this.#kept(
        await nextStep(toolbox, effect, state, platform.clock.now(), signal, this.#live),
      );
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
      step: recordable(step, platform.ids, (asked) => fingerprintOf(call, state, asked), before),
    } as const;
    this.#actor.offer(command, mustOutlivePower(step));
  }
}

type AskStep = Extract<Step, { kind: "ask" }>;

/** A step as the thread takes it. */
function recordable(
  step: Step,
  ids: Platform["ids"],
  fingerprint: (asked: AskStep) => string,
  before: FilesBefore | undefined,
): CallStep {
  switch (step.kind) {
    case "ask":
      return { ...step, requestId: ids.integer(), reviewId: ids.uuid(), fingerprint: fingerprint(step) };
    case "dispatch": {
      const { changes: _, ...dispatch } = step;
      return before === undefined ? dispatch : { ...dispatch, before };
    }
    default:
      return step;
  }
}

/** Equal for calls that ask for exactly the same in the same place, and for no others. */
function fingerprintOf(
  { namespace, name, arguments: args }: ToolCall,
  { settings }: ThreadState,
  { question, ask }: AskStep,
): string {
  // The name of a question, and permissions, stand for where paths of the arguments lead: a link may have been replaced since.
  const { permissions } = ask.params as { readonly permissions?: unknown };
  const exact = JSON.stringify([namespace, name, args, settings.cwd, question, permissions]);
  return createHash("sha256").update(exact).digest("hex");
}

/**
 * Whether a power cut must not take the record: a tool server outlives one, and must not be sent the same call twice; and
 * so do files that a plan changes, which the next host goes on with. A process ends with the machine.
 */
function mustOutlivePower(step: Step): boolean {
  if (step.kind !== "dispatch") return false;
  return step.again ? step.plan !== undefined : step.via !== undefined;
}
