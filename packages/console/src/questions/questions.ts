import type { PendingRequest } from "@bobbin/client";
import type { ServerRequestResult } from "@bobbin/protocol";

/** A question that a user answers in the page; a union discriminated by `method`. */
export type Question = {
  [M in Exclude<PendingRequest["method"], "item/tool/call">]: Extract<PendingRequest, { method: M }> & {
    answer(result: ServerRequestResult<M>): void;
  };
}[Exclude<PendingRequest["method"], "item/tool/call">];

/**
 * The questions among a thread's requests. A call of another client's tool is no question, because that client
 * answers it.
 */
export function questionsOf(
  requests: readonly PendingRequest[],
  answer: (request: PendingRequest, result: unknown) => void,
): readonly Question[] {
  return requests
    .filter(({ method }) => method !== "item/tool/call")
    .map((request) => ({ ...request, answer: (result: unknown) => answer(request, result) }) as Question);
}
