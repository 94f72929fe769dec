/** No tier at all, said on purpose: it goes before what is configured, and providers are not told. */
const DEFAULT_TIER = "default";

/** OpenAI's own models; others have no tier that is served first. */
const HAS_PRIORITY = /^(gpt-(?!oss)|o\d|codex)/;

/** A tier as threads keep it: by the name that providers know. */
export function serviceTier(asked: string | null): string {
  if (asked === null) return DEFAULT_TIER;
  return asked === "fast" ? "priority" : asked;
}

/** A tier as a new thread has it: null for one that this model does not. */
export function ownTier(tier: string | null, model: string): string | null {
  return tier === DEFAULT_TIER ? tier : sentTier(tier, model);
}

/** What the provider is told, which would refuse what it does not know. */
export function sentTier(tier: string | null, model: string): string | null {
  if (tier === "flex") return tier;
  return tier === "priority" && HAS_PRIORITY.test(model) ? tier : null;
}
