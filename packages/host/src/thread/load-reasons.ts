import type { Actor } from "./actor.ts";
import type { Idle } from "./idle-unload.ts";

/** What keeps a thread loaded. A number of 0, false and null mean that it is not a reason. */
interface LoadReasons {
  /** Number of retaining subscribers. Observers do not keep a thread loaded. */
  readonly subscribers: number;
  readonly turnId: string | null;
  /** Whether the thread is about to work without a running turn. */
  readonly workDue: boolean;
  readonly pendingRequests: number;
  readonly pendingCalls: number;
  readonly descendants: number;
  /** Number of live subscriptions of tool servers. */
  readonly toolServerSubscriptions: number;
  /** Whether the thread is a helper that its parent has not closed. */
  readonly isOpenHelper: boolean;
  /** The rest of the unload delay, if there is no other reason. */
  readonly unloadsInMs: number | null;
}

export function loadReasons(actor: Actor, idle: Idle): LoadReasons {
  return {
    subscribers: actor.subscriptions.retaining,
    turnId: actor.activeTurn ?? null,
    workDue: actor.activeTurn === undefined && actor.busy && !actor.broken,
    pendingRequests: actor.requests.length,
    pendingCalls: actor.pendingCalls,
    descendants: actor.children,
    toolServerSubscriptions: actor.outside.subscriptions.length,
    isOpenHelper: idle.isOpenHelper(actor),
    unloadsInMs: idle.remainingMs(actor),
  };
}
