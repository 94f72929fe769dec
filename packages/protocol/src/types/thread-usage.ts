import { integer, nullable, object, type Static } from "../schema-language.ts";

export const ThreadTokenUsage = object("ThreadTokenUsage", () => ({
  last: TokenUsageBreakdown,
  modelContextWindow: nullable(integer()),
  total: TokenUsageBreakdown,
}));
export type ThreadTokenUsage = Static<typeof ThreadTokenUsage>;

export const TokenUsageBreakdown = object("TokenUsageBreakdown", () => ({
  cacheWriteInputTokens: integer(),
  cachedInputTokens: integer(),
  inputTokens: integer(),
  outputTokens: integer(),
  reasoningOutputTokens: integer(),
  totalTokens: integer(),
}));
export type TokenUsageBreakdown = Static<typeof TokenUsageBreakdown>;
