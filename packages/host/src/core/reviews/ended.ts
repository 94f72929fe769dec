import type { TokenUsageBreakdown } from "@bobbin/protocol";
import type { ThreadRecord } from "../records.ts";
import type { TurnState } from "../state.ts";
import type { RunningReview, Verdict } from "./records.ts";

export function reviewEnded(
  turnId: string,
  at: number,
  callId: string,
  { reviewId, targetItemId, action, startedAt }: RunningReview,
  review: Verdict,
  usage: TokenUsageBreakdown | null,
): ThreadRecord {
  const reviewed = { reviewId, targetItemId, action };
  return { type: "reviewEnded", turnId, at, callId, startedAt, ...reviewed, review, usage };
}

const ABORTED: Verdict = { status: "aborted", riskLevel: null, userAuthorization: null, rationale: null };

/** Ends the reviews that a turn's end does not wait for. */
export function abortReviews({ id, calls }: TurnState, at: number): readonly ThreadRecord[] {
  return calls.flatMap(({ call, stage }) =>
    stage.kind === "reviewing" ? [reviewEnded(id, at, call.callId, stage, ABORTED, null)] : [],
  );
}
