import { boolean, enumeration, inline, integer, nullable, omittable, string } from "@bobbin/protocol/schema";
import {
  GuardianApprovalReviewAction,
  GuardianRiskLevel,
  GuardianUserAuthorization,
} from "@bobbin/protocol/types";
import { time } from "../number-schemas.ts";
import { ASK } from "../requests/record-field-schemas.ts";

export const reviewed = () => ({
  reviewId: string(),
  targetItemId: nullable(string()),
  action: GuardianApprovalReviewAction,
});

export const asked = () => ({
  ask: ASK,
  question: omittable(string()),
  fingerprint: omittable(string()),
});

export const DENIAL = inline(() => ({
  reviewId: string(),
  action: GuardianApprovalReviewAction,
  fingerprint: omittable(string()),
  approved: boolean(),
}));

export const VERDICT = inline(() => ({
  status: enumeration("", ["approved", "denied", "timedOut", "aborted"]),
  riskLevel: nullable(GuardianRiskLevel),
  userAuthorization: nullable(GuardianUserAuthorization),
  rationale: nullable(string()),
}));

export const ASIDE_REVIEW = inline(() => ({
  ...runningReview(),
  requestId: integer(),
  turnId: string(),
  callId: string(),
}));

export const runningReview = () => ({ ...reviewed(), ...asked(), startedAt: time() });
