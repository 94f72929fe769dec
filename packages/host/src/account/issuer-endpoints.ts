import { OPENAI_ISSUER } from "../config/login-settings.ts";
import type { BoundedFetch } from "../oauth/bounded-fetch.ts";
import { LoginError } from "../oauth/login-error.ts";

/** Endpoints of an authorization server. */
export interface IssuerEndpoints {
  readonly issuer: string;
  readonly authorization: string;
  readonly token: string;
  readonly revocation: string | null;
  /** Whether the redirect names the server in `iss` (RFC 9207). */
  readonly namesItself: boolean;
  readonly device: DeviceEndpoint | null;
  /** Additional parameters of the authorization request. */
  readonly extra: Readonly<Record<string, string>>;
  readonly scope: string;
}

/** Endpoint of the device login: by RFC 8628, or OpenAI's own API. */
export type DeviceEndpoint =
  | { readonly kind: "standard"; readonly url: string }
  | { readonly kind: "openai"; readonly base: string; readonly verificationUrl: string };

/** Scopes to request from OpenAI's server. */
const OPENAI_SCOPE = "openid profile email offline_access api.connectors.read api.connectors.invoke";
const SCOPE = "openid profile email offline_access";

/**
 * Reads the server's OpenID configuration. For OpenAI's server, and for servers without this document, returns the
 * endpoints that the Codex CLI uses.
 */
export async function endpointsOf(issuer: string, fetch: BoundedFetch): Promise<IssuerEndpoints> {
  if (issuer === OPENAI_ISSUER) return openaiEndpoints(issuer);
  const reply = await fetch(`${issuer}/.well-known/openid-configuration`, {
    headers: { accept: "application/json" },
  });
  if (reply.status === 404) return openaiEndpoints(issuer);
  if (reply.status !== 200)
    throw new LoginError("unreachable", `${issuer} does not describe itself: HTTP ${reply.status}.`);
  return described(issuer, await reply.json().catch(() => undefined));
}

function openaiEndpoints(issuer: string): IssuerEndpoints {
  return {
    issuer,
    authorization: `${issuer}/oauth/authorize`,
    token: `${issuer}/oauth/token`,
    revocation: `${issuer}/oauth/revoke`,
    namesItself: false,
    device: {
      kind: "openai",
      base: `${issuer}/api/accounts/deviceauth`,
      verificationUrl: `${issuer}/codex/device`,
    },
    extra: { id_token_add_organizations: "true", codex_cli_simplified_flow: "true", originator: "bobbin" },
    scope: OPENAI_SCOPE,
  };
}

function described(issuer: string, document: unknown): IssuerEndpoints {
  const metadata = (typeof document === "object" && document !== null ? document : {}) as Record<
    string,
    unknown
  >;
  if (typeof metadata["issuer"] !== "string" || metadata["issuer"].replace(/\/+$/, "") !== issuer)
    throw new LoginError("refused", `${issuer} describes another authorization server than itself.`);
  const authorization = endpoint(metadata["authorization_endpoint"]);
  const token = endpoint(metadata["token_endpoint"]);
  if (authorization === null || token === null)
    throw new LoginError("misconfigured", `${issuer} does not say where to log in.`);
  const device = endpoint(metadata["device_authorization_endpoint"]);
  return {
    issuer,
    authorization,
    token,
    revocation: endpoint(metadata["revocation_endpoint"]),
    namesItself: metadata["authorization_response_iss_parameter_supported"] === true,
    device: device === null ? null : { kind: "standard", url: device },
    // By OpenID Connect, `prompt=consent` is required for a refresh token.
    extra: { prompt: "consent" },
    scope: SCOPE,
  };
}

/** Accepts only https, and http on loopback, because tokens are sent to this URL. */
function endpoint(url: unknown): string | null {
  if (typeof url !== "string" || !URL.canParse(url)) return null;
  const { protocol, hostname } = new URL(url);
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  return protocol === "https:" || (protocol === "http:" && isHere) ? url : null;
}
