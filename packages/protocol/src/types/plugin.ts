import {
  array,
  boolean,
  enumeration,
  filePath,
  integer,
  nullable,
  object,
  omittable,
  optional,
  type Static,
  string,
  tagged,
} from "../schema-language.ts";
import { PluginShareContext } from "./plugin-share.ts";

export const MarketplaceInterface = object("MarketplaceInterface", () => ({
  displayName: nullable(string()),
}));
export type MarketplaceInterface = Static<typeof MarketplaceInterface>;

export const MarketplaceLoadErrorInfo = object("MarketplaceLoadErrorInfo", () => ({
  marketplacePath: string(),
  message: string(),
}));
export type MarketplaceLoadErrorInfo = Static<typeof MarketplaceLoadErrorInfo>;

export const PluginAuthPolicy = enumeration("PluginAuthPolicy", ["ON_INSTALL", "ON_USE"]);
export type PluginAuthPolicy = Static<typeof PluginAuthPolicy>;

export const PluginAvailability = enumeration("PluginAvailability", ["DISABLED_BY_ADMIN", "AVAILABLE"]);
export type PluginAvailability = Static<typeof PluginAvailability>;

export const PluginDisabledReason = enumeration("PluginDisabledReason", [
  "disabled_by_admin",
  "plan_not_eligible",
  "required_app_unavailable",
  "unknown",
]);
export type PluginDisabledReason = Static<typeof PluginDisabledReason>;

export const PluginInstallPolicy = enumeration("PluginInstallPolicy", [
  "NOT_AVAILABLE",
  "AVAILABLE",
  "INSTALLED_BY_DEFAULT",
]);
export type PluginInstallPolicy = Static<typeof PluginInstallPolicy>;

export const PluginInstallPolicySource = enumeration("PluginInstallPolicySource", [
  "WORKSPACE_SETTING",
  "IMPLICIT_CANONICAL_APP",
]);
export type PluginInstallPolicySource = Static<typeof PluginInstallPolicySource>;

export const PluginInstalledParams = object("PluginInstalledParams", () => ({
  cwds: optional(array(filePath())),
  installSuggestionPluginNames: optional(array(string())),
}));
export type PluginInstalledParams = Static<typeof PluginInstalledParams>;

export const PluginInstalledResponse = object("PluginInstalledResponse", () => ({
  marketplaceLoadErrors: array(MarketplaceLoadErrorInfo),
  marketplaces: array(PluginMarketplaceEntry),
}));
export type PluginInstalledResponse = Static<typeof PluginInstalledResponse>;

export const PluginInterface = object("PluginInterface", () => ({
  brandColor: nullable(string()),
  capabilities: array(string()),
  category: nullable(string()),
  composerIcon: nullable(string()),
  composerIconUrl: nullable(string()),
  defaultPrompt: nullable(array(string())),
  developerName: nullable(string()),
  displayName: nullable(string()),
  logo: nullable(string()),
  logoDark: nullable(string()),
  logoUrl: nullable(string()),
  logoUrlDark: nullable(string()),
  longDescription: nullable(string()),
  privacyPolicyUrl: nullable(string()),
  screenshotUrls: array(string()),
  screenshots: array(string()),
  shortDescription: nullable(string()),
  termsOfServiceUrl: nullable(string()),
  websiteUrl: nullable(string()),
}));
export type PluginInterface = Static<typeof PluginInterface>;

export const PluginListMarketplaceKind = enumeration("PluginListMarketplaceKind", [
  "local",
  "vertical",
  "workspace-directory",
  "shared-with-me",
  "created-by-me-remote",
]);
export type PluginListMarketplaceKind = Static<typeof PluginListMarketplaceKind>;

export const PluginListParams = object("PluginListParams", () => ({
  cwds: optional(array(filePath())),
  forceRefetch: omittable(boolean()),
  marketplaceKinds: optional(array(PluginListMarketplaceKind)),
}));
export type PluginListParams = Static<typeof PluginListParams>;

export const PluginListResponse = object("PluginListResponse", () => ({
  featuredPluginIds: array(string()),
  marketplaceLoadErrors: array(MarketplaceLoadErrorInfo),
  marketplaces: array(PluginMarketplaceEntry),
}));
export type PluginListResponse = Static<typeof PluginListResponse>;

export const PluginMarketplaceEntry = object("PluginMarketplaceEntry", () => ({
  interface: nullable(MarketplaceInterface),
  name: string(),
  path: nullable(string()),
  plugins: array(PluginSummary),
}));
export type PluginMarketplaceEntry = Static<typeof PluginMarketplaceEntry>;

export const PluginSource = tagged("PluginSource", "type", () => ({
  local: { path: string() },
  git: { path: nullable(string()), refName: nullable(string()), sha: nullable(string()), url: string() },
  npm: { package: string(), registry: nullable(string()), version: nullable(string()) },
  remote: {},
}));
export type PluginSource = Static<typeof PluginSource>;

export const PluginSummary = object("PluginSummary", () => ({
  authPolicy: PluginAuthPolicy,
  availability: PluginAvailability,
  disabledReason: nullable(PluginDisabledReason),
  eligiblePlanTypes: nullable(array(string())),
  enabled: boolean(),
  id: string(),
  installPolicy: PluginInstallPolicy,
  installPolicySource: nullable(PluginInstallPolicySource),
  installed: boolean(),
  installedAt: nullable(integer()),
  interface: nullable(PluginInterface),
  keywords: array(string()),
  localVersion: nullable(string()),
  mustShowInstallationInterstitial: nullable(boolean()),
  name: string(),
  remotePluginId: nullable(string()),
  shareContext: nullable(PluginShareContext),
  source: PluginSource,
  version: nullable(string()),
}));
export type PluginSummary = Static<typeof PluginSummary>;
