import { createHash } from "node:crypto";
import type { LoginSettings } from "../config/login-settings.ts";
import type { BoundedFetch } from "../oauth/bounded-fetch.ts";
import type { AuthorizationRequest } from "../oauth/login-attempt.ts";
import { LoginError } from "../oauth/login-error.ts";
import type { Login } from "../oauth/stored-login.ts";
import { failureOf, readTokens } from "../oauth/token-reply.ts";
import type { Clock, Ids } from "../platform/platform.ts";
import { identityOf } from "./chatgpt-identity.ts";
import type { IssuerEndpoints } from "./issuer-endpoints.ts";

export interface LoginPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly fetch: BoundedFetch;
}

/** Inputs of both kinds of login: with a browser, and with a device code. */
export interface LoginContext extends LoginPorts {
  readonly settings: LoginSettings;
  readonly endpoints: IssuerEndpoints;
}

/** Makes an OAuth authorization request with PKCE. */
export function chatgptAuthorization(context: LoginContext, redirectUri: string): AuthorizationRequest {
  const { settings, endpoints, ids } = context;
  const state = secretFrom(ids);
  const verifier = secretFrom(ids);
  const url = new URL(endpoints.authorization);
  const query = {
    response_type: "code",
    client_id: settings.clientId,
    redirect_uri: redirectUri,
    scope: endpoints.scope,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...endpoints.extra,
    ...(settings.workspaces !== null && { allowed_workspace_id: settings.workspaces.join(",") }),
    state,
  };
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return {
    url: url.href,
    state,
    checkIssuer: (iss) => {
      if (iss === null ? endpoints.namesItself : iss.replace(/\/+$/, "") !== endpoints.issuer)
        throw new LoginError("refused", "The browser came back from another authorization server.");
    },
    exchange: (code) => exchangeCode(context, { code, verifier, redirectUri }),
  };
}

/** Exchanges an authorization code for tokens. Throws a `LoginError`. */
export async function exchangeCode(
  { settings, endpoints, fetch, clock }: LoginContext,
  grant: { readonly code: string; readonly verifier: string; readonly redirectUri: string },
): Promise<Login> {
  const { exchangeAuthorization } = await import("@modelcontextprotocol/client");
  const { code, verifier, redirectUri } = grant;
  try {
    const reply = await exchangeAuthorization(endpoints.issuer, {
      metadata: {
        issuer: endpoints.issuer,
        authorization_endpoint: endpoints.authorization,
        token_endpoint: endpoints.token,
        response_types_supported: ["code"],
      },
      clientInformation: { client_id: settings.clientId, token_endpoint_auth_method: "none" },
      authorizationCode: code,
      codeVerifier: verifier,
      redirectUri,
      fetchFn: fetch,
    });
    return loginFrom(settings, endpoints, readTokens(reply, clock.now()));
  } catch (cause) {
    const { error } = await failureOf(cause, "The authorization server refused the login", [code, verifier]);
    throw error;
  }
}

/** Makes a login from tokens. Throws a `LoginError` if the login's workspace is not allowed. */
export function loginFrom(
  { clientId, workspaces }: LoginSettings,
  { issuer, token, revocation }: IssuerEndpoints,
  tokens: ReturnType<typeof readTokens>,
): Login {
  const { accountId } = identityOf(tokens);
  if (workspaces !== null && (accountId === null || !workspaces.includes(accountId)))
    throw new LoginError("refused", `Login is restricted to workspace id(s) ${workspaces.join(", ")}.`);
  return {
    kind: "login",
    url: issuer,
    issuer,
    tokenEndpoint: token,
    revocationEndpoint: revocation,
    clientId,
    clientSecret: null,
    clientAuthMethod: "none",
    ...tokens,
    resource: null,
  };
}

/** Makes a random secret of more than 256 bits. */
function secretFrom({ integer }: Ids): string {
  return Array.from({ length: 6 }, () => integer().toString(36).padStart(11, "0")).join("");
}
