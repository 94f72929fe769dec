import {
  array,
  boolean,
  enumeration,
  experimental,
  integer,
  nullable,
  object,
  omittable,
  optional,
  record,
  type Static,
  string,
  tagged,
  unknown,
} from "../schema-language.ts";

export const Account = tagged("Account", "type", () => ({
  apiKey: {},
  chatgpt: { email: nullable(string()), planType: PlanType, workspaceName: nullable(string()) },
  amazonBedrock: { usesCodexManagedCredentials: boolean() },
  gcp: {},
}));
export type Account = Static<typeof Account>;

export const AccountLoginCompletedNotification = object("AccountLoginCompletedNotification", () => ({
  loginId: nullable(string()),
  success: boolean(),
  error: nullable(string()),
  onboardingEntrypoint: nullable(DesktopOnboardingEntrypoint),
}));
export type AccountLoginCompletedNotification = Static<typeof AccountLoginCompletedNotification>;

export const AccountRateLimitsUpdatedNotification = object("AccountRateLimitsUpdatedNotification", () => ({
  rateLimits: RateLimitSnapshot,
}));
export type AccountRateLimitsUpdatedNotification = Static<typeof AccountRateLimitsUpdatedNotification>;

export const AccountRoutingOverride = enumeration("AccountRoutingOverride", ["NO_CONSTRAINT", "us", "us_cr"]);
export type AccountRoutingOverride = Static<typeof AccountRoutingOverride>;

export const AccountSecuritySetupAction = object("AccountSecuritySetupAction", () => ({
  label: string(),
  url: string(),
}));
export type AccountSecuritySetupAction = Static<typeof AccountSecuritySetupAction>;

export const AccountSecuritySetupNotice = object("AccountSecuritySetupNotice", () => ({
  accountId: string(),
  action: AccountSecuritySetupAction,
  description: string(),
  title: string(),
  userId: string(),
}));
export type AccountSecuritySetupNotice = Static<typeof AccountSecuritySetupNotice>;

export const AccountTokenUsageDailyBucket = object("AccountTokenUsageDailyBucket", () => ({
  startDate: string(),
  tokens: integer(),
}));
export type AccountTokenUsageDailyBucket = Static<typeof AccountTokenUsageDailyBucket>;

export const AccountTokenUsageSummary = object("AccountTokenUsageSummary", () => ({
  currentStreakDays: nullable(integer()),
  lifetimeTokens: nullable(integer()),
  longestRunningTurnSec: nullable(integer()),
  longestStreakDays: nullable(integer()),
  peakDailyTokens: nullable(integer()),
}));
export type AccountTokenUsageSummary = Static<typeof AccountTokenUsageSummary>;

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

export const CancelLoginAccountParams = object("CancelLoginAccountParams", () => ({ loginId: string() }));
export type CancelLoginAccountParams = Static<typeof CancelLoginAccountParams>;

export const CancelLoginAccountResponse = object("CancelLoginAccountResponse", () => ({
  status: CancelLoginAccountStatus,
}));
export type CancelLoginAccountResponse = Static<typeof CancelLoginAccountResponse>;

export const CancelLoginAccountStatus = enumeration("CancelLoginAccountStatus", ["canceled", "notFound"]);
export type CancelLoginAccountStatus = Static<typeof CancelLoginAccountStatus>;

export const ChatgptAuthTokensRefreshParams = object("ChatgptAuthTokensRefreshParams", () => ({
  reason: ChatgptAuthTokensRefreshReason,
  previousAccountId: optional(string()),
}));
export type ChatgptAuthTokensRefreshParams = Static<typeof ChatgptAuthTokensRefreshParams>;

export const ChatgptAuthTokensRefreshReason = enumeration("ChatgptAuthTokensRefreshReason", ["unauthorized"]);
export type ChatgptAuthTokensRefreshReason = Static<typeof ChatgptAuthTokensRefreshReason>;

export const ChatgptAuthTokensRefreshResponse = object("ChatgptAuthTokensRefreshResponse", () => ({
  accessToken: string(),
  chatgptAccountId: string(),
  chatgptPlanType: optional(string()),
}));
export type ChatgptAuthTokensRefreshResponse = Static<typeof ChatgptAuthTokensRefreshResponse>;

export const CreditsSnapshot = object("CreditsSnapshot", () => ({
  balance: nullable(string()),
  hasCredits: boolean(),
  unlimited: boolean(),
}));
export type CreditsSnapshot = Static<typeof CreditsSnapshot>;

export const DesktopOnboardingEntrypoint = enumeration("DesktopOnboardingEntrypoint", ["life_sciences"]);
export type DesktopOnboardingEntrypoint = Static<typeof DesktopOnboardingEntrypoint>;

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
  userId: nullable(string()),
  workspaceRouting: experimental(WorkspaceRouting),
}));
export type GetAccountResponse = Static<typeof GetAccountResponse>;

export const GetAccountSecuritySetupResponse = object("GetAccountSecuritySetupResponse", () => ({
  notice: nullable(AccountSecuritySetupNotice),
}));
export type GetAccountSecuritySetupResponse = Static<typeof GetAccountSecuritySetupResponse>;

export const GetAccountTokenUsageParams = object("GetAccountTokenUsageParams", () => ({
  threadId: optional(string()),
}));
export type GetAccountTokenUsageParams = Static<typeof GetAccountTokenUsageParams>;

export const GetAccountTokenUsageResponse = object("GetAccountTokenUsageResponse", () => ({
  dailyUsageBuckets: nullable(array(AccountTokenUsageDailyBucket)),
  summary: AccountTokenUsageSummary,
  threadUsage: nullable(ThreadUsage),
  /** Usage per model. */
  models: experimental.omittable(array(ModelUsage), { ours: true }),
  /** The usage limit that is configured. */
  limit: experimental(UsageLimit, { ours: true }),
}));
export type GetAccountTokenUsageResponse = Static<typeof GetAccountTokenUsageResponse>;

export const LoginAccountParams = tagged("LoginAccountParams", "type", () => ({
  apiKey: { apiKey: string() },
  chatgpt: {
    appBrand: optional(LoginAppBrand),
    codexStreamlinedLogin: omittable(boolean()),
    useHostedLoginSuccessPage: omittable(boolean()),
  },
  chatgptDeviceCode: {},
  chatgptAuthTokens: {
    accessToken: string(),
    chatgptAccountId: string(),
    chatgptPlanType: optional(string()),
  },
  amazonBedrock: { apiKey: string(), region: string() },
  amazonBedrockAccessKeys: {
    accessKeyId: string(),
    region: string(),
    secretAccessKey: string(),
    sessionToken: optional(string()),
  },
}));
export type LoginAccountParams = Static<typeof LoginAccountParams>;

export const LoginAccountResponse = tagged("LoginAccountResponse", "type", () => ({
  apiKey: {},
  chatgpt: { authUrl: string(), loginId: string() },
  chatgptDeviceCode: { loginId: string(), userCode: string(), verificationUrl: string() },
  chatgptAuthTokens: {},
}));
export type LoginAccountResponse = Static<typeof LoginAccountResponse>;

export const LoginAppBrand = enumeration("LoginAppBrand", ["codex", "chatgpt"]);
export type LoginAppBrand = Static<typeof LoginAppBrand>;

export const LogoutAccountResponse = object("LogoutAccountResponse", () => ({}));
export type LogoutAccountResponse = Static<typeof LogoutAccountResponse>;

export const ModelUsage = object("ModelUsage", () => ({
  modelProvider: string(),
  model: string(),
  inputTokens: integer(),
  cachedInputTokens: integer(),
  outputTokens: integer(),
  /** Null if no price is configured for the model. */
  costUsdMicros: nullable(integer()),
}));
export type ModelUsage = Static<typeof ModelUsage>;

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

export const ThreadUsage = object("ThreadUsage", () => ({
  estimatedUsageCreditsMicros: integer(),
  estimatedUsageUsdMicros: nullable(integer()),
  groups: array(ThreadUsageBreakdownGroup),
  nativeUsageUsdMicros: nullable(integer()),
  threadId: string(),
}));
export type ThreadUsage = Static<typeof ThreadUsage>;

export const ThreadUsageBreakdownGroup = object("ThreadUsageBreakdownGroup", () => ({
  cachedInputTokens: nullable(integer()),
  estimatedUsageCreditsMicros: integer(),
  inputTokens: nullable(integer()),
  model: nullable(string()),
  netNewInputTokens: nullable(integer()),
  outputTokens: nullable(integer()),
  reasoningEffort: nullable(string()),
  speed: nullable(string()),
  totalTokens: nullable(integer()),
}));
export type ThreadUsageBreakdownGroup = Static<typeof ThreadUsageBreakdownGroup>;

export const UsageLimit = object("UsageLimit", () => ({
  dailyTokens: nullable(integer()),
  dailyCostUsdMicros: nullable(integer()),
  usedTokens: integer(),
  usedCostUsdMicros: integer(),
  /** Seconds since the epoch. */
  resetsAt: integer(),
}));
export type UsageLimit = Static<typeof UsageLimit>;

export const WorkspaceRouting = object("WorkspaceRouting", () => ({
  accountRoutingOverride: AccountRoutingOverride,
  backendOrigin: string(),
  chatgptAccountId: string(),
}));
export type WorkspaceRouting = Static<typeof WorkspaceRouting>;
