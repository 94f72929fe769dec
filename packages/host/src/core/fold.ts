import { foldLife } from "./life/fold.ts";
import type { ThreadRecord } from "./records.ts";
import type { ThreadState } from "./state.ts";
import { foldTurn } from "./turn/fold.ts";

/** The state after one more record. The first record of every journal is `created`. */
export function fold(state: ThreadState | undefined, record: ThreadRecord): ThreadState {
  if (record.type === "created") return foldLife(state, record);
  if (state === undefined) throw new Error(`a journal starts with created, not ${record.type}`);
  switch (record.type) {
    case "statusChanged":
    case "settingsChanged":
      return foldLife(state, record);
    case "turnStarted":
    case "sampleRequested":
    case "itemStarted":
    case "itemCompleted":
    case "usageReported":
    case "turnEnded":
      return foldTurn(state, record);
  }
}
