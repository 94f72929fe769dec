import type { OAuthClientInformationMixed } from "@modelcontextprotocol/client";
import type { BoundedFetch } from "../../../oauth/bounded-fetch.ts";
import type { AuthorizationRequest } from "../../../oauth/login-attempt.ts";
import { LoginError } from "../../../oauth/login-error.ts";
import { failureOf, readTokens } from "../../../oauth/token-reply.ts";
import type { Clock, Ids } from "../../../platform/platform.ts";
import type { Discovered } from "./discovery.ts";
import type { LoginTarget } from "./login-target.ts";

/**
 * How the client registers at the authorization server: by a client metadata document (`cimd`), by dynamic client
 * registration (`dcr`), or by one of these, depending on the server (`auto`).
 */
export type ClientRegistration = "auto" | "cimd" | "dcr";

export interface LoginOptions {
  /** Scopes that replace those of the configuration or the server; null to use those. */
  readonly scopes: readonly string[] | null;
  readonly registration: ClientRegistration;
}

interface RequestPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly fetch: BoundedFetch;
  /** The URL that the browser returns to. */
  readonly redirectUri: string;
}

/** Creates an authorization request with PKCE. The client is the configured one, or registers itself. */
export async function authorizationRequest(
  server: LoginTarget,
  options: LoginOptions,
  found: Discovered,
  ports: RequestPorts,
): Promise<AuthorizationRequest> {
  const library = await import("@modelcontextprotocol/client");
  const { clock, fetch, redirectUri } = ports;
  const { authorizationServer, metadata } = found;
  const scope = scopeFor(server, options, found);
  const client = await clientFor(server, options, found, { fetch, redirectUri, scope });
  const state = stateFrom(ports.ids);
  const resource = found.resource === null ? {} : { resource: found.resource };
  const { authorizationUrl, codeVerifier } = await library.startAuthorization(authorizationServer, {
    metadata,
    clientInformation: client,
    redirectUrl: redirectUri,
    state,
    ...(scope !== undefined && { scope }),
    ...resource,
  });
  return {
    url: authorizationUrl.href,
    state,
    checkIssuer: (iss) => {
      try {
        library.validateAuthorizationResponseIssuer({
          iss: iss ?? undefined,
          expectedIssuer: metadata.issuer,
          issParameterSupported: metadata.authorization_response_iss_parameter_supported === true,
        });
      } catch {
        throw new LoginError("refused", "The browser came back from another authorization server.");
      }
    },
    exchange: async (code, iss) => {
      try {
        const reply = await library.exchangeAuthorization(authorizationServer, {
          metadata,
          clientInformation: client,
          authorizationCode: code,
          codeVerifier,
          redirectUri,
          fetchFn: fetch,
          ...(iss !== null && { iss }),
          ...resource,
        });
        return {
          kind: "login",
          url: server.url,
          issuer: metadata.issuer,
          tokenEndpoint: metadata.token_endpoint,
          revocationEndpoint: revocationEndpoint(found),
          clientId: client.client_id,
          clientSecret: client.client_secret ?? null,
          clientAuthMethod: library.selectClientAuthMethod(
            client,
            metadata.token_endpoint_auth_methods_supported ?? [],
          ),
          ...readTokens(reply, clock.now()),
          resource: found.resource,
        };
      } catch (cause) {
        const secrets = [code, codeVerifier, client.client_secret ?? null];
        throw (await failureOf(cause, "The authorization server refused the login", secrets)).error;
      }
    },
  };
}

const OFFLINE = "offline_access";

/**
 * The scopes of the login request, else of config.toml, else of the server. `offline_access` is added if the
 * authorization server supports it: without it there is no refresh token, and users would have to log in every hour.
 */
function scopeFor(
  { scopes: configured }: LoginTarget,
  { scopes: requested }: LoginOptions,
  { scopes: wanted, metadata }: Discovered,
): string | undefined {
  const scopes = requested ?? configured ?? wanted;
  if (scopes === null || scopes.length === 0) return undefined;
  const more = metadata.scopes_supported?.includes(OFFLINE) === true ? [OFFLINE] : [];
  return [...new Set([...scopes, ...more])].join(" ");
}

async function clientFor(
  server: LoginTarget,
  { registration }: LoginOptions,
  { authorizationServer, metadata }: Discovered,
  {
    fetch,
    redirectUri,
    scope,
  }: Pick<RequestPorts, "fetch" | "redirectUri"> & { readonly scope: string | undefined },
): Promise<OAuthClientInformationMixed> {
  if (server.clientId !== null)
    return {
      client_id: server.clientId,
      ...(server.clientSecret !== null && { client_secret: server.clientSecret }),
    };
  if (registration === "cimd")
    throw new LoginError(
      "misconfigured",
      "Bobbin has no client metadata document to register with. Use dcr, or set oauth.client_id.",
    );
  if (typeof metadata.registration_endpoint !== "string")
    throw new LoginError(
      "misconfigured",
      `The authorization server of ${server.name} registers no clients by itself. ` +
        `Register one there with the redirect address ${redirectUri}, and set its id: ` +
        `oauth.client_id${server.callbackPort === null ? ", and the port: oauth.callback_port" : ""}.`,
    );
  const { registerClient } = await import("@modelcontextprotocol/client");
  try {
    return await registerClient(authorizationServer, {
      metadata,
      clientMetadata: {
        client_name: "Bobbin",
        redirect_uris: [redirectUri],
        grant_types: ["authorization_code", "refresh_token"],
        response_types: ["code"],
        token_endpoint_auth_method: "none",
        application_type: "native",
      },
      fetchFn: fetch,
      ...(scope !== undefined && { scope }),
    });
  } catch (cause) {
    throw (await failureOf(cause, "The authorization server did not register this client", [])).error;
  }
}

function revocationEndpoint({ metadata }: Discovered): string | null {
  const endpoint = "revocation_endpoint" in metadata ? metadata.revocation_endpoint : undefined;
  return typeof endpoint === "string" && URL.canParse(endpoint) ? endpoint : null;
}

/** A random value of more than 128 bits. */
function stateFrom({ integer }: Ids): string {
  return [integer(), integer(), integer()].map((part) => part.toString(36)).join("");
}
