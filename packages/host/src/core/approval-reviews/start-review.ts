import type { GuardianApprovalReviewAction } from "@bobbin/protocol";
import type { ThreadRecord } from "../records.ts";
import type { Ask } from "../requests/records.ts";
import type { ThreadState } from "../state.ts";
import type { CallStep } from "../turn/call-stages.ts";
import type { ToolCall } from "../turn/records.ts";
import { stepState } from "../turn/turn-settings.ts";
import type { Verdict } from "./records.ts";
import { reviewEnded } from "./review-end.ts";
import { reviewedBy } from "./reviewed-action.ts";

type AskStep = Extract<CallStep, { kind: "ask" }>;

/** Starts a model's review of an approval instead of asking clients. Undefined if a person has to decide. */
export function startReview(
  state: ThreadState,
  call: ToolCall,
  { ask, item, question, reviewId, fingerprint }: AskStep,
  { at, turnId }: { readonly at: number; readonly turnId: string },
): readonly ThreadRecord[] | undefined {
  if (!isReviewed(state)) return undefined;
  const reviewed = reviewedBy(state, call, ask, item);
  if (reviewed === undefined) return undefined;
  const { callId } = call;
  const review = { reviewId, ...reviewed, ask, fingerprint, ...(question !== undefined && { question }) };
  const started = { type: "reviewStarted", turnId, at, callId, ...review } as const;
  if (!isApprovedDenial(state, fingerprint)) return [started];
  return [started, reviewEnded(turnId, at, callId, { ...review, startedAt: at }, APPROVED_BY_USER, null)];
}

/**
 * Starts a model's review of a network connection, while the command that wants to connect waits. Undefined if a
 * person has to decide.
 */
export function startAsideReview(
  state: ThreadState,
  ask: Ask,
  action: Extract<GuardianApprovalReviewAction, { type: "networkAccess" }>,
  by: {
    readonly at: number;
    readonly turnId: string;
    readonly callId: string;
    readonly reviewId: string;
    readonly requestId: number;
  },
): readonly ThreadRecord[] | undefined {
  if (!isReviewed(state)) return undefined;
  const { at, turnId, callId, reviewId, requestId } = by;
  const fingerprint = `network ${action.target}`;
  const review = { reviewId, targetItemId: null, action, ask, fingerprint, requestId };
  const started = { type: "reviewStarted", turnId, at, callId, ...review } as const;
  if (!isApprovedDenial(state, fingerprint)) return [started];
  return [started, reviewEnded(turnId, at, callId, { ...review, startedAt: at }, APPROVED_BY_USER, null)];
}

/** Whether a model reviews approvals of this thread now. */
function isReviewed(state: ThreadState): boolean {
  if (state.turn?.strictReview) return true;
  const { settings } = stepState(state);
  // With the approval policy `untrusted`, a person decides every approval.
  return settings.approvalsReviewer === "auto_review" && settings.approvalPolicy !== "untrusted";
}

const APPROVED_BY_USER: Verdict = {
  status: "approved",
  riskLevel: "high",
  userAuthorization: "high",
  rationale: "The user approved exactly this after it had been denied.",
};

/** Whether a person has approved this action after a reviewer denied it. */
function isApprovedDenial({ denials = [] }: ThreadState, fingerprint: string): boolean {
  return denials.some((denial) => denial.approved && denial.fingerprint === fingerprint);
}
