import { integer, nullable, omittable, string } from "@bobbin/protocol/schema";
import { TokenUsageBreakdown } from "@bobbin/protocol/types";
import { type Notification, silent, toSubscribers } from "../notification.ts";
import { count, time } from "../number-schemas.ts";
import { fields } from "../record-check.ts";
import type { RecordTable } from "../record-table.ts";
import { RECENT_REVIEWS } from "./denial-limit.ts";
import { foldDenialApproved, foldReviewEnded, foldReviewStarted } from "./fold.ts";
import { asked, reviewed, VERDICT } from "./record-field-schemas.ts";
import type { ReviewRecord } from "./records.ts";
import { warningOf } from "./verdict-outcome.ts";

export const REVIEW_RECORDS: RecordTable<ReviewRecord> = {
  reviewStarted: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      at: time(),
      callId: string(),
      ...reviewed(),
      ...asked(),
      requestId: omittable(integer()),
    })),
    fold: foldReviewStarted,
    notify: (threadId, { turnId, at: startedAtMs, reviewId, targetItemId, action }) => [
      toSubscribers("item/autoApprovalReview/started", {
        threadId,
        turnId,
        startedAtMs,
        reviewId,
        targetItemId,
        review: { status: "inProgress", riskLevel: null, userAuthorization: null, rationale: null },
        action,
      }),
    ],
    durability: "written",
    // A fork starts without reviews.
    inFork: "never",
  },
  reviewEnded: {
    version: 1,
    check: fields(() => ({
      turnId: string(),
      at: time(),
      callId: string(),
      startedAt: time(),
      ...reviewed(),
      review: VERDICT,
      usage: nullable(TokenUsageBreakdown),
      requestId: omittable(integer()),
    })),
    fold: foldReviewEnded,
    notify: (threadId, { turnId, startedAt, at, reviewId, targetItemId, action, review }) => {
      const message = warningOf(review);
      const warning: readonly Notification[] =
        message === undefined ? [] : [toSubscribers("guardianWarning", { threadId, message })];
      const completed = toSubscribers("item/autoApprovalReview/completed", {
        threadId,
        turnId,
        startedAtMs: startedAt,
        completedAtMs: at,
        reviewId,
        targetItemId,
        decisionSource: "agent",
        review,
        action,
      });
      return [...warning, completed];
    },
    durability: "synced",
    inFork: "never",
  },
  denialApproved: {
    version: 1,
    check: fields(() => ({ at: time(), reviewId: string() })),
    fold: foldDenialApproved,
    notify: silent,
    durability: "synced",
    inFork: "never",
  },
  reviewsExhausted: {
    version: 1,
    check: fields(() => ({ turnId: string(), at: time(), consecutive: count(), recent: count() })),
    fold: (state) => state,
    notify: (threadId, { consecutive, recent }) => [
      toSubscribers("guardianWarning", {
        threadId,
        message: `Auto review denied too much in this turn (${consecutive} in a row, ${recent} of the last ${RECENT_REVIEWS}): the turn is interrupted.`,
      }),
    ],
    durability: "written",
    inFork: "never",
  },
};
