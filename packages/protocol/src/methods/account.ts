import { global, method, NONE } from "../entry.ts";
import { nullable } from "../schema.ts";
import {
  BedrockCheckGovCloudRequirementsParams,
  BedrockCheckGovCloudRequirementsResponse,
  GetAccountParams,
  GetAccountRateLimitsParams,
  GetAccountRateLimitsResponse,
  GetAccountResponse,
} from "../types/account.ts";

export const accountMethods = {
  "account/read": method({
    params: GetAccountParams,
    result: GetAccountResponse,
    scope: global("account-auth"),
    stability: "stable",
  }),
  "account/rateLimits/read": method({
    params: nullable(GetAccountRateLimitsParams),
    result: GetAccountRateLimitsResponse,
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
