import type { ThreadState } from "../state.ts";
import { isOutside } from "../turn/calls.ts";

/** What tool servers have of a thread: for each call or subscription the server's name, as it is configured. */
export interface Outside {
  readonly calls: readonly string[];
  readonly subscriptions: readonly string[];
}

const NONE: Outside = { calls: [], subscriptions: [] };

/** Asked again and again of the same state: for each of its calls, there may be thousands. */
const known = new WeakMap<ThreadState, Outside>();

export function outsideOf(state: ThreadState): Outside {
  const outside = known.get(state) ?? lookOutside(state);
  known.set(state, outside);
  return outside;
}

function lookOutside({ turn, rap }: ThreadState): Outside {
  const waited = turn?.calls.filter(isOutside) ?? [];
  if (waited.length + rap.late.length + rap.subscriptions.length === 0) return NONE;
  const via = waited.map(({ stage }) => ("via" in stage ? (stage.via ?? "") : ""));
  return {
    calls: [...via, ...rap.late.map((call) => call.via)],
    subscriptions: rap.subscriptions.map((call) => call.via),
  };
}

/** How often a server is named. */
export function countOf(names: readonly string[], server: string): number {
  return names.filter((name) => name === server).length;
}
