import type { PlanType } from "@bobbin/protocol";
import { claimsIn } from "../oauth/token-claims.ts";
import { identityOf, planOf } from "./chatgpt-identity.ts";

/** Tokens of a ChatGPT account that a client provides. They are used until the host ends. */
export interface ExternalTokens {
  readonly accessToken: string;
  readonly accountId: string;
  readonly planType: PlanType;
  readonly email: string | null;
}

/** The tokens in the shape of the protocol. */
export interface GivenTokens {
  readonly accessToken: string;
  readonly chatgptAccountId: string;
  readonly chatgptPlanType?: string | null | undefined;
}

const LONGEST = 32 * 1024;

/** Checks the tokens. Throws an error with a message for people, which contains no part of the tokens. */
export function externalTokens(tokens: GivenTokens, workspaces: readonly string[] | null): ExternalTokens {
  const { accessToken, chatgptAccountId: accountId, chatgptPlanType } = tokens;
  const isSendable = (text: string): boolean => /^[\x21-\x7e]+$/.test(text) && text.length <= LONGEST;
  if (!isSendable(accessToken) || claimsIn(accessToken) === undefined)
    throw new Error("the access token is no JSON Web Token");
  if (!isSendable(accountId)) throw new Error("the account id cannot be sent");
  if (workspaces !== null && !workspaces.includes(accountId))
    throw new Error(`the account is not one of the workspaces ${workspaces.join(", ")}`);
  const { email, planType } = identityOf({ accessToken });
  return {
    accessToken,
    accountId,
    email,
    planType: chatgptPlanType == null ? planType : planOf(chatgptPlanType),
  };
}
