import {
  array,
  boolean,
  enumeration,
  experimental,
  filePath,
  integer,
  nullable,
  object,
  omittable,
  open,
  optional,
  record,
  type Static,
  string,
  tagged,
  union,
  unknown,
} from "../schema-language.ts";
import {
  AnalyticsConfig,
  AppsConfig,
  BrowserUseConfig,
  ComputerUseConfig,
  ToolsV2,
  WebSearchMode,
  WebSearchProvider,
} from "./config-feature.ts";
import {
  ApprovalsReviewer,
  AskForApproval,
  ReasoningEffort,
  ReasoningSummary,
  SandboxMode,
  Verbosity,
} from "./settings.ts";

export const AutoCompactTokenLimitScope = enumeration("AutoCompactTokenLimitScope", [
  "total",
  "body_after_prefix",
]);
export type AutoCompactTokenLimitScope = Static<typeof AutoCompactTokenLimitScope>;

export const CliAuthCredentialsStoreMode = enumeration("CliAuthCredentialsStoreMode", [
  "file",
  "keyring",
  "auto",
  "ephemeral",
]);
export type CliAuthCredentialsStoreMode = Static<typeof CliAuthCredentialsStoreMode>;

export const Config = open(
  object("Config", () => ({
    analytics: nullable(AnalyticsConfig),
    approval_policy: nullable(AskForApproval),
    approvals_reviewer: nullable(ApprovalsReviewer),
    apps: experimental(AppsConfig),
    browser_use: nullable(BrowserUseConfig),
    client_search_provider: nullable(WebSearchProvider),
    compact_prompt: nullable(string()),
    computer_use: nullable(ComputerUseConfig),
    desktop: nullable(record(unknown())),
    developer_instructions: nullable(string()),
    forced_chatgpt_workspace_id: nullable(ForcedChatgptWorkspaceIds),
    forced_login_method: nullable(ForcedLoginMethod),
    instructions: nullable(string()),
    model: nullable(string()),
    model_auto_compact_token_limit: nullable(integer()),
    model_auto_compact_token_limit_scope: nullable(AutoCompactTokenLimitScope),
    model_context_window: nullable(integer()),
    model_provider: nullable(string()),
    model_reasoning_effort: nullable(ReasoningEffort),
    model_reasoning_summary: nullable(ReasoningSummary),
    model_verbosity: nullable(Verbosity),
    review_model: nullable(string()),
    sandbox_mode: nullable(SandboxMode),
    sandbox_workspace_write: nullable(SandboxWorkspaceWrite),
    service_tier: nullable(string()),
    tools: nullable(ToolsV2),
    web_search: nullable(WebSearchMode),
  })),
);
export type Config = Static<typeof Config>;

export const ConfigBatchWriteParams = object("ConfigBatchWriteParams", () => ({
  edits: array(ConfigEdit),
  expectedVersion: optional(string()),
  filePath: optional(filePath()),
  reloadUserConfig: omittable(boolean()),
}));
export type ConfigBatchWriteParams = Static<typeof ConfigBatchWriteParams>;

export const ConfigEdit = object("ConfigEdit", () => ({
  keyPath: string(),
  mergeStrategy: MergeStrategy,
  value: unknown(),
}));
export type ConfigEdit = Static<typeof ConfigEdit>;

export const ConfigLayer = object("ConfigLayer", () => ({
  config: unknown(),
  disabledReason: nullable(string()),
  name: ConfigLayerSource,
  version: string(),
}));
export type ConfigLayer = Static<typeof ConfigLayer>;

export const ConfigLayerMetadata = object("ConfigLayerMetadata", () => ({
  name: ConfigLayerSource,
  version: string(),
}));
export type ConfigLayerMetadata = Static<typeof ConfigLayerMetadata>;

export const ConfigLayerSource = tagged("ConfigLayerSource", "type", () => ({
  packagedDefaults: { file: string() },
  mdm: { domain: string(), key: string() },
  system: { file: string() },
  enterpriseManaged: { id: string(), name: string() },
  user: { file: string(), profile: nullable(string()) },
  project: { dotCodexFolder: string() },
  sessionFlags: {},
  legacyManagedConfigTomlFromFile: { file: string() },
  legacyManagedConfigTomlFromMdm: {},
}));
export type ConfigLayerSource = Static<typeof ConfigLayerSource>;

export const ConfigReadParams = object("ConfigReadParams", () => ({
  cwd: optional(filePath()),
  includeLayers: omittable(boolean()),
}));
export type ConfigReadParams = Static<typeof ConfigReadParams>;

export const ConfigReadResponse = object("ConfigReadResponse", () => ({
  config: Config,
  layers: nullable(array(ConfigLayer)),
  origins: record(ConfigLayerMetadata),
}));
export type ConfigReadResponse = Static<typeof ConfigReadResponse>;

export const ConfigValueWriteParams = object("ConfigValueWriteParams", () => ({
  expectedVersion: optional(string()),
  filePath: optional(filePath()),
  keyPath: string(),
  mergeStrategy: MergeStrategy,
  value: unknown(),
}));
export type ConfigValueWriteParams = Static<typeof ConfigValueWriteParams>;

export const ConfigWriteResponse = object("ConfigWriteResponse", () => ({
  filePath: string(),
  overriddenMetadata: nullable(OverriddenMetadata),
  status: WriteStatus,
  version: string(),
}));
export type ConfigWriteResponse = Static<typeof ConfigWriteResponse>;

export const ForcedChatgptWorkspaceIds = union("ForcedChatgptWorkspaceIds", () => [
  string(),
  array(string()),
]);
export type ForcedChatgptWorkspaceIds = Static<typeof ForcedChatgptWorkspaceIds>;

export const ForcedLoginMethod = enumeration("ForcedLoginMethod", ["chatgpt", "api"]);
export type ForcedLoginMethod = Static<typeof ForcedLoginMethod>;

export const MergeStrategy = enumeration("MergeStrategy", ["replace", "upsert"]);
export type MergeStrategy = Static<typeof MergeStrategy>;

export const OverriddenMetadata = object("OverriddenMetadata", () => ({
  effectiveValue: unknown(),
  message: string(),
  overridingLayer: ConfigLayerMetadata,
}));
export type OverriddenMetadata = Static<typeof OverriddenMetadata>;

export const SandboxWorkspaceWrite = object("SandboxWorkspaceWrite", () => ({
  exclude_slash_tmp: boolean(),
  exclude_tmpdir_env_var: boolean(),
  network_access: boolean(),
  writable_roots: array(string()),
}));
export type SandboxWorkspaceWrite = Static<typeof SandboxWorkspaceWrite>;

export const WindowsSandboxImplementation = enumeration("WindowsSandboxImplementation", [
  "elevated",
  "unelevated",
  "mxc",
]);
export type WindowsSandboxImplementation = Static<typeof WindowsSandboxImplementation>;

export const WriteStatus = enumeration("WriteStatus", ["ok", "okOverridden"]);
export type WriteStatus = Static<typeof WriteStatus>;
