/** A stored login: its tokens, and what is needed to refresh and revoke them. */
export interface Login {
  readonly kind: "login";
  readonly url: string;
  readonly issuer: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string | null;
  readonly clientId: string;
  readonly clientSecret: string | null;
  /** How the client authenticates at the token endpoint. */
  readonly clientAuthMethod: string;
  readonly accessToken: string;
  readonly refreshToken: string | null;
  /** An OpenID Connect ID token, which names the user, if one was requested. */
  readonly idToken?: string | null;
  /** Milliseconds since the epoch; null if unknown. */
  readonly expiresAt: number | null;
  readonly obtainedAt: number;
  readonly scope: string | null;
  readonly resource: string | null;
}

/** A login that the authorization server or the MCP server no longer accepts. It contains no secret. */
export interface EndedLogin {
  readonly kind: "ended";
  readonly url: string;
  readonly at: number;
}

export type StoredLogin = Login | EndedLogin;

const VERSION = 1;

export function writeLogin(login: StoredLogin): string {
  return JSON.stringify({ version: VERSION, ...login });
}

/** Parses a stored login; undefined if it is invalid or of another version, so that a new login is needed. */
export function readLogin(text: string | undefined, url: string): StoredLogin | undefined {
  if (text === undefined) return undefined;
  let parsed: Record<string, unknown> | null;
  try {
    parsed = JSON.parse(text) as Record<string, unknown> | null;
  } catch {
    return undefined;
  }
  if (typeof parsed !== "object" || parsed?.["version"] !== VERSION || parsed["url"] !== url)
    return undefined;
  if (parsed["kind"] === "ended") return isEnded(parsed) ? parsed : undefined;
  return isLogin(parsed) ? parsed : undefined;
}

type Fields = object & { readonly [key: string]: unknown };

function isEnded(parsed: Fields): parsed is Fields & EndedLogin {
  return typeof parsed["at"] === "number";
}

const TEXTS = ["url", "issuer", "tokenEndpoint", "clientId", "clientAuthMethod", "accessToken"];
const NULLABLE_TEXTS = ["revocationEndpoint", "clientSecret", "refreshToken", "scope", "resource"];

function isLogin(parsed: Fields): parsed is Fields & Login {
  return (
    parsed["kind"] === "login" &&
    TEXTS.every((key) => typeof parsed[key] === "string") &&
    NULLABLE_TEXTS.every((key) => parsed[key] === null || typeof parsed[key] === "string") &&
    (parsed["expiresAt"] === null || typeof parsed["expiresAt"] === "number") &&
    typeof parsed["obtainedAt"] === "number" &&
    (parsed["idToken"] == null || typeof parsed["idToken"] === "string")
  );
}
