import { fold } from "../fold.ts";
import { defer, isDeferrable } from "../rap/deferred-calls.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { requestSample } from "./end-turn.ts";

/**
 * Starts a model call for input that waited for tool calls, once the turn waits only for tool servers and helpers.
 * They may take days, so the model is called without their results.
 */
export function withPendingInput(
  state: ThreadState,
  records: readonly ThreadRecord[],
  at: number | undefined,
): readonly ThreadRecord[] {
  if (!state.turn?.pendingInput || records.length === 0 || at === undefined) return records;
  let after = state;
  for (const record of records) after = fold(after, record);
  const { turn } = after;
  if (!turn?.pendingInput || !isDeferrable(after, turn)) return records;
  return [...records, ...defer(after, turn, at), requestSample(turn)];
}
