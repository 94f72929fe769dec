import type { TokenUsageBreakdown } from "@bobbin/protocol";

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
