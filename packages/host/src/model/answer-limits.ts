/** Limits on one answer of a model, and on the tool calls of one turn. */
export interface AnswerLimits {
  /** Bytes of one item: a message, a reasoning item, the arguments of one call. */
  readonly itemBytes: number;
  /** Bytes of all items of one answer. */
  readonly answerBytes: number;
  readonly answerCalls: number;
  /** Tool calls in all answers of one turn. */
  readonly turnCalls: number;
}

/**
 * The default limits, far above what models write today: their longest answers have about 128,000 tokens, or 0.5 MiB.
 */
export const USUAL_ANSWER_LIMITS: AnswerLimits = {
  itemBytes: 2 * 1024 * 1024,
  answerBytes: 16 * 1024 * 1024,
  answerCalls: 1000,
  turnCalls: 10_000,
};

/**
 * Limits on the bytes that a server may send for an answer whose text has up to `answerBytes`. They are much larger
 * than the text, because events wrap every few characters in JSON, and some repeat the instructions, the tools or the
 * whole answer.
 */
export function wireLimits(answerBytes: number): { readonly event: number; readonly stream: number } {
  return { event: 2 * answerBytes + ECHO_BYTES, stream: 64 * answerBytes + ECHO_BYTES };
}

const ECHO_BYTES = 16 * 1024 * 1024;
