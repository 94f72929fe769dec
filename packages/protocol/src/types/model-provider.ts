import {
  array,
  boolean,
  enumeration,
  nullable,
  object,
  omittable,
  optional,
  type Static,
  string,
  tagged,
} from "../schema-language.ts";

export const BedrockProviderId = enumeration("BedrockProviderId", [
  "amazon-bedrock",
  "amazon-bedrock-runtime",
]);
export type BedrockProviderId = Static<typeof BedrockProviderId>;

export const GatewayAuth = tagged("GatewayAuth", "mode", () => ({
  none: {},
  environmentVariable: { envKey: string() },
  /** By something that `modelProvider/config/write` does not edit. */
  externallyConfigured: { envKey: nullable(string()) },
}));
export type GatewayAuth = Static<typeof GatewayAuth>;

export const GcpProviderId = enumeration("GcpProviderId", ["gcp"]);
export type GcpProviderId = Static<typeof GcpProviderId>;

export const ModelProviderConfigWriteParams = object("ModelProviderConfigWriteParams", () => ({
  settings: ProviderSettingsPatch,
}));
export type ModelProviderConfigWriteParams = Static<typeof ModelProviderConfigWriteParams>;

export const ModelProviderConfigWriteResponse = object("ModelProviderConfigWriteResponse", () => ({
  provider: ModelProviderSummary,
}));
export type ModelProviderConfigWriteResponse = Static<typeof ModelProviderConfigWriteResponse>;

export const ModelProviderListParams = object("ModelProviderListParams", () => ({}));
export type ModelProviderListParams = Static<typeof ModelProviderListParams>;

export const ModelProviderListResponse = object("ModelProviderListResponse", () => ({
  canChangeDefault: boolean(),
  data: array(ModelProviderSummary),
  defaultProviderId: string(),
}));
export type ModelProviderListResponse = Static<typeof ModelProviderListResponse>;

export const ModelProviderSummary = object("ModelProviderSummary", () => ({
  baseUrl: nullable(string()),
  canEdit: boolean(),
  id: string(),
  name: string(),
  settings: ProviderSettings,
}));
export type ModelProviderSummary = Static<typeof ModelProviderSummary>;

export const ProviderSettings = tagged("ProviderSettings", "type", () => ({
  openai: {},
  customGateway: { auth: GatewayAuth },
  bedrock: { profile: nullable(string()), region: nullable(string()) },
  gcp: {
    credentialFile: nullable(string()),
    location: nullable(string()),
    projectId: nullable(string()),
  },
}));
export type ProviderSettings = Static<typeof ProviderSettings>;

/** What is absent stays as it is. Null removes it. */
export const ProviderSettingsPatch = tagged("ProviderSettingsPatch", "type", () => ({
  customGateway: {
    baseUrl: optional(string()),
    envKey: optional(string()),
    name: omittable(string()),
    /** Null or absent for a new provider. */
    providerId: optional(string()),
  },
  bedrock: {
    profile: optional(string()),
    providerId: BedrockProviderId,
    region: optional(string()),
  },
  gcp: {
    credentialFile: optional(string()),
    location: optional(string()),
    projectId: optional(string()),
    providerId: GcpProviderId,
  },
}));
export type ProviderSettingsPatch = Static<typeof ProviderSettingsPatch>;
