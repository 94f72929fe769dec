import type {
  AuthorizationServerMetadata,
  OAuthProtectedResourceMetadata,
} from "@modelcontextprotocol/client";
import { type BoundedFetch, boundedFetch, requestWithin } from "../../../oauth/bounded-fetch.ts";
import { LoginError } from "../../../oauth/login-error.ts";
import type { Platform } from "../../../platform/platform.ts";
import type { LoginTarget } from "./login-target.ts";

/** The authorization server of an MCP server. */
export interface Discovered {
  readonly authorizationServer: string;
  readonly metadata: AuthorizationServerMetadata;
  /** The resource indicator of the MCP server (RFC 8707); null if it has none. */
  readonly resource: string | null;
  /** The scopes that the MCP server asks for; null if it names none. */
  readonly scopes: readonly string[] | null;
}

type DiscoveryPlatform = Pick<Platform, "fetch" | "timers">;

/**
 * Finds the authorization server of an MCP server: from its reply to a request without a token, from its protected
 * resource metadata (RFC 9728), and from the authorization server's metadata (RFC 8414 or OpenID Connect). Throws a
 * `LoginError`; its kind is `unsupported` if there is no authorization server.
 */
export async function discover(
  server: LoginTarget,
  platform: DiscoveryPlatform,
  signal: AbortSignal,
): Promise<Discovered> {
  const library = await import("@modelcontextprotocol/client");
  const fetchFn = boundedFetch(platform, server, signal);
  const challenge = await challengeOf(server, platform, signal);
  const found = challenge === undefined ? {} : library.extractWWWAuthenticateParams(challenge);
  const resource = await resourceMetadata(server, found.resourceMetadataUrl, fetchFn);
  const authorizationServer = resource?.authorization_servers?.[0] ?? new URL("/", server.url).href;
  const metadata = await serverMetadata(authorizationServer, fetchFn);
  if (metadata === undefined) throw new LoginError("unsupported", unsupported(server, resource));
  checkMetadata(metadata);
  const requestedScopes = found.scope?.split(" ").filter((scope) => scope !== "");
  return {
    authorizationServer,
    metadata,
    resource: resourceOf(server, resource, library.checkResourceAllowed),
    scopes: nonEmpty(requestedScopes) ?? nonEmpty(resource?.scopes_supported) ?? null,
  };
}

function unsupported({ name }: LoginTarget, resource: OAuthProtectedResourceMetadata | undefined): string {
  return resource === undefined
    ? `${name} does not say where to log in: it may need no login, or a token (bearer_token_env_var).`
    : `The authorization server that ${name} names has no metadata.`;
}

/**
 * The 401 reply to a request without a token; undefined if the server accepts the request. A ping is used, because it
 * starts no session.
 */
async function challengeOf(
  { url, headers }: LoginTarget,
  platform: DiscoveryPlatform,
  signal: AbortSignal,
): Promise<Response | undefined> {
  return requestWithin(platform, signal, new URL(url), async (within) => {
    const response = await platform.fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: {
        ...headers,
        accept: "application/json, text/event-stream",
        "content-type": "application/json",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "ping" }),
      signal: within,
    });
    return response.status === 401 ? response : undefined;
  });
}

async function resourceMetadata(
  { url }: LoginTarget,
  at: URL | undefined,
  fetchFn: BoundedFetch,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  const { discoverOAuthProtectedResourceMetadata: discoverResource } = await import(
    "@modelcontextprotocol/client"
  );
  try {
    return await discoverResource(url, at === undefined ? {} : { resourceMetadataUrl: at }, fetchFn);
  } catch (cause) {
    if (cause instanceof LoginError) throw cause;
    // Without readable metadata, the MCP server itself may be the authorization server, as in older versions of MCP.
    return undefined;
  }
}

async function serverMetadata(
  authorizationServer: string,
  fetchFn: BoundedFetch,
): Promise<AuthorizationServerMetadata | undefined> {
  const { discoverAuthorizationServerMetadata, IssuerMismatchError } = await import(
    "@modelcontextprotocol/client"
  );
  try {
    return await discoverAuthorizationServerMetadata(authorizationServer, { fetchFn });
  } catch (cause) {
    if (cause instanceof LoginError) throw cause;
    const { origin } = new URL(authorizationServer);
    const why = cause instanceof IssuerMismatchError ? "is for another issuer" : "cannot be read";
    throw new LoginError("unreachable", `The metadata of the authorization server ${origin} ${why}.`);
  }
}

/** The resource indicator. A configured one is not checked; one from the metadata must match the server's URL. */
function resourceOf(
  { url, resource: configured }: LoginTarget,
  metadata: OAuthProtectedResourceMetadata | undefined,
  isAllowed: (of: { requestedResource: string; configuredResource: string }) => boolean,
): string | null {
  if (configured !== null) return configured;
  if (metadata === undefined) return null;
  const { resource } = metadata;
  if (URL.canParse(resource) && isAllowed({ requestedResource: url, configuredResource: resource }))
    return resource;
  throw new LoginError(
    "misconfigured",
    `The server at ${url} has the metadata of another resource. If that is right, set oauth_resource.`,
  );
}

function checkMetadata(metadata: AuthorizationServerMetadata): void {
  for (const endpoint of [metadata.authorization_endpoint, metadata.registration_endpoint])
    if (typeof endpoint === "string") checkEndpoint(endpoint);
  const methods = metadata.code_challenge_methods_supported;
  if (methods !== undefined && !methods.includes("S256"))
    throw new LoginError("unsupported", "The authorization server does not know PKCE with S256.");
  if (!metadata.response_types_supported.includes("code"))
    throw new LoginError("unsupported", "The authorization server does not give authorization codes.");
}

/** Users open one endpoint, and secrets are sent to the other. So both must use https, except on this machine. */
function checkEndpoint(endpoint: string): void {
  const { protocol, hostname } = new URL(endpoint);
  if (protocol === "https:") return;
  const isNear = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  if (protocol === "http:" && isNear) return;
  throw new LoginError("misconfigured", "The authorization server has an endpoint without https.");
}

function nonEmpty(scopes: readonly string[] | undefined): readonly string[] | undefined {
  return scopes === undefined || scopes.length === 0 ? undefined : scopes;
}
