import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";

/** The record that injects items into the model's history. */
export function injected(
  { turn, lastTurn }: ThreadState,
  at: number,
  items: readonly unknown[],
): ThreadRecord {
  const after = (turn ?? lastTurn)?.id;
  return { type: "itemsInjected", at, items, ...(after !== undefined && { after }) };
}
