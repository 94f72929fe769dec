import {
  array,
  boolean,
  enumeration,
  experimental,
  integer,
  nullable,
  object,
  omittable,
  record,
  type Static,
  string,
  tagged,
  unknown,
} from "../schema.ts";

export const Account = tagged("Account", "type", () => ({
  apiKey: {},
  chatgpt: { email: nullable(string()), planType: PlanType, workspaceName: nullable(string()) },
  amazonBedrock: { usesCodexManagedCredentials: boolean() },
  gcp: {},
}));
export type Account = Static<typeof Account>;

export const AccountRateLimitsUpdatedNotification = object("AccountRateLimitsUpdatedNotification", () => ({
  rateLimits: RateLimitSnapshot,
}));
export type AccountRateLimitsUpdatedNotification = Static<typeof AccountRateLimitsUpdatedNotification>;

export const AccountRoutingOverride = enumeration("AccountRoutingOverride", ["NO_CONSTRAINT", "us", "us_cr"]);
export type AccountRoutingOverride = Static<typeof AccountRoutingOverride>;

export const AccountUpdatedNotification = object("AccountUpdatedNotification", () => ({
  authMode: nullable(AuthMode),
  planType: nullable(PlanType),
}));
export type AccountUpdatedNotification = Static<typeof AccountUpdatedNotification>;

export const AuthMode = enumeration("AuthMode", [
  "apikey",
  "chatgpt",
  "chatgptAuthTokens",
  "headers",
  "agentIdentity",
  "personalAccessToken",
  "bedrockApiKey",
  "bedrockAccessKeys",
]);
export type AuthMode = Static<typeof AuthMode>;

export const BedrockCheckGovCloudRequirementsParams = object(
  "BedrockCheckGovCloudRequirementsParams",
  () => ({}),
);
export type BedrockCheckGovCloudRequirementsParams = Static<typeof BedrockCheckGovCloudRequirementsParams>;

export const BedrockCheckGovCloudRequirementsResponse = object(
  "BedrockCheckGovCloudRequirementsResponse",
  () => ({ isGovCloud: boolean(), shouldWarn: boolean() }),
);
export type BedrockCheckGovCloudRequirementsResponse = Static<
  typeof BedrockCheckGovCloudRequirementsResponse
>;

export const CreditsSnapshot = object("CreditsSnapshot", () => ({
  balance: nullable(string()),
  hasCredits: boolean(),
  unlimited: boolean(),
}));
export type CreditsSnapshot = Static<typeof CreditsSnapshot>;

export const GetAccountParams = object("GetAccountParams", () => ({ refreshToken: omittable(boolean()) }));
export type GetAccountParams = Static<typeof GetAccountParams>;

export const GetAccountRateLimitsParams = object("GetAccountRateLimitsParams", () => ({
  excludeResetCreditDetails: omittable(boolean()),
  supportsLunaReserve: omittable(boolean()),
}));
export type GetAccountRateLimitsParams = Static<typeof GetAccountRateLimitsParams>;

export const GetAccountRateLimitsResponse = object("GetAccountRateLimitsResponse", () => ({
  accountId: nullable(string()),
  ordinaryUsageAllowed: nullable(boolean()),
  rateLimitResetCredits: nullable(RateLimitResetCreditsSummary),
  rateLimitUpsell: unknown(),
  rateLimits: RateLimitSnapshot,
  rateLimitsByLimitId: nullable(record(RateLimitSnapshot)),
}));
export type GetAccountRateLimitsResponse = Static<typeof GetAccountRateLimitsResponse>;

export const GetAccountResponse = object("GetAccountResponse", () => ({
  account: nullable(Account),
  requiresOpenaiAuth: boolean(),
  workspaceRouting: experimental(WorkspaceRouting),
}));
export type GetAccountResponse = Static<typeof GetAccountResponse>;

export const PlanType = enumeration("PlanType", [
  "free",
  "go",
  "plus",
  "pro",
  "prolite",
  "promax",
  "team",
  "self_serve_business_prolite",
  "self_serve_business_usage_based",
  "business",
  "ent26",
  "enterprise_cbp_automation",
  "enterprise_cbp_usage_based",
  "enterprise",
  "edu",
  "edu_plus",
  "edu_pro",
  "sci",
  "sci_plus",
  "unknown",
]);
export type PlanType = Static<typeof PlanType>;

export const RateLimitReachedType = enumeration("RateLimitReachedType", [
  "rate_limit_reached",
  "workspace_owner_credits_depleted",
  "workspace_member_credits_depleted",
  "workspace_owner_usage_limit_reached",
  "workspace_member_usage_limit_reached",
]);
export type RateLimitReachedType = Static<typeof RateLimitReachedType>;

export const RateLimitResetCredit = object("RateLimitResetCredit", () => ({
  description: nullable(string()),
  expiresAt: nullable(integer()),
  grantedAt: integer(),
  id: string(),
  resetType: RateLimitResetType,
  status: RateLimitResetCreditStatus,
  title: nullable(string()),
}));
export type RateLimitResetCredit = Static<typeof RateLimitResetCredit>;

export const RateLimitResetCreditStatus = enumeration("RateLimitResetCreditStatus", [
  "available",
  "redeeming",
  "redeemed",
  "unknown",
]);
export type RateLimitResetCreditStatus = Static<typeof RateLimitResetCreditStatus>;

export const RateLimitResetCreditsSummary = object("RateLimitResetCreditsSummary", () => ({
  availableCount: integer(),
  credits: nullable(array(RateLimitResetCredit)),
}));
export type RateLimitResetCreditsSummary = Static<typeof RateLimitResetCreditsSummary>;

export const RateLimitResetType = enumeration("RateLimitResetType", ["codexRateLimits", "unknown"]);
export type RateLimitResetType = Static<typeof RateLimitResetType>;

export const RateLimitSnapshot = object("RateLimitSnapshot", () => ({
  credits: nullable(CreditsSnapshot),
  individualLimit: nullable(SpendControlLimitSnapshot),
  limitId: nullable(string()),
  limitName: nullable(string()),
  normalModelSlug: nullable(string()),
  planType: nullable(PlanType),
  primary: nullable(RateLimitWindow),
  rateLimitReachedType: nullable(RateLimitReachedType),
  secondary: nullable(RateLimitWindow),
  spendControlReached: nullable(boolean()),
}));
export type RateLimitSnapshot = Static<typeof RateLimitSnapshot>;

export const RateLimitWindow = object("RateLimitWindow", () => ({
  resetsAt: nullable(integer()),
  usedPercent: integer("int32"),
  windowDurationMins: nullable(integer()),
}));
export type RateLimitWindow = Static<typeof RateLimitWindow>;

export const SpendControlLimitSnapshot = object("SpendControlLimitSnapshot", () => ({
  limit: string(),
  remainingPercent: integer("int32"),
  resetsAt: integer(),
  used: string(),
}));
export type SpendControlLimitSnapshot = Static<typeof SpendControlLimitSnapshot>;

export const WorkspaceRouting = object("WorkspaceRouting", () => ({
  accountRoutingOverride: AccountRoutingOverride,
  backendOrigin: string(),
  chatgptAccountId: string(),
}));
export type WorkspaceRouting = Static<typeof WorkspaceRouting>;
