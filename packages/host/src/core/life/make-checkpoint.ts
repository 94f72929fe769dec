import type { ThreadState } from "../state.ts";
import { turnInCheckpoint } from "../turn/checkpoint-turn.ts";
import type { LifeRecord } from "./records.ts";

/** A checkpoint record: a load starts from it and does not read earlier records. */
export function checkpointOf(state: ThreadState): Extract<LifeRecord, { type: "checkpoint" }> {
  const turn = state.turn === null ? null : turnInCheckpoint(state.turn);
  return { type: "checkpoint", state: { ...state, turn } };
}
