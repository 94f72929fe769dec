/** Stands for no tier. It overrides the configured tier, and is not sent to providers. */
const DEFAULT_TIER = "default";

/** Models with a priority tier: OpenAI's own. */
const HAS_PRIORITY = /^(gpt-(?!oss)|o\d|codex)/;

/** Normalizes a requested tier to the name that providers know; threads store this name. */
export function serviceTier(requested: string | null): string {
  if (requested === null) return DEFAULT_TIER;
  return requested === "fast" ? "priority" : requested;
}

/** The service tier of a new or forked thread; null if the model does not support the requested one. */
export function supportedTier(tier: string | null, model: string): string | null {
  return tier === DEFAULT_TIER ? tier : sentTier(tier, model);
}

/**
 * The tier that is sent to the provider. Null if the model does not support it, because the provider would then
 * refuse the request.
 */
export function sentTier(tier: string | null, model: string): string | null {
  if (tier === "flex") return tier;
  return tier === "priority" && HAS_PRIORITY.test(model) ? tier : null;
}
