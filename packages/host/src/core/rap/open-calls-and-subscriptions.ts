import type { ThreadState } from "../state.ts";
import { isOutside } from "../turn/call-stages.ts";
import { runningCalls } from "../turn/phase.ts";

/**
 * The open calls and subscriptions of a thread at tool servers. Each is listed as its server's name in the
 * configuration.
 */
export interface OpenAtToolServers {
  readonly calls: readonly string[];
  readonly subscriptions: readonly string[];
}

const NONE: OpenAtToolServers = { calls: [], subscriptions: [] };

/** Cached by state: a thread may have thousands of calls, and each of them needs this list. */
const known = new WeakMap<ThreadState, OpenAtToolServers>();

export function openAtToolServers(state: ThreadState): OpenAtToolServers {
  const outside = known.get(state) ?? collectOpen(state);
  known.set(state, outside);
  return outside;
}

function collectOpen(state: ThreadState): OpenAtToolServers {
  const { rap } = state;
  const waited = runningCalls(state).filter(isOutside);
  if (waited.length + rap.late.length + rap.subscriptions.length === 0) return NONE;
  const via = waited.map(({ stage }) => ("via" in stage ? (stage.via ?? "") : ""));
  return {
    calls: [...via, ...rap.late.map((call) => call.via)],
    subscriptions: rap.subscriptions.map((call) => call.via),
  };
}

/** Counts the entries of one server. */
export function countOf(names: readonly string[], server: string): number {
  return names.filter((name) => name === server).length;
}
