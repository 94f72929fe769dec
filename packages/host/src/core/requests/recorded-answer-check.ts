import { threadRequests } from "@bobbin/protocol";
import { conforms } from "@bobbin/protocol/conforms";
import type { Ask, RequestAnswer } from "./records.ts";

const UNREADABLE: RequestAnswer = { kind: "failed", message: "the answer in the journal cannot be read" };

/**
 * Validates a request's answer from a journal. The check of the record type cannot validate the answer, because the
 * record does not contain the request's method. A damaged answer becomes a failed one.
 */
export function readableAnswer(method: Ask["method"], answer: RequestAnswer): RequestAnswer {
  if (answer.kind !== "result" || conforms(threadRequests[method].result, answer.result)) return answer;
  return UNREADABLE;
}
