import { type CallStage, type CallState, isSettled } from "./call-stages.ts";
import type { ToolCall } from "./records.ts";

/** The positions of calls in a list by ID, and the number of calls that are not settled. */
interface Index {
  /** Shared by a list and the lists that were copied from it, which may have more calls. */
  readonly positions: Map<string, number>;
  readonly pending: number;
}

/**
 * The index of each list of calls. Lists are plain data and are copied at each change. Without an index, every step
 * of every call would search its list, in quadratic time. A copy takes over the index.
 */
const indexes = new WeakMap<readonly CallState[], Index>();

export function findCall(calls: readonly CallState[], callId: string): CallState | undefined {
  return calls[positionOf(calls, callId)];
}

/** Whether all calls are settled. */
export function allSettled(calls: readonly CallState[]): boolean {
  return indexOf(calls).pending === 0;
}

/** Whether all calls except this one are settled. */
export function othersSettled(calls: readonly CallState[], call: CallState): boolean {
  return indexOf(calls).pending === (isSettled(call) ? 0 : 1);
}

export function addCall(calls: readonly CallState[], call: ToolCall): readonly CallState[] {
  const { positions, pending } = indexOf(calls);
  const more = [...calls, { call, stage: { kind: "proposed" } } as const];
  // Another copy has added its calls to the shared index; they are not in this list.
  if (positions.size !== calls.length || positions.has(call.callId)) return more;
  positions.set(call.callId, calls.length);
  indexes.set(more, { positions, pending: pending + 1 });
  return more;
}

/** The calls with other arguments for one of them. */
export function rewriteCall(calls: readonly CallState[], callId: string, args: string): readonly CallState[] {
  const rewritten = calls.map((one) =>
    one.call.callId === callId ? { ...one, call: { ...one.call, arguments: args } } : one,
  );
  const index = indexes.get(calls);
  if (index !== undefined) indexes.set(rewritten, index);
  return rewritten;
}

/** The calls with one of them in another stage. */
export function stageCall(
  calls: readonly CallState[],
  callId: string,
  stage: CallStage,
): readonly CallState[] {
  const { positions, pending } = indexOf(calls);
  // IDs are unique, except in a damaged journal.
  if (positions.size < calls.length) {
    return calls.map((one) => (one.call.callId === callId ? { ...one, stage } : one));
  }
  const position = positionOf(calls, callId);
  const before = calls[position];
  if (before === undefined) return calls;
  const after = { ...before, stage };
  const copy = calls.slice();
  copy[position] = after;
  indexes.set(copy, { positions, pending: pending - waitsFor(before) + waitsFor(after) });
  return copy;
}

/** The position of a call; -1 if it is not in the list. */
function positionOf(calls: readonly CallState[], callId: string): number {
  const position = indexOf(calls).positions.get(callId) ?? -1;
  return calls[position]?.call.callId === callId ? position : -1;
}

function indexOf(calls: readonly CallState[]): Index {
  const known = indexes.get(calls);
  if (known !== undefined) return known;
  const positions = new Map<string, number>();
  for (const [position, { call }] of calls.entries())
    if (!positions.has(call.callId)) positions.set(call.callId, position);
  const index = { positions, pending: calls.reduce((sum, call) => sum + waitsFor(call), 0) };
  indexes.set(calls, index);
  return index;
}

function waitsFor(call: CallState): number {
  return isSettled(call) ? 0 : 1;
}
