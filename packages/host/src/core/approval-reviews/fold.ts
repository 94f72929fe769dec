import type { ThreadState } from "../state.ts";
import { findCall } from "../turn/call-list.ts";
import { withStage, withTurn } from "../turn/fold.ts";
import { callsOf } from "../turn/phase.ts";
import { withSpent } from "../turn/usage.ts";
import { withReview } from "./denial-limit.ts";
import type { ReviewRecord, RunningReview, Verdict } from "./records.ts";
import { answerOf } from "./verdict-outcome.ts";

type ReviewStarted = Extract<ReviewRecord, { type: "reviewStarted" }>;
type DenialApproved = Extract<ReviewRecord, { type: "denialApproved" }>;
type ReviewEnded = Extract<ReviewRecord, { type: "reviewEnded" }>;

/** Limit on the denials per thread that a person may still approve. */
const MAX_DENIALS = 32;

export function foldReviewStarted(state: ThreadState, record: ReviewStarted): ThreadState {
  const { at: startedAt, reviewId, targetItemId, action, ask, question, fingerprint } = record;
  const review = {
    startedAt,
    reviewId,
    targetItemId,
    action,
    ask,
    ...(question !== undefined && { question }),
    ...(fingerprint !== undefined && { fingerprint }),
  };
  const { requestId, turnId, callId } = record;
  if (requestId === undefined) return withStage(state, record, { kind: "reviewing", ...review });
  const { asideReviews = [] } = state;
  return { ...state, asideReviews: [...asideReviews, { ...review, requestId, turnId, callId }] };
}

export function foldDenialApproved(state: ThreadState, { reviewId }: DenialApproved): ThreadState {
  const denials = state.denials?.map((one) => (one.reviewId === reviewId ? { ...one, approved: true } : one));
  return denials === undefined ? state : { ...state, denials };
}

/** The tool call continues with the verdict as if a person had answered. */
export function foldReviewEnded(state: ThreadState, record: ReviewEnded): ThreadState {
  const { turnId, callId, reviewId, review, usage } = record;
  const spent = usage === null ? state : { ...state, usage: withSpent(state.usage, usage) };
  if (record.requestId !== undefined) return withoutAside(spent, record);
  const stage = state.turn?.id === turnId ? findCall(callsOf(state.turn), callId)?.stage : undefined;
  if (stage?.kind !== "reviewing" || stage.reviewId !== reviewId || review.status === "aborted") return spent;
  const { ask, question } = stage;
  const heard = withStage(withDenial(spent, stage, review), record, {
    kind: "heard",
    method: ask.method,
    ...(question !== undefined && { question }),
    answer: answerOf(ask, review),
  });
  return withTurn(heard, turnId, ({ reviews }) => ({ reviews: withReview(reviews, review) }));
}

/** Removes an ended review of a network connection. The waiting command continues when it sees the record. */
function withoutAside(state: ThreadState, { reviewId, turnId, review }: ReviewEnded): ThreadState {
  const ended = state.asideReviews?.find((one) => one.reviewId === reviewId);
  if (ended === undefined) return state;
  const others = state.asideReviews?.filter((one) => one !== ended) ?? [];
  const without: ThreadState = { ...state, asideReviews: others.length === 0 ? undefined : others };
  if (review.status === "aborted") return without;
  return withTurn(withDenial(without, ended, review), turnId, ({ reviews }) => ({
    reviews: withReview(reviews, review),
  }));
}

export function withoutDenials(state: ThreadState): ThreadState {
  return state.denials === undefined ? state : { ...state, denials: undefined };
}

/**
 * Adds a denial to the state, because a person may approve the action later. Removes an approved denial once a call has
 * used the approval.
 */
function withDenial(state: ThreadState, running: RunningReview, { status }: Verdict): ThreadState {
  const { reviewId, action, fingerprint } = running;
  const { denials = [] } = state;
  if (status === "denied") {
    const denial = { reviewId, action, approved: false, ...(fingerprint !== undefined && { fingerprint }) };
    return { ...state, denials: [...denials.slice(1 - MAX_DENIALS), denial] };
  }
  const used = denials.findIndex(
    (one) => one.approved && one.fingerprint !== undefined && one.fingerprint === fingerprint,
  );
  return used < 0 ? state : { ...state, denials: denials.toSpliced(used, 1) };
}
