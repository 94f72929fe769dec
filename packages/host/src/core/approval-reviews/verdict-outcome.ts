import type { Ask, RequestAnswer } from "../requests/records.ts";
import type { Verdict } from "./records.ts";

/** The answer to the request for approval that follows from a review. */
export function answerOf(ask: Ask, review: Verdict): RequestAnswer {
  if (review.status !== "approved") return decisionOn(review);
  switch (ask.method) {
    case "item/permissions/requestApproval":
      return { kind: "result", result: { permissions: ask.params.permissions, scope: "turn" } };
    case "mcpServer/elicitation/request":
      return { kind: "result", result: { action: "accept", content: null, _meta: null } };
    default:
      return decisionOn(review);
  }
}

/** The answer to a request that expects a decision: `accept`, or a refusal. */
export function decisionOn(review: Verdict): RequestAnswer {
  switch (review.status) {
    case "approved":
      return { kind: "result", result: { decision: "accept" } };
    case "aborted":
      return { kind: "cleared" };
    default:
      return { kind: "denied", words: wordsOf(review) };
  }
}

/** The text for the model: why the action was denied, and what to do instead. The text completes a sentence. */
export function wordsOf({ status, riskLevel, rationale }: Verdict): string {
  if (status === "timedOut")
    return "the automatic review did not end in time. That says nothing about the risk: you may try once more, or ask the user.";
  if (riskLevel === null)
    return `it could not be reviewed (${rationale ?? "no reason is known"}). Go on without it, or ask the user to approve it.`;
  return `the automatic reviewer denied it: ${rationale ?? "no reason was given"}\nDo not try to reach the same by another way. Take a safer way, or tell the user about the risk and ask for approval.`;
}

/** The warning about a review's end for clients; undefined for a review that was aborted with its turn. */
export function warningOf({ status, riskLevel, userAuthorization, rationale }: Verdict): string | undefined {
  switch (status) {
    case "aborted":
      return undefined;
    case "timedOut":
      return rationale ?? "The automatic review of an approval timed out.";
    default:
      if (riskLevel === null) return rationale ?? "The automatic review of an approval failed.";
      return `Auto review ${status} this (risk: ${riskLevel}, authorization: ${userAuthorization}): ${rationale}`;
  }
}
