import type { TokenUsageBreakdown } from "@bobbin/protocol";

/** Normalizes the token counts of a provider; missing ones are zero. `input` includes cached tokens. */
export function usageOf(counts: {
  readonly input: unknown;
  readonly cached?: unknown;
  readonly cacheWritten?: unknown;
  readonly output: unknown;
  readonly reasoning?: unknown;
}): TokenUsageBreakdown {
  const inputTokens = count(counts.input);
  const outputTokens = count(counts.output);
  return {
    totalTokens: inputTokens + outputTokens,
    inputTokens,
    cachedInputTokens: count(counts.cached),
    cacheWriteInputTokens: count(counts.cacheWritten),
    outputTokens,
    reasoningOutputTokens: count(counts.reasoning),
  };
}

/** A token count as a non-negative integer; 0 for anything else. */
export function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? Math.round(value) : 0;
}
