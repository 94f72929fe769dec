import type { ThreadItem } from "@bobbin/protocol";
import type { HookCommand } from "../core/hooks/commands.ts";
import type { HookOutcome } from "../core/hooks/records.ts";
import type { ThreadState } from "../core/state.ts";
import { Fault } from "../errors.ts";
import type { ConfiguredHook } from "../hooks/configured-hooks.ts";
import type { HookEvent } from "../hooks/hook-events.ts";
import type { HookVerdict } from "../hooks/hook-output.ts";
import { type HookQuestion, outcomeOf } from "../hooks/thread-hooks.ts";
import type { Actor } from "../thread/actor.ts";
import { AsyncHooks } from "./async-hooks.ts";
import type { TurnHookPorts } from "./turn-hook-ports.ts";

/** A point of a turn where hooks may run. */
export interface TurnPoint {
  readonly state: ThreadState;
  readonly turnId: string;
  readonly attempt: number;
  readonly signal: AbortSignal;
}

/** The hooks that run at a point of a turn, and the subject that they run for. */
interface Gate extends TurnPoint {
  readonly question: HookQuestion;
  readonly subject: string | null;
  /** Combines the verdicts of the hooks. */
  outcome?(verdicts: readonly HookVerdict[]): HookOutcome;
  /** Additional fields of the command that records the outcome. */
  readonly more?: { readonly item?: ThreadItem | undefined; readonly itemId?: string };
}

type EndHooks = Extract<HookCommand, { kind: "endHooks" }>;

/** Runs the hooks of one thread. The hooks' outcome is recorded before it takes effect. */
export class HookGates {
  readonly #actor: Actor;
  readonly #ports: TurnHookPorts;
  readonly #asyncHooks: AsyncHooks;

  constructor(actor: Actor, ports: TurnHookPorts) {
    this.#actor = actor;
    this.#ports = ports;
    this.#asyncHooks = new AsyncHooks(actor, ports);
  }

  /** Runs hooks and records their outcome. Undefined if none ran, or the effect was aborted. */
  async pass(gate: Gate): Promise<HookOutcome | undefined> {
    const { state, question, signal, turnId, outcome: read = outcomeOf } = gate;
    const { hooks } = this.#ports;
    const matching = (await hooks.of(state)).matching(question.event, question.names);
    this.#asyncHooks.start(state, matching.filter(isUnawaited), question);
    const awaited = matching.filter((hook) => !isUnawaited(hook));
    if (awaited.length === 0 || signal.aborted) return undefined;
    const runs = hooks.started(awaited, question);
    if (!(await this.#submit({ kind: "startHooks", at: this.#now(), turnId, runs }))) return undefined;
    const answers = await hooks.run(state, awaited, question, signal);
    if (signal.aborted) return undefined;
    const outcome = read(answers.verdicts);
    const isRecorded = await this.#end(gate, question.event, {
      subject: gate.subject,
      runs: answers.runs,
      outcome,
      ...gate.more,
    });
    return isRecorded ? outcome : undefined;
  }

  /** Records that an event has no hooks, so that the turn does not wait for them. */
  async passWithoutHooks(point: TurnPoint, event: HookEvent): Promise<void> {
    await this.#end(point, event, { subject: null, runs: [], outcome: {} });
  }

  #end(
    { turnId, attempt }: TurnPoint,
    event: HookEvent,
    end: Pick<EndHooks, "subject" | "runs" | "outcome" | "item" | "itemId">,
  ): Promise<boolean> {
    return this.#submit({ kind: "endHooks", at: this.#now(), turnId, attempt, event, ...end });
  }

  /** Returns false if the thread takes no more commands. */
  async #submit(command: HookCommand): Promise<boolean> {
    try {
      await this.#actor.submit(command);
      return true;
    } catch (cause) {
      if (cause instanceof Fault) return false;
      throw cause;
    }
  }

  #now(): number {
    return this.#ports.platform.clock.now();
  }
}

function isUnawaited({ async: unawaited }: ConfiguredHook): boolean {
  return unawaited;
}
