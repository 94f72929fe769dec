import {
  array,
  boolean,
  enumeration,
  integer,
  nullable,
  object,
  open,
  optional,
  record,
  type Static,
  string,
} from "../schema-language.ts";
import { ApprovalsReviewer } from "./settings.ts";

export const AllowDenyRequirement = enumeration("AllowDenyRequirement", ["allow", "deny"]);
export type AllowDenyRequirement = Static<typeof AllowDenyRequirement>;

export const AnalyticsConfig = open(object("AnalyticsConfig", () => ({ enabled: nullable(boolean()) })));
export type AnalyticsConfig = Static<typeof AnalyticsConfig>;

export const AppToolApproval = enumeration("AppToolApproval", ["auto", "prompt", "writes", "approve"]);
export type AppToolApproval = Static<typeof AppToolApproval>;

export const AppsConfig = object("AppsConfig", () => ({ _default: nullable(AppsDefaultConfig) }));
export type AppsConfig = Static<typeof AppsConfig>;

export const AppsDefaultConfig = object("AppsDefaultConfig", () => ({
  approvals_reviewer: nullable(ApprovalsReviewer),
  default_tools_approval_mode: nullable(AppToolApproval),
  destructive_enabled: boolean(),
  enabled: boolean(),
  open_world_enabled: boolean(),
}));
export type AppsDefaultConfig = Static<typeof AppsDefaultConfig>;

export const BrowserUseConfig = object("BrowserUseConfig", () => ({
  allow_history_access: nullable(boolean()),
  default_origin_policy: nullable(BrowserUseOriginPolicyConfig),
  origins: nullable(record(BrowserUseOriginPolicyConfig)),
}));
export type BrowserUseConfig = Static<typeof BrowserUseConfig>;

export const BrowserUseOriginPolicyConfig = object("BrowserUseOriginPolicyConfig", () => ({
  access: nullable(AllowDenyRequirement),
  downloads: nullable(AllowDenyRequirement),
  full_cdp_access: nullable(AllowDenyRequirement),
  uploads: nullable(AllowDenyRequirement),
}));
export type BrowserUseOriginPolicyConfig = Static<typeof BrowserUseOriginPolicyConfig>;

export const ComputerUseConfig = object("ComputerUseConfig", () => ({
  default_app_access: nullable(AllowDenyRequirement),
  macos: nullable(ComputerUseMacosConfig),
  windows: nullable(ComputerUseWindowsConfig),
}));
export type ComputerUseConfig = Static<typeof ComputerUseConfig>;

export const ComputerUseMacosConfig = object("ComputerUseMacosConfig", () => ({
  bundle_ids: nullable(record(AllowDenyRequirement)),
}));
export type ComputerUseMacosConfig = Static<typeof ComputerUseMacosConfig>;

export const ComputerUseWindowsConfig = object("ComputerUseWindowsConfig", () => ({
  aumids: nullable(record(AllowDenyRequirement)),
  exes: nullable(array(ComputerUseWindowsExeConfig)),
}));
export type ComputerUseWindowsConfig = Static<typeof ComputerUseWindowsConfig>;

export const ComputerUseWindowsExeConfig = object("ComputerUseWindowsExeConfig", () => ({
  access: AllowDenyRequirement,
  binary_name: nullable(string()),
  product_name: string(),
  publisher_name: string(),
}));
export type ComputerUseWindowsExeConfig = Static<typeof ComputerUseWindowsExeConfig>;

export const ExperimentalFeature = object("ExperimentalFeature", () => ({
  announcement: nullable(string()),
  defaultEnabled: boolean(),
  description: nullable(string()),
  displayName: nullable(string()),
  enabled: boolean(),
  name: string(),
  stage: ExperimentalFeatureStage,
}));
export type ExperimentalFeature = Static<typeof ExperimentalFeature>;

export const ExperimentalFeatureEnablementSetParams = object(
  "ExperimentalFeatureEnablementSetParams",
  () => ({
    enablement: record(boolean()),
  }),
);
export type ExperimentalFeatureEnablementSetParams = Static<typeof ExperimentalFeatureEnablementSetParams>;

export const ExperimentalFeatureEnablementSetResponse = object(
  "ExperimentalFeatureEnablementSetResponse",
  () => ({ enablement: record(boolean()) }),
);
export type ExperimentalFeatureEnablementSetResponse = Static<
  typeof ExperimentalFeatureEnablementSetResponse
>;

export const ExperimentalFeatureListParams = object("ExperimentalFeatureListParams", () => ({
  cursor: optional(string()),
  limit: optional(integer("uint32")),
  threadId: optional(string()),
}));
export type ExperimentalFeatureListParams = Static<typeof ExperimentalFeatureListParams>;

export const ExperimentalFeatureListResponse = object("ExperimentalFeatureListResponse", () => ({
  data: array(ExperimentalFeature),
  nextCursor: nullable(string()),
}));
export type ExperimentalFeatureListResponse = Static<typeof ExperimentalFeatureListResponse>;

export const ExperimentalFeatureStage = enumeration("ExperimentalFeatureStage", [
  "beta",
  "underDevelopment",
  "stable",
  "deprecated",
  "removed",
]);
export type ExperimentalFeatureStage = Static<typeof ExperimentalFeatureStage>;

export const ToolsV2 = object("ToolsV2", () => ({ web_search: nullable(WebSearchToolConfig) }));
export type ToolsV2 = Static<typeof ToolsV2>;

export const WebSearchContextSize = enumeration("WebSearchContextSize", ["low", "medium", "high"]);
export type WebSearchContextSize = Static<typeof WebSearchContextSize>;

export const WebSearchLocation = object("WebSearchLocation", () => ({
  city: nullable(string()),
  country: nullable(string()),
  region: nullable(string()),
  timezone: nullable(string()),
}));
export type WebSearchLocation = Static<typeof WebSearchLocation>;

export const WebSearchMode = enumeration("WebSearchMode", ["disabled", "cached", "indexed", "live"]);
export type WebSearchMode = Static<typeof WebSearchMode>;

export const WebSearchProvider = enumeration("WebSearchProvider", ["standalone", "search_mcp"]);
export type WebSearchProvider = Static<typeof WebSearchProvider>;

export const WebSearchToolConfig = object("WebSearchToolConfig", () => ({
  allowed_domains: nullable(array(string())),
  context_size: nullable(WebSearchContextSize),
  location: nullable(WebSearchLocation),
}));
export type WebSearchToolConfig = Static<typeof WebSearchToolConfig>;
