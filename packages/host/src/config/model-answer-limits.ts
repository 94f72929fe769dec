import { type AnswerLimits, USUAL_ANSWER_LIMITS } from "../model/answer-limits.ts";
import { type Table, wholeWithin } from "./table-reader.ts";

const MEBIBYTE = 1024 * 1024;

/**
 * Upper bounds of the configurable limits. An item is sent to clients as one message, and clients accept at most 64
 * MiB.
 */
const MOST: AnswerLimits = {
  itemBytes: 32 * MEBIBYTE,
  answerBytes: 256 * MEBIBYTE,
  answerCalls: 10_000,
  turnCalls: 1_000_000,
};

export function readAnswerLimits(table: Table): AnswerLimits {
  const usual = USUAL_ANSWER_LIMITS;
  return {
    itemBytes: wholeWithin(table, "model_item_max_bytes", 1, MOST.itemBytes) ?? usual.itemBytes,
    answerBytes: wholeWithin(table, "model_answer_max_bytes", 1, MOST.answerBytes) ?? usual.answerBytes,
    answerCalls: wholeWithin(table, "model_answer_max_calls", 1, MOST.answerCalls) ?? usual.answerCalls,
    turnCalls: wholeWithin(table, "turn_max_calls", 1, MOST.turnCalls) ?? usual.turnCalls,
  };
}
