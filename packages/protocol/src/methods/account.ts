import { nothing, nullable } from "../schema-language.ts";
import { global, method, NONE } from "../table-entry.ts";
import {
  BedrockCheckGovCloudRequirementsParams,
  BedrockCheckGovCloudRequirementsResponse,
  CancelLoginAccountParams,
  CancelLoginAccountResponse,
  GetAccountParams,
  GetAccountRateLimitsParams,
  GetAccountRateLimitsResponse,
  GetAccountResponse,
  GetAccountSecuritySetupResponse,
  GetAccountTokenUsageParams,
  GetAccountTokenUsageResponse,
  LoginAccountParams,
  LoginAccountResponse,
  LogoutAccountResponse,
} from "../types/account.ts";

export const accountMethods = {
  "account/read": method({
    params: GetAccountParams,
    result: GetAccountResponse,
    scope: global("account-auth"),
    stability: "stable",
  }),
  "account/login/start": method({
    params: LoginAccountParams,
    result: LoginAccountResponse,
    scope: global("account-auth"),
    stability: "stable",
  }),
  "account/login/cancel": method({
    params: CancelLoginAccountParams,
    result: CancelLoginAccountResponse,
    scope: global("account-auth"),
    stability: "stable",
  }),
  "account/logout": method({
    params: nothing(),
    result: LogoutAccountResponse,
    scope: global("account-auth"),
    stability: "stable",
  }),
  "account/rateLimits/read": method({
    params: nullable(GetAccountRateLimitsParams),
    result: GetAccountRateLimitsResponse,
    scope: NONE,
    stability: "stable",
  }),
  "account/securitySetup/read": method({
    params: nothing(),
    result: GetAccountSecuritySetupResponse,
    scope: NONE,
    stability: "stable",
  }),
  "account/usage/read": method({
    params: nullable(GetAccountTokenUsageParams),
    result: GetAccountTokenUsageResponse,
    scope: NONE,
    stability: "stable",
  }),
  "account/bedrock/checkGovCloudRequirements": method({
    params: BedrockCheckGovCloudRequirementsParams,
    result: BedrockCheckGovCloudRequirementsResponse,
    scope: NONE,
    stability: "experimental",
  }),
};
