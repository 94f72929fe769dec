import { fold } from "../fold.ts";
import { defer, isDeferrable } from "../rap/late.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { requestSample } from "./ending.ts";

/**
 * Input that came while a call was on its way to its server, or asked for, had to wait for it. As soon as all that the
 * turn waits for is tool servers, which may take days, the model is called with it.
 */
export function withUnheard(
  state: ThreadState,
  records: readonly ThreadRecord[],
  at: number | undefined,
): readonly ThreadRecord[] {
  if (!state.turn?.unheard || records.length === 0 || at === undefined) return records;
  let after = state;
  for (const record of records) after = fold(after, record);
  const { turn } = after;
  if (!turn?.unheard || !isDeferrable(after, turn)) return records;
  return [...records, ...defer(after, turn, at), requestSample(turn)];
}
