import { type ErrorCode, fault } from "../errors.ts";
import type { AnswerLimits } from "./answer-limits.ts";
import { ModelFault } from "./faults.ts";

/** The error that a turn ends with at each limit. */
const CODES = {
  itemBytes: "itemTooLarge",
  answerBytes: "answerTooLarge",
  answerCalls: "answerTooManyCalls",
  turnCalls: "turnTooManyCalls",
} as const satisfies { readonly [L in keyof AnswerLimits]: ErrorCode };

/** The fault of an answer that is past a limit. The model would write the same again, so it is not asked again. */
export function limitFault(limit: keyof AnswerLimits, value: number): ModelFault {
  const { code, message } = fault(CODES[limit], value);
  return new ModelFault(message, "other", undefined, code);
}
