import { inline, nullable, omittable, string } from "@bobbin/protocol/schema";
import { ApprovalsReviewer, ReasoningSummary } from "@bobbin/protocol/types";
import type { ThreadSettings } from "../life/records.ts";
import type { ThreadState } from "../state.ts";

/** The settings that can be changed for a running turn only. */
export type TurnSettings = Partial<
  Pick<ThreadSettings, "model" | "effort" | "summary" | "serviceTier" | "approvalsReviewer">
>;

export const TURN_SETTINGS = inline(() => ({
  model: omittable(string()),
  effort: omittable(nullable(string())),
  summary: omittable(nullable(ReasoningSummary)),
  serviceTier: omittable(nullable(string())),
  approvalsReviewer: omittable(ApprovalsReviewer),
}));

/**
 * The thread's state with the turn's settings at the start of the current model call, for that call and its tool
 * calls. Must not be folded: the thread keeps its own settings.
 */
export function stepState(state: ThreadState): ThreadState {
  const changes = state.turn?.stepSettings;
  return changes === undefined ? state : { ...state, settings: { ...state.settings, ...changes } };
}
