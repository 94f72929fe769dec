import type { ThreadStatus } from "@bobbin/protocol";
import { type Effect, next } from "../core/next.ts";
import { type Outside, outsideOf } from "../core/rap/outside.ts";
import type { PendingRequest } from "../core/requests/records.ts";
import type { ThreadState } from "../core/state.ts";
import { isSettled, onlyWaits } from "../core/turn/calls.ts";

/** What is asked of a loaded thread at any time, also of one that sleeps. */
export interface Outline {
  readonly turnId: string | undefined;
  /** Something is under way, or about to be. */
  readonly busy: boolean;
  readonly status: ThreadStatus;
  readonly requests: readonly PendingRequest[];
  readonly pendingCalls: number;
  readonly waits: boolean;
  /** What comes from outside by itself, turn or no turn: of calls that nobody waits for, and of children. */
  readonly late: number;
  readonly children: number;
  /** What tool servers have of it. */
  readonly outside: Outside;
}

export function outlineOf(state: ThreadState): Outline {
  const { turn, status, requests, rap, children } = state;
  return {
    turnId: turn?.id,
    busy: turn !== null || next(state).some(isPressing),
    status,
    requests,
    pendingCalls: turn?.calls.filter((call) => !isSettled(call)).length ?? 0,
    waits: state.turn !== null && onlyWaits(state.turn),
    late: rap.late.length,
    children: children.length,
    outside: outsideOf(state),
  };
}

/** It has to be done now, and the thread is needed for it. */
function isPressing(effect: Effect): boolean {
  return effect.kind === "child" ? effect.child.task !== null : effect.kind !== "lateCall";
}
