/** How much one answer of a model may hold, and how many calls one turn. */
export interface AnswerLimits {
  /** Bytes of one item: a message, a reasoning, the arguments of one call. */
  readonly itemBytes: number;
  /** Bytes of all items together. */
  readonly answerBytes: number;
  readonly answerCalls: number;
  /** Calls in all answers of one turn. */
  readonly turnCalls: number;
}

/** Far above what models write today: their longest answers have about 128,000 tokens, or half a mebibyte. */
export const USUAL_ANSWER_LIMITS: AnswerLimits = {
  itemBytes: 2 * 1024 * 1024,
  answerBytes: 16 * 1024 * 1024,
  answerCalls: 1000,
  turnCalls: 10_000,
};

/**
 * What a server may send for an answer of so many bytes: its events have names and numbers around every few letters of
 * text, and some repeat the instructions, the tools or the whole answer.
 */
export function wireLimits(answerBytes: number): { readonly event: number; readonly stream: number } {
  return { event: 2 * answerBytes + ECHO_BYTES, stream: 64 * answerBytes + ECHO_BYTES };
}

const ECHO_BYTES = 16 * 1024 * 1024;
