import type { ThreadState } from "./state.ts";

/** Work that the state asks for. The key names it: an effect with a key that already runs is left alone. */
export interface Effect {
  readonly key: string;
  readonly kind: "sample";
  readonly turnId: string;
  readonly attempt: number;
}

/**
 * What should be under way now. The runner starts what is missing and stops what is no longer named, so that
 * live running, waking and restarting all go the same way.
 */
export function next(state: ThreadState): readonly Effect[] {
  if (state.turn === null) return [];
  const { id: turnId, attempt } = state.turn;
  return [{ key: `sample ${turnId} ${attempt}`, kind: "sample", turnId, attempt }];
}
