import type { OAuthTokens } from "@modelcontextprotocol/client";
import { LoginError, saidBy } from "./login-error.ts";
import type { Login } from "./stored-login.ts";
import { claimsIn } from "./token-claims.ts";

/** The content of a token reply. */
export type Tokens = Pick<
  Login,
  "accessToken" | "refreshToken" | "idToken" | "expiresAt" | "obtainedAt" | "scope"
>;

const MAX_TOKEN_LENGTH = 32 * 1024;
const MAX_LIFETIME_SECS = 10 * 366 * 24 * 3600;

/** Parses a token reply. Throws a `LoginError` for tokens that cannot be sent in a header. */
export function readTokens(reply: OAuthTokens, now: number): Tokens {
  const { access_token: accessToken, token_type: type, expires_in: life } = reply;
  const { refresh_token, id_token, scope } = reply;
  if (type.toLowerCase() !== "bearer")
    throw new LoginError("refused", "The authorization server gave a token of a type other than Bearer.");
  for (const token of [accessToken, refresh_token ?? "none", id_token ?? "none"])
    if (!/^[\x21-\x7e]+$/.test(token) || token.length > MAX_TOKEN_LENGTH)
      throw new LoginError("refused", "The authorization server gave a token that cannot be sent.");
  const isLife = life !== undefined && life > 0 && life < MAX_LIFETIME_SECS;
  return {
    accessToken,
    refreshToken: refresh_token ?? null,
    ...(id_token !== undefined && { idToken: id_token }),
    expiresAt: isLife ? now + life * 1000 : expiryOf(accessToken),
    obtainedAt: now,
    scope: scope ?? null,
  };
}

/** The expiry time from the token itself: some authorization servers state it only there. */
function expiryOf(accessToken: string): number | null {
  const { exp } = claimsIn(accessToken) ?? {};
  return typeof exp === "number" && Number.isSafeInteger(exp) && exp > 0 ? exp * 1000 : null;
}

/**
 * Temporary errors, after which the same request may succeed. A reply that is not an OAuth error counts as
 * `server_error`.
 */
const TEMPORARY = new Set(["server_error", "temporarily_unavailable", "too_many_requests", "slow_down"]);

/**
 * Classifies a failed request to an authorization server. `isFinal`: the server refused the request, and would refuse
 * it again. `secrets` are removed from the server's text.
 */
export async function failureOf(
  cause: unknown,
  what: string,
  secrets: readonly (string | null)[],
): Promise<{ readonly error: LoginError; readonly isFinal: boolean }> {
  if (cause instanceof LoginError) return { error: cause, isFinal: false };
  const library = await import("@modelcontextprotocol/client");
  if (cause instanceof library.OAuthError) {
    const code = saidBy(cause.code, secrets);
    // For other replies, the library's error message contains the whole reply, so only the error code is used.
    if (TEMPORARY.has(cause.code))
      return {
        error: new LoginError("unreachable", `${what}: the server failed (${code}).`),
        isFinal: false,
      };
    const reason = saidBy(cause.message, secrets);
    const words = reason === "" || reason === code ? code : `${code} (${reason})`;
    return { error: new LoginError("refused", `${what}: ${words}.`), isFinal: true };
  }
  if (cause instanceof library.InsecureTokenEndpointError)
    return {
      error: new LoginError("misconfigured", `${what}: its token endpoint has no https.`),
      isFinal: true,
    };
  if (cause instanceof library.RegistrationRejectedError)
    return {
      error: new LoginError("refused", `${what}: HTTP ${cause.status}${registrationWords(cause.body)}.`),
      isFinal: true,
    };
  if (cause instanceof library.IssuerMismatchError)
    return {
      error: new LoginError("refused", `${what}: the reply came from another issuer.`),
      isFinal: true,
    };
  return { error: new LoginError("unreachable", `${what}: its reply cannot be read.`), isFinal: false };
}

/** RFC 7591: `error` and `error_description`. */
function registrationWords(body: string): string {
  try {
    const { error, error_description: words } = JSON.parse(body) as Record<string, unknown>;
    const reason = [error, words].filter((part) => typeof part === "string").join(": ");
    return reason === "" ? "" : ` (${saidBy(reason)})`;
  } catch {
    return "";
  }
}
