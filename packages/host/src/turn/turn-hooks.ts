import type { ThreadItem } from "@bobbin/protocol";
import type { HookOutcome, LastHooks } from "../core/hooks/records.ts";
import type { CompactEffect, LastHooksEffect, SampleEffect } from "../core/next.ts";
import type { ThreadRecord } from "../core/records.ts";
import type { ThreadState, TurnState } from "../core/state.ts";
import { agentType, hookInput } from "../hooks/hook-input.ts";
import type { HookVerdict } from "../hooks/hook-output.ts";
import { outcomeOf } from "../hooks/thread-hooks.ts";
import type { HookGates, TurnPoint } from "./hook-gates.ts";
import type { ToolCallHooks } from "./tool-call-hooks.ts";
import type { TurnHookPorts } from "./turn-hook-ports.ts";

/**
 * Runs the hooks of one thread before its model calls and at the end of its turns: for the start of a session, new
 * prompts, ended tool calls, and compactions.
 */
export class TurnHooks {
  readonly #ports: TurnHookPorts;
  readonly #gates: HookGates;
  readonly #toolCallHooks: ToolCallHooks;

  constructor(ports: TurnHookPorts, gates: HookGates, toolCallHooks: ToolCallHooks) {
    this.#ports = ports;
    this.#gates = gates;
    this.#toolCallHooks = toolCallHooks;
  }

  /** Runs hooks before a model call. Returns false if a hook has ended the turn. `recorded`: reads the model's history. */
  async beforeSample(
    effect: SampleEffect,
    state: ThreadState,
    signal: AbortSignal,
    recorded: () => Promise<readonly ThreadRecord[]>,
  ): Promise<boolean> {
    const { turn } = state;
    const set = await this.#ports.hooks.of(state);
    if (set.isEmpty || turn === null) return !signal.aborted;
    const point = { state, signal, ...effect };
    if (turn.kind === "regular" && !(await this.#atStart(point))) return false;
    const history = await recorded();
    const ofTurn = history.filter((one) => "turnId" in one && one.turnId === turn.id);
    const done = new Set(history.flatMap((one) => (one.type === "hooksEnded" ? [nameOf(one)] : [])));
    for (const record of ofTurn)
      if (record.type === "compacted" && !done.has(`postCompact ${record.attempt}`)) {
        const outcome = await this.#compacted(point, "postCompact", String(record.attempt), "auto");
        if (signal.aborted || outcome?.stop) return false;
      }
    if (turn.kind === "regular" && !(await this.#atPrompts(point, history, done))) return false;
    await this.#toolCallHooks.afterCalls(point, unseen(history, turn.id), done);
    return !signal.aborted;
  }

  /** The event whose hooks must run if the turn ends now; undefined if no such hook is configured. */
  async lastHooks(state: ThreadState): Promise<LastHooks | undefined> {
    const set = await this.#ports.hooks.of(state);
    if (set.isEmpty || state.turn === null) return undefined;
    if (state.turn.kind === "compact")
      return set.matching("postCompact", ["manual"]).length > 0 ? "postCompact" : undefined;
    const agent = agentType(state);
    const event = agent === undefined ? "stop" : "subagentStop";
    return set.matching(event, agent === undefined ? [] : [agent]).length > 0 ? event : undefined;
  }

  /** Runs the last hooks of a turn. The turn then ends or continues. */
  async atEnd({ turnId, event }: LastHooksEffect, state: ThreadState, signal: AbortSignal): Promise<void> {
    const { turn } = state;
    if (turn === null) return;
    const point = { state, signal, turnId, attempt: turn.attempt };
    const agent = agentType(state);
    const isStop = event !== "postCompact";
    const names = isStop ? (agent === undefined ? [] : [agent]) : ["manual"];
    const more = isStop ? stopInput(turn) : { trigger: "manual" };
    const question = { event, names, input: hookInput(event, state, more), suffix: null };
    const extra = { itemId: this.#ports.platform.ids.uuid() };
    const outcome = await this.#gates.pass({ ...point, question, subject: null, more: extra });
    // The hooks may have been removed from the configuration since `lastHooks` named their event.
    if (outcome === undefined && !signal.aborted) await this.#gates.passWithoutHooks(point, event);
  }

  /** Runs `preCompact` hooks. Returns false if a hook has ended the turn. */
  async beforeSummary(
    effect: CompactEffect,
    state: ThreadState,
    signal: AbortSignal,
    recorded: () => Promise<readonly ThreadRecord[]>,
  ): Promise<boolean> {
    const set = await this.#ports.hooks.of(state);
    if (set.isEmpty || isAllowed(await recorded(), effect.turnId)) return !signal.aborted;
    const trigger = state.turn?.kind === "compact" ? "manual" : "auto";
    const point = { state, signal, ...effect };
    const outcome = await this.#compacted(point, "preCompact", String(effect.attempt), trigger);
    return !signal.aborted && outcome?.stop !== true;
  }

  /** Runs the hooks for the start of a session, once per load. Returns false if a hook has ended the turn. */
  async #atStart(point: TurnPoint): Promise<boolean> {
    const { state, signal } = point;
    const { startHooks, loadEpoch } = state;
    if (startHooks?.epoch === loadEpoch) return true;
    const agent = agentType(state);
    const event = agent === undefined ? "sessionStart" : "subagentStart";
    const source = startHooks?.epoch === 0 ? "compact" : loadEpoch === 1 ? "startup" : "resume";
    // A helper starts only once. If its host died, its first turn may belong to a later load.
    if (agent !== undefined && (startHooks !== undefined || (loadEpoch > 1 && state.lastTurn !== null)))
      return true;
    const more = agent === undefined ? { source } : { turn_id: point.turnId };
    const question = {
      event,
      names: [agent ?? source],
      input: hookInput(event, state, more),
      suffix: null,
    } as const;
    const outcome = await this.#gates.pass({ ...point, question, subject: null });
    return !signal.aborted && outcome?.stop !== true;
  }

  /**
   * Runs `userPromptSubmit` hooks for new prompts. Returns false if the turn has ended, because all prompts were
   * blocked.
   */
  async #atPrompts(
    point: TurnPoint,
    history: readonly ThreadRecord[],
    done: ReadonlySet<string>,
  ): Promise<boolean> {
    const { state, signal } = point;
    const fresh = promptsOf(history, point.turnId).filter(
      ({ item }) => !done.has(`userPromptSubmit ${item.id}`),
    );
    let isAccepted = false;
    for (const [nth, { item, isOwn }] of fresh.entries()) {
      const prompt = item.content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
      const input = hookInput("userPromptSubmit", state, { prompt });
      const question = { event: "userPromptSubmit", names: [], input, suffix: null } as const;
      const ends = isOwn && nth === fresh.length - 1 && !isAccepted;
      const outcome = await this.#gates.pass({
        ...point,
        question,
        subject: item.id,
        outcome: (verdicts) => promptOutcome(verdicts, ends),
      });
      if (signal.aborted || outcome?.stop) return false;
      if (isOwn && outcome?.block === undefined) isAccepted = true;
    }
    return true;
  }

  #compacted(
    point: TurnPoint,
    event: "preCompact" | "postCompact",
    subject: string,
    trigger: "manual" | "auto",
  ): Promise<HookOutcome | undefined> {
    const input = hookInput(event, point.state, { trigger });
    return this.#gates.pass({
      ...point,
      question: { event, names: [trigger], input, suffix: null },
      subject,
    });
  }
}

/** Whether `preCompact` hooks have run for the current compaction. One compaction may take several model calls. */
function isAllowed(history: readonly ThreadRecord[], turnId: string): boolean {
  const ofTurn = history.filter((one) => "turnId" in one && one.turnId === turnId);
  const last = ofTurn.findLast(
    (one) =>
      one.type === "sampleRequested" ||
      one.type === "compacted" ||
      (one.type === "hooksEnded" && one.event === "preCompact"),
  );
  return last?.type === "hooksEnded";
}

function nameOf({ event, subject }: Extract<ThreadRecord, { type: "hooksEnded" }>): string {
  return `${event} ${subject}`;
}

interface Prompt {
  readonly item: Extract<ThreadItem, { type: "userMessage" }>;
  readonly isOwn: boolean;
}

function promptsOf(history: readonly ThreadRecord[], turnId: string): readonly Prompt[] {
  return unseen(history, turnId).flatMap((one): Prompt[] =>
    one.type === "itemCompleted" && one.item.type === "userMessage"
      ? [{ item: one.item, isOwn: one.turnId === turnId }]
      : [],
  );
}

/**
 * The records of a turn, and the earlier ones since the model's last message: an interrupted turn may have left
 * prompts and outputs for which no hook has run.
 */
function unseen(history: readonly ThreadRecord[], turnId: string): readonly ThreadRecord[] {
  const isSpoken = (one: ThreadRecord) => one.type === "itemCompleted" && one.item.type === "agentMessage";
  const spoken = history.findLastIndex((one) => isSpoken(one) && "turnId" in one && one.turnId !== turnId);
  return history.filter((one, nth) => nth > spoken || ("turnId" in one && one.turnId === turnId));
}

function stopInput({ answer, stopBlocks = 0 }: TurnState): object {
  return {
    stop_hook_active: stopBlocks > 0,
    last_assistant_message: answer?.type === "agentMessage" ? answer.text : null,
  };
}

/**
 * The outcome of `userPromptSubmit` hooks. `ends`: this is the last remaining prompt, so blocking it ends the turn.
 */
function promptOutcome(verdicts: readonly HookVerdict[], ends: boolean): HookOutcome {
  const { stop, block, ...outcome } = outcomeOf(verdicts);
  if (block === undefined && stop !== true) return outcome;
  return { ...outcome, block: block ?? "a hook stopped it", ...(ends && { stop: true }) };
}
