import type { ThreadStatus } from "@bobbin/protocol";
import { isAtWork } from "../core/children/helper-thread-state.ts";
import { type Effect, next } from "../core/next.ts";
import { type OpenAtToolServers, openAtToolServers } from "../core/rap/open-calls-and-subscriptions.ts";
import type { PendingRequest } from "../core/requests/records.ts";
import type { ThreadState } from "../core/state.ts";
import { isSettled, onlyWaits } from "../core/turn/call-stages.ts";
import { runningCalls } from "../core/turn/phase.ts";

/** The activity of a loaded thread. It stays in memory while the thread hibernates. */
export interface ThreadActivity {
  /** When the thread was last used, in milliseconds. */
  readonly updatedAt: number;
  readonly turnId: string | undefined;
  /** Whether a turn runs, or an effect is due. */
  readonly busy: boolean;
  readonly status: ThreadStatus;
  readonly requests: readonly PendingRequest[];
  readonly pendingCalls: number;
  /** Whether the running turn only waits for tool servers or people. */
  readonly waits: boolean;
  /** The number of deferred calls, whose results arrive as events. */
  readonly late: number;
  /** The number of children and of helpers that work. */
  readonly children: number;
  /** The thread IDs of open helpers. */
  readonly helpers: readonly string[];
  /** The thread's open calls and subscriptions at tool servers. */
  readonly outside: OpenAtToolServers;
}

const NONE: readonly never[] = [];

export function activityOf(state: ThreadState): ThreadActivity {
  const { updatedAt, turn, status, requests, rap, children, helpers } = state;
  return {
    updatedAt,
    turnId: turn?.id,
    busy: turn !== null || next(state, null).some(isPressing),
    status,
    requests,
    pendingCalls: runningCalls(state).filter((call) => !isSettled(call)).length,
    waits: state.turn !== null && onlyWaits(state.turn),
    late: rap.late.length,
    children: children.length + helpers.open.filter(isAtWork).length,
    helpers: helpers.open.length === 0 ? NONE : helpers.open.map(({ childId }) => childId),
    outside: openAtToolServers(state),
  };
}

/**
 * Whether the effect needs the thread in memory now. Effects that only wait for another thread, a server or a process
 * do not: a background terminal keeps its thread neither loaded nor in memory.
 */
function isPressing(effect: Effect): boolean {
  switch (effect.kind) {
    case "child":
      return effect.child.task !== null;
    case "helper":
      return effect.what !== "hear";
    case "command":
    case "lateCall":
    case "notices":
    case "expireQuestion":
      return false;
    default:
      return true;
  }
}
