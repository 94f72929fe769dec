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
}

export function outlineOf(state: ThreadState): Outline {
  const { turn, status, requests } = state;
  return {
    turnId: turn?.id,
    busy: turn !== null || next(state).length > 0,
    status,
    requests,
    pendingCalls: turn?.calls.filter((call) => !isSettled(call)).length ?? 0,
    waits: onlyWaits(state),
  };
}
