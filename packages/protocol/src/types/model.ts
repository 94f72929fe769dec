import {
  array,
  boolean,
  enumeration,
  integer,
  nullable,
  object,
  optional,
  type Static,
  string,
} from "../schema-language.ts";
import { cursor } from "./cursor.ts";
import { CyberAccessProgram, ReasoningEffort } from "./settings.ts";

export const InputModality = enumeration("InputModality", ["text", "image", "audio"]);
export type InputModality = Static<typeof InputModality>;

export const Model = object("Model", () => ({
  additionalSpeedTiers: array(string()),
  availabilityNux: nullable(ModelAvailabilityNux),
  availableAccessPrograms: nullable(ModelAccessPrograms),
  defaultReasoningEffort: ReasoningEffort,
  defaultServiceTier: nullable(string()),
  description: string(),
  displayName: string(),
  hidden: boolean(),
  id: string(),
  inputModalities: array(InputModality),
  isDefault: boolean(),
  model: string(),
  modelSpecialty: nullable(string()),
  multiAgentVersion: nullable(MultiAgentVersion),
  serviceTiers: array(ModelServiceTier),
  supportedReasoningEfforts: array(ReasoningEffortOption),
  supportsPersonality: boolean(),
  upgrade: nullable(string()),
  upgradeInfo: nullable(ModelUpgradeInfo),
}));
export type Model = Static<typeof Model>;

export const ModelAccessPrograms = object("ModelAccessPrograms", () => ({
  cyber: array(CyberAccessProgram),
}));
export type ModelAccessPrograms = Static<typeof ModelAccessPrograms>;

export const ModelAvailabilityNux = object("ModelAvailabilityNux", () => ({ message: string() }));
export type ModelAvailabilityNux = Static<typeof ModelAvailabilityNux>;

export const ModelListParams = object("ModelListParams", () => ({
  cursor: optional(string()),
  includeHidden: optional(boolean()),
  limit: optional(integer("uint32")),
  modelProvider: optional(string()),
}));
export type ModelListParams = Static<typeof ModelListParams>;

export const ModelListResponse = object("ModelListResponse", () => ({
  data: array(Model),
  nextCursor: nullable(string()),
}));
export type ModelListResponse = Static<typeof ModelListResponse>;

export const ModelProviderCapabilitiesReadParams = object("ModelProviderCapabilitiesReadParams", () => ({}));
export type ModelProviderCapabilitiesReadParams = Static<typeof ModelProviderCapabilitiesReadParams>;

export const ModelProviderCapabilitiesReadResponse = object("ModelProviderCapabilitiesReadResponse", () => ({
  imageGeneration: boolean(),
  webSearch: boolean(),
}));
export type ModelProviderCapabilitiesReadResponse = Static<typeof ModelProviderCapabilitiesReadResponse>;

export const ModelRerouteReason = enumeration("ModelRerouteReason", ["highRiskCyberActivity"]);
export type ModelRerouteReason = Static<typeof ModelRerouteReason>;

export const ModelReroutedNotification = object("ModelReroutedNotification", () => ({
  fromModel: string(),
  reason: ModelRerouteReason,
  threadId: string(),
  toModel: string(),
  turnId: string(),
  ...cursor(),
}));
export type ModelReroutedNotification = Static<typeof ModelReroutedNotification>;

export const ModelServiceTier = object("ModelServiceTier", () => ({
  description: string(),
  id: string(),
  name: string(),
}));
export type ModelServiceTier = Static<typeof ModelServiceTier>;

export const ModelUpgradeInfo = object("ModelUpgradeInfo", () => ({
  migrationMarkdown: nullable(string()),
  model: string(),
  modelLink: nullable(string()),
  retirementAt: nullable(integer()),
  upgradeCopy: nullable(string()),
}));
export type ModelUpgradeInfo = Static<typeof ModelUpgradeInfo>;

export const MultiAgentVersion = enumeration("MultiAgentVersion", ["disabled", "v1", "v2"]);
export type MultiAgentVersion = Static<typeof MultiAgentVersion>;

export const ReasoningEffortOption = object("ReasoningEffortOption", () => ({
  description: string(),
  reasoningEffort: ReasoningEffort,
}));
export type ReasoningEffortOption = Static<typeof ReasoningEffortOption>;
