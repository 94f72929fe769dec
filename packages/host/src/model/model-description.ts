import type { Model } from "@bobbin/protocol";

/** Describes a model of which only the name is known. */
export function describeModel(
  id: string,
  {
    provider,
    reasons,
    sees,
  }: { readonly provider: string; readonly reasons: boolean; readonly sees: boolean },
): Model {
  return {
    id,
    model: id,
    upgrade: null,
    upgradeInfo: null,
    availabilityNux: null,
    displayName: id,
    description: `${id} at ${provider}`,
    modelSpecialty: null,
    hidden: false,
    supportedReasoningEfforts: reasons
      ? [
          { reasoningEffort: "low", description: "Answers soon." },
          { reasoningEffort: "medium", description: "Balances speed and depth." },
          { reasoningEffort: "high", description: "Thinks long." },
        ]
      : [{ reasoningEffort: "none", description: "As the model does by itself." }],
    defaultReasoningEffort: reasons ? "medium" : "none",
    inputModalities: sees ? ["text", "image"] : ["text"],
    supportsPersonality: false,
    multiAgentVersion: null,
    additionalSpeedTiers: [],
    serviceTiers: [],
    defaultServiceTier: null,
    availableAccessPrograms: null,
    isDefault: false,
  };
}
