import type { Platform } from "../platform/platform.ts";
import { boundedFetch } from "./bounded-fetch.ts";
import { LoginError } from "./login-error.ts";
import type { Login } from "./stored-login.ts";
import { failureOf, readTokens } from "./token-reply.ts";

type TokenPlatform = Pick<Platform, "fetch" | "timers" | "clock">;

/** The outcome of a refresh. */
export type Refreshed =
  | { readonly kind: "refreshed"; readonly login: Login }
  /** The authorization server no longer accepts the login. */
  | { readonly kind: "over" }
  | { readonly kind: "failed"; readonly error: LoginError };

/**
 * Never aborts: refreshes only have a timeout. A reply that is not read could contain the only token that is still
 * valid.
 */
const NEVER_ABORTS = new AbortController().signal;

/** Refreshes the tokens of a login. */
export async function refreshLogin(login: Login, platform: TokenPlatform): Promise<Refreshed> {
  const { refreshAuthorization } = await import("@modelcontextprotocol/client");
  try {
    const reply = await refreshAuthorization(login.issuer, {
      metadata: {
        issuer: login.issuer,
        token_endpoint: login.tokenEndpoint,
        // Required by the type; a refresh does not use it.
        authorization_endpoint: login.tokenEndpoint,
        response_types_supported: [],
      },
      clientInformation: clientOf(login),
      refreshToken: login.refreshToken!,
      fetchFn: fetchFor(login, platform),
      ...(login.resource !== null && { resource: login.resource }),
    });
    const tokens = readTokens(reply, platform.clock.now());
    return { kind: "refreshed", login: { ...login, ...tokens, scope: tokens.scope ?? login.scope } };
  } catch (cause) {
    const secrets = [login.refreshToken, login.accessToken, login.clientSecret];
    const { error, isFinal } = await failureOf(cause, "The login cannot be refreshed", secrets);
    return isFinal ? { kind: "over" } : { kind: "failed", error };
  }
}

/** Revokes a login at the authorization server (RFC 7009); resolves with whether the server confirmed it. */
export async function revokeLogin(login: Login, platform: TokenPlatform): Promise<boolean> {
  const { revocationEndpoint, refreshToken, accessToken } = login;
  if (
    revocationEndpoint === null ||
    new URL(revocationEndpoint).origin !== new URL(login.tokenEndpoint).origin
  )
    return false;
  const [token, hint] =
    refreshToken === null ? [accessToken, "access_token"] : [refreshToken, "refresh_token"];
  const params = new URLSearchParams({ token, token_type_hint: hint, client_id: login.clientId });
  if (login.clientSecret !== null) params.set("client_secret", login.clientSecret);
  try {
    const { status } = await fetchFor(login, platform)(revocationEndpoint, {
      method: "POST",
      redirect: "manual",
      headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
      body: params.toString(),
    });
    return status === 200;
  } catch (cause) {
    if (cause instanceof LoginError) return false;
    throw cause;
  }
}

/** The MCP server's configured headers are not sent to the authorization server. */
function fetchFor(login: Login, platform: TokenPlatform): ReturnType<typeof boundedFetch> {
  return boundedFetch(platform, { url: login.url, headers: {} }, NEVER_ABORTS);
}

function clientOf({ clientId, clientSecret, clientAuthMethod }: Login): {
  client_id: string;
  client_secret?: string;
  token_endpoint_auth_method: string;
} {
  return {
    client_id: clientId,
    token_endpoint_auth_method: clientAuthMethod,
    ...(clientSecret !== null && { client_secret: clientSecret }),
  };
}
