import type { TokenUsageBreakdown } from "@bobbin/protocol";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { callsOf } from "../turn/phase.ts";
import type { AsideReview, RunningReview, Verdict } from "./records.ts";

/** The record of a review's end. */
export function reviewEnded(
  turnId: string,
  at: number,
  callId: string,
  { reviewId, targetItemId, action, startedAt, requestId }: RunningReview & Partial<AsideReview>,
  review: Verdict,
  usage: TokenUsageBreakdown | null,
): ThreadRecord {
  const reviewed = { reviewId, targetItemId, action };
  const answered = requestId === undefined ? {} : { requestId };
  return { type: "reviewEnded", turnId, at, callId, startedAt, ...reviewed, review, usage, ...answered };
}

const ABORTED: Verdict = { status: "aborted", riskLevel: null, userAuthorization: null, rationale: null };

/** Aborts the reviews that run when a turn ends. */
export function abortReviews(state: ThreadState, at: number): readonly ThreadRecord[] {
  const { turn } = state;
  if (turn === null) return [];
  return [
    ...callsOf(turn).flatMap(({ call, stage }) =>
      stage.kind === "reviewing" ? [reviewEnded(turn.id, at, call.callId, stage, ABORTED, null)] : [],
    ),
    ...abortAsideReviews(state, at),
  ];
}

/** Aborts reviews of network connections: those of one call, or all. */
export function abortAsideReviews(
  { asideReviews = [] }: ThreadState,
  at: number,
  callId?: string,
): readonly ThreadRecord[] {
  return asideReviews
    .filter((review) => callId === undefined || review.callId === callId)
    .map((review) => reviewEnded(review.turnId, at, review.callId, review, ABORTED, null));
}
