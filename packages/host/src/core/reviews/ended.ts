import type { TokenUsageBreakdown } from "@bobbin/protocol";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import type { AsideReview, RunningReview, Verdict } from "./records.ts";

export function reviewEnded(
  turnId: string,
  at: number,
  callId: string,
  { reviewId, targetItemId, action, startedAt, requestId }: RunningReview & Partial<AsideReview>,
  review: Verdict,
  usage: TokenUsageBreakdown | null,
): ThreadRecord {
  const reviewed = { reviewId, targetItemId, action };
  const aside = requestId === undefined ? {} : { requestId };
  return { type: "reviewEnded", turnId, at, callId, startedAt, ...reviewed, review, usage, ...aside };
}

const ABORTED: Verdict = { status: "aborted", riskLevel: null, userAuthorization: null, rationale: null };

/** Ends the reviews that a turn's end does not wait for. */
export function abortReviews(state: ThreadState, at: number): readonly ThreadRecord[] {
  const { turn } = state;
  if (turn === null) return [];
  return [
    ...turn.calls.flatMap(({ call, stage }) =>
      stage.kind === "reviewing" ? [reviewEnded(turn.id, at, call.callId, stage, ABORTED, null)] : [],
    ),
    ...abortAsideReviews(state, at),
  ];
}

/** Ends the reviews beside a call, or beside all calls. */
export function abortAsideReviews(
  { asideReviews = [] }: ThreadState,
  at: number,
  callId?: string,
): readonly ThreadRecord[] {
  return asideReviews
    .filter((review) => callId === undefined || review.callId === callId)
    .map((review) => reviewEnded(review.turnId, at, review.callId, review, ABORTED, null));
}
