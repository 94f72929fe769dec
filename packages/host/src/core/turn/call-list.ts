import { type CallStage, type CallState, isSettled } from "./calls.ts";
import type { ToolCall } from "./records.ts";

/** Where a list of calls has which call, and how many of them are not settled. */
interface Index {
  /** Shared with the lists that were made of this one, which may have more. */
  readonly places: Map<string, number>;
  readonly pending: number;
}

/**
 * Lists are plain data, and copied with each change; to go through one for every step of every call as well would take a
 * thousand calls a million steps. So what is known of a list is kept beside it, and passed on to its copies.
 */
const indexes = new WeakMap<readonly CallState[], Index>();

export function findCall(calls: readonly CallState[], callId: string): CallState | undefined {
  return calls[placeOf(calls, callId)];
}

/** Nothing is waited for. */
export function allSettled(calls: readonly CallState[]): boolean {
  return indexOf(calls).pending === 0;
}

/** Nothing is waited for but this one. */
export function othersSettled(calls: readonly CallState[], call: CallState): boolean {
  return indexOf(calls).pending === (isSettled(call) ? 0 : 1);
}

export function addCall(calls: readonly CallState[], call: ToolCall): readonly CallState[] {
  const { places, pending } = indexOf(calls);
  const more = [...calls, { call, stage: { kind: "proposed" } } as const];
  // If another list was made of this one before, its calls are not in this one.
  if (places.size !== calls.length || places.has(call.callId)) return more;
  places.set(call.callId, calls.length);
  indexes.set(more, { places, pending: pending + 1 });
  return more;
}

/** With one call further on. */
export function stageCall(
  calls: readonly CallState[],
  callId: string,
  stage: CallStage,
): readonly CallState[] {
  const { places, pending } = indexOf(calls);
  // Calls have names of their own, but a journal that is damaged may say otherwise.
  if (places.size < calls.length) {
    return calls.map((one) => (one.call.callId === callId ? { ...one, stage } : one));
  }
  const place = placeOf(calls, callId);
  const before = calls[place];
  if (before === undefined) return calls;
  const after = { ...before, stage };
  const copy = calls.slice();
  copy[place] = after;
  indexes.set(copy, { places, pending: pending - waitsFor(before) + waitsFor(after) });
  return copy;
}

/** -1 if it has none. */
function placeOf(calls: readonly CallState[], callId: string): number {
  const place = indexOf(calls).places.get(callId) ?? -1;
  return calls[place]?.call.callId === callId ? place : -1;
}

function indexOf(calls: readonly CallState[]): Index {
  const known = indexes.get(calls);
  if (known !== undefined) return known;
  const places = new Map<string, number>();
  for (const [place, { call }] of calls.entries())
    if (!places.has(call.callId)) places.set(call.callId, place);
  const index = { places, pending: calls.reduce((sum, call) => sum + waitsFor(call), 0) };
  indexes.set(calls, index);
  return index;
}

function waitsFor(call: CallState): number {
  return isSettled(call) ? 0 : 1;
}
