import type { LastHooks } from "../hooks/records.ts";
import type { ThreadState, TurnState } from "../state.ts";
import { addCall, allSettled, rewriteCall, stageCall } from "./call-list.ts";
import type { CallStage, CallState } from "./call-stages.ts";
import type { Compacting, ToolCall } from "./records.ts";

/** The phase of a running turn: what the turn waits for. `ending` occurs only within a commit. */
export type TurnPhase =
  | Sampling
  | CompactingPhase
  /** The model's answer is complete or was lost, and at least one of its tool calls is not settled. */
  | { readonly kind: "calling"; readonly calls: readonly CallState[] }
  /** The turn was started for shell commands of the user, and has made no model call yet. */
  | { readonly kind: "shell" }
  /** The last hooks of the turn are running. */
  | { readonly kind: "hooks"; readonly event: LastHooks }
  /** An intermediate phase. The commit that enters it also ends the turn or starts another phase. */
  | { readonly kind: "ending" };

/** A model call for an answer. */
export interface Sampling {
  readonly kind: "sampling";
  /** The earliest time of the model call; null for now. */
  readonly due: number | null;
  /** Whether clients were sent a part of the answer. */
  readonly shown: boolean;
  /** The tool calls of the answer so far. */
  readonly calls: readonly CallState[];
}

/** A model call for a summary. */
export interface CompactingPhase {
  readonly kind: "compacting";
  /** The earliest time of the model call; null for now. */
  readonly due: number | null;
  readonly how: Compacting;
}

const NO_CALLS: readonly CallState[] = [];

export const ENDING: TurnPhase = { kind: "ending" };
export const SAMPLING: Sampling = { kind: "sampling", due: null, shown: false, calls: NO_CALLS };

/** The tool calls of the model's last answer. None if the answer is complete and all its calls are settled. */
export function callsOf({ phase }: Pick<TurnState, "phase">): readonly CallState[] {
  return "calls" in phase ? phase.calls : NO_CALLS;
}

/** The tool calls of the running turn, if there is one. */
export function runningCalls({ turn }: Pick<ThreadState, "turn">): readonly CallState[] {
  return turn === null ? NO_CALLS : callsOf(turn);
}

/** The phase after the end of an answer. */
export function afterAnswer(phase: TurnPhase): TurnPhase {
  return phase.kind === "sampling" ? calling(phase.calls) : phase;
}

/** The phase with one more tool call. */
export function withCall(phase: TurnPhase, call: ToolCall): TurnPhase {
  switch (phase.kind) {
    case "sampling":
    case "calling":
      return { ...phase, calls: addCall(phase.calls, call) };
    case "shell":
    case "ending":
      return { kind: "calling", calls: addCall(NO_CALLS, call) };
    case "compacting":
    case "hooks":
      return phase;
  }
}

/** The phase with a tool call in another stage. */
export function withCallStage(phase: TurnPhase, callId: string, stage: CallStage): TurnPhase {
  return withCalls(phase, (calls) => stageCall(calls, callId, stage));
}

/** The phase with other arguments for one tool call. */
export function withCallArguments(phase: TurnPhase, callId: string, args: string): TurnPhase {
  return withCalls(phase, (calls) => rewriteCall(calls, callId, args));
}

/** The phase with its model call delayed. */
export function delayed(phase: TurnPhase, due: number): TurnPhase {
  return phase.kind === "sampling" || phase.kind === "compacting" ? { ...phase, due } : phase;
}

function withCalls(
  phase: TurnPhase,
  change: (calls: readonly CallState[]) => readonly CallState[],
): TurnPhase {
  switch (phase.kind) {
    case "sampling":
      return { ...phase, calls: change(phase.calls) };
    case "calling":
      return calling(change(phase.calls));
    default:
      return phase;
  }
}

function calling(calls: readonly CallState[]): TurnPhase {
  return allSettled(calls) ? ENDING : { kind: "calling", calls };
}
