// Builders for tests of reviews by a model.
import type { Verdict } from "../../packages/host/src/core/approval-reviews/records.ts";
import type { Command } from "../../packages/host/src/core/commands.ts";
import type { ThreadState } from "../../packages/host/src/core/state.ts";
import { after, newThread, startTurn } from "./test-thread.ts";

export const REVIEWED_TURN = "turn-1";

/** A verdict. Without a risk level it is one of a review that failed. */
export function verdictOf(status: Verdict["status"], riskLevel: Verdict["riskLevel"] = "high"): Verdict {
  const userAuthorization = riskLevel === null ? null : "low";
  return { status, riskLevel, userAuthorization, rationale: "a reason" };
}

/** A thread whose turn has made tool calls. */
export function callingTools(
  approvalsReviewer: "user" | "auto_review",
  ...callIds: readonly string[]
): ThreadState {
  const changes = { approvalsReviewer, approvalPolicy: "on-request" } as const;
  return after(
    newThread(),
    { ...startTurn(REVIEWED_TURN), changes } as Command,
    ...callIds.map((callId): Command => {
      const call = { callId, name: "act", namespace: null, arguments: "{}", kind: "function" } as const;
      return { kind: "toolCalled", at: 2, turnId: REVIEWED_TURN, attempt: 1, call };
    }),
  );
}

type StepCall = Extract<Command, { kind: "stepCall" }>;
type AskCall = StepCall & { readonly step: Extract<StepCall["step"], { kind: "ask" }> };

/** A call asks for approval of a command. `more` are further fields of the step. */
export function askForReview(callId: string, fingerprint = callId, more: object = {}): AskCall {
  return {
    kind: "stepCall",
    at: 3,
    turnId: REVIEWED_TURN,
    callId,
    from: "proposed",
    step: {
      kind: "ask",
      requestId: 1,
      reviewId: `review-${callId}`,
      fingerprint,
      ask: {
        method: "item/commandExecution/requestApproval",
        params: {
          kind: "command",
          threadId: "t",
          turnId: REVIEWED_TURN,
          itemId: callId,
          startedAtMs: 3,
          environmentId: null,
          command: "act",
        },
      },
      ...more,
    },
  };
}

/** A reviewer's verdict on a call. */
export function reviewedAs(callId: string, review: Verdict, reviewId = `review-${callId}`): Command {
  return { kind: "reviewed", at: 4, turnId: REVIEWED_TURN, callId, reviewId, review, usage: null };
}

/** A command of the call `a` wants to connect to a host. */
export function connectToHost(requestId: number, host = "example.org"): Command {
  return {
    kind: "askNetwork",
    at: 5,
    requestId,
    reviewId: `review-${requestId}`,
    itemId: "a",
    host,
    port: 443,
    protocol: "https",
    grant: "g",
    forGood: false,
    reason: null,
  };
}
