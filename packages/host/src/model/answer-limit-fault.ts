import { type ErrorCode, fault } from "../errors.ts";
import type { AnswerLimits } from "./answer-limits.ts";
import { ModelFault } from "./faults.ts";

/** The error code for each limit that a turn can exceed. */
const CODES = {
  itemBytes: "itemTooLarge",
  answerBytes: "answerTooLarge",
  answerCalls: "answerTooManyCalls",
  turnCalls: "turnTooManyCalls",
} as const satisfies { readonly [L in keyof AnswerLimits]: ErrorCode };

/** The fault for an answer beyond a limit. The call is not retried, because the model would write the same again. */
export function limitFault(limit: keyof AnswerLimits, value: number): ModelFault {
  const { code, message } = fault(CODES[limit], value);
  return new ModelFault(message, "other", undefined, code);
}
