import { asksForStrictReview } from "../approval-reviews/strict-review-answer.ts";
import type { ThreadState } from "../state.ts";
import { withStage, withTurn } from "../turn/fold.ts";
import { readableAnswer } from "./recorded-answer-check.ts";
import type { RequestRecord } from "./records.ts";

type Of<T extends RequestRecord["type"]> = Extract<RequestRecord, { type: T }>;

export function foldRequestSent(state: ThreadState, { request }: Of<"requestSent">): ThreadState {
  const withRequest = { ...state, requests: [...state.requests, request] };
  if (request.aside !== undefined) return withRequest;
  return withStage(withRequest, request, { kind: "asking", requestId: request.id });
}

export function foldRequestResolved(
  state: ThreadState,
  { requestId, answer: recorded }: Of<"requestResolved">,
): ThreadState {
  const request = state.requests.find(({ id }) => id === requestId);
  if (request === undefined) return state;
  const requests = state.requests.filter((one) => one !== request);
  if (request.aside !== undefined) return { ...state, requests };
  const { method, question } = request;
  const answer = readableAnswer(method, recorded);
  const without = { ...state, requests };
  const resolved = asksForStrictReview(method, answer)
    ? withTurn(without, request.turnId, () => ({ strictReview: true }))
    : without;
  return withStage(resolved, request, {
    kind: "heard",
    method,
    ...(question !== undefined && { question }),
    answer,
  });
}
