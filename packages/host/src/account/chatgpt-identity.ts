import { check } from "@bobbin/protocol";
import { PlanType } from "@bobbin/protocol/types";
import { claimsIn } from "../oauth/token-claims.ts";

/** Identity of a ChatGPT login, as its tokens contain it. */
export interface ChatgptIdentity {
  readonly email: string | null;
  readonly planType: PlanType;
  /** The ID of the ChatGPT workspace, sent as the header `chatgpt-account-id`. Null if the tokens contain none. */
  readonly accountId: string | null;
}

/** Names of the objects in which OpenAI's tokens contain its own claims. */
const AUTH = "https://api.openai.com/auth";
const PROFILE = "https://api.openai.com/profile";

/** Reads the identity from the ID token. Takes missing parts from the access token. */
export function identityOf({
  accessToken,
  idToken,
}: {
  readonly accessToken: string;
  readonly idToken?: string | null | undefined;
}): ChatgptIdentity {
  const all = [idToken, accessToken]
    .map((token) => (token == null ? undefined : claimsIn(token)))
    .filter((claims) => claims !== undefined);
  const first = (read: (claims: Claims) => unknown): string | null => {
    for (const claims of all) {
      const value = read(claims);
      if (typeof value === "string" && value !== "") return value;
    }
    return null;
  };
  return {
    email: first((claims) => claims["email"] ?? within(claims, PROFILE)["email"]),
    planType: planOf(first((claims) => within(claims, AUTH)["chatgpt_plan_type"])),
    accountId: first((claims) => within(claims, AUTH)["chatgpt_account_id"]),
  };
}

type Claims = Readonly<Record<string, unknown>>;

function within(claims: Claims, name: string): Claims {
  const inner = claims[name];
  return typeof inner === "object" && inner !== null ? (inner as Claims) : {};
}

/** Parses the name of a plan; `unknown` for other names. */
export function planOf(name: string | null): PlanType {
  const plan = (name ?? "").toLowerCase();
  const isKnown = check(PlanType, plan, { experimental: true, method: "account/read" }) === undefined;
  return isKnown ? (plan as PlanType) : "unknown";
}
