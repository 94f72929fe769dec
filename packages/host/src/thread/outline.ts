import type { ThreadStatus } from "@bobbin/protocol";
import { next } from "../core/next.ts";
import type { PendingRequest } from "../core/requests/records.ts";
import type { ThreadState } from "../core/state.ts";
import { isSettled } from "../core/turn/calls.ts";
import { onlyWaits } from "../core/turn/restart.ts";

/** What is asked of a loaded thread at any time, also of one that sleeps. */
export interface Outline {
  readonly turnId: string | undefined;
  /** Something is under way, or about to be. */
  readonly busy: boolean;
  readonly status: ThreadStatus;
  readonly requests: readonly PendingRequest[];
  readonly pendingCalls: number;
  readonly waits: boolean;
  /** What comes from outside by itself, turn or no turn: subscriptions, and calls that nobody waits for. */
  readonly live: { readonly subscriptions: number; readonly late: number };
}

export function outlineOf(state: ThreadState): Outline {
  const { turn, status, requests, rap } = state;
  return {
    turnId: turn?.id,
    // What has a time of its own need not be in memory until then.
    busy: turn !== null || next(state).some(({ kind }) => kind !== "lateCall"),
    status,
    requests,
    pendingCalls: turn?.calls.filter((call) => !isSettled(call)).length ?? 0,
    waits: onlyWaits(state),
    live: { subscriptions: rap.subscriptions.length, late: rap.late.length },
  };
}
