import type { ThreadTokenUsage, TokenUsageBreakdown } from "@bobbin/protocol";

export function addUsage(
  total: TokenUsageBreakdown | undefined,
  more: TokenUsageBreakdown,
): TokenUsageBreakdown {
  if (total === undefined) return more;
  return {
    totalTokens: total.totalTokens + more.totalTokens,
    inputTokens: total.inputTokens + more.inputTokens,
    cachedInputTokens: total.cachedInputTokens + more.cachedInputTokens,
    cacheWriteInputTokens: total.cacheWriteInputTokens + more.cacheWriteInputTokens,
    outputTokens: total.outputTokens + more.outputTokens,
    reasoningOutputTokens: total.reasoningOutputTokens + more.reasoningOutputTokens,
  };
}

export const NO_TOKENS: TokenUsageBreakdown = {
  totalTokens: 0,
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
};

/** Adds tokens that are not part of the conversation to the thread's total. Leaves `last` unchanged. */
export function withSpent(usage: ThreadTokenUsage | null, spent: TokenUsageBreakdown): ThreadTokenUsage {
  if (usage === null) return { total: spent, last: NO_TOKENS, modelContextWindow: null };
  return { ...usage, total: addUsage(usage.total, spent) };
}
