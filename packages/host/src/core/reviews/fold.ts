import type { ThreadTokenUsage, TokenUsageBreakdown } from "@bobbin/protocol";
import type { ThreadState } from "../state.ts";
import { findCall } from "../turn/call-list.ts";
import { withStage, withTurn } from "../turn/fold.ts";
import { addUsage } from "../turn/usage.ts";
import { withReview } from "./denials.ts";
import type { ReviewRecord } from "./records.ts";
import { answerOf } from "./verdict.ts";

type ReviewStarted = Extract<ReviewRecord, { type: "reviewStarted" }>;
type ReviewEnded = Extract<ReviewRecord, { type: "reviewEnded" }>;

export function foldReviewStarted(state: ThreadState, record: ReviewStarted): ThreadState {
  const { at: startedAt, reviewId, targetItemId, action, ask, question } = record;
  const review = { startedAt, reviewId, targetItemId, action, ask };
  return withStage(state, record, {
    kind: "reviewing",
    ...review,
    ...(question !== undefined && { question }),
  });
}

/** The call goes on with the verdict as with a person's answer. */
export function foldReviewEnded(state: ThreadState, record: ReviewEnded): ThreadState {
  const { turnId, callId, reviewId, review, usage } = record;
  const spent = usage === null ? state : { ...state, usage: withSpent(state.usage, usage) };
  const stage = state.turn?.id === turnId ? findCall(state.turn.calls, callId)?.stage : undefined;
  if (stage?.kind !== "reviewing" || stage.reviewId !== reviewId || review.status === "aborted") return spent;
  const { ask, question } = stage;
  const heard = withStage(spent, record, {
    kind: "heard",
    method: ask.method,
    ...(question !== undefined && { question }),
    answer: answerOf(ask, review),
  });
  return withTurn(heard, turnId, ({ reviews }) => ({ reviews: withReview(reviews, review) }));
}

const NOTHING: TokenUsageBreakdown = {
  totalTokens: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};

/** The thread pays for it, but it takes no room in the conversation: `last` stays what the model last answered. */
function withSpent(usage: ThreadTokenUsage | null, spent: TokenUsageBreakdown): ThreadTokenUsage {
  if (usage === null) return { total: spent, last: NOTHING, modelContextWindow: null };
  return { ...usage, total: addUsage(usage.total, spent) };
}
