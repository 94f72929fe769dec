import { createHash } from "node:crypto";
import type { LoginKey } from "../../../oauth/login-tokens.ts";
import type { HttpTransport, McpServerSettings } from "../mcp-server-settings.ts";

/** The facts about an MCP server that a login needs. */
export interface LoginTarget extends LoginKey {
  readonly name: string;
  /** Sent only to the MCP server's own origin, never to an authorization server. */
  readonly headers: Readonly<Record<string, string>>;
  /** The configured client ID; null if the client registers itself. */
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  /** The port for the browser's redirect after the login; null for any free port. */
  readonly callbackPort: number | null;
  readonly resource: string | null;
  /** The configured scopes; null for those that the server asks for. */
  readonly scopes: readonly string[] | null;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The facts for a login; undefined for servers without logins: programs, and servers whose authorization is
 * configured.
 */
export function loginTarget(
  settings: McpServerSettings,
  owner: string,
  env: Environment,
): LoginTarget | undefined {
  const { name, transport, oauth, oauthResource, scopes } = settings;
  if (transport.kind !== "http" || hasBearer(transport)) return undefined;
  return {
    name,
    url: transport.url,
    headers: headersOf(transport, env),
    clientId: oauth.clientId,
    clientSecret: oauth.clientSecret,
    callbackPort: oauth.callbackPort,
    resource: oauthResource,
    scopes,
    key: credentialKey(settings.origin === "host" ? null : owner, name, transport.url),
  };
}

/** Whether the configuration already contains the authorization. */
export function hasBearer({ bearerTokenEnvVar, headers, envHeaders }: HttpTransport): boolean {
  if (bearerTokenEnvVar !== null) return true;
  return [headers, envHeaders].some((all) =>
    Object.keys(all).some((name) => name.toLowerCase() === "authorization"),
  );
}

function headersOf({ headers, envHeaders }: HttpTransport, env: Environment): Record<string, string> {
  const fromEnvironment = Object.entries(envHeaders).flatMap(([name, variable]) => {
    const value = env[variable];
    return value === undefined || value === "" ? [] : [[name, value] as const];
  });
  return { ...headers, ...Object.fromEntries(fromEnvironment) };
}

/**
 * The key under which a login is stored. It contains name and URL, so that a server with the same name at another URL
 * does not get the tokens. Servers of config.toml have one login for all owners; servers that threads bring along
 * have one per owner.
 */
function credentialKey(owner: string | null, name: string, url: string): string {
  return JSON.stringify(["mcp-oauth", owner, name, url]);
}

/**
 * The path of the redirect URL. It is the same as in the Codex CLI, so that a client registered for the Codex CLI
 * works here, too.
 */
export function callbackPath(url: string): string {
  const address = new URL(url);
  address.hash = "";
  const digest = createHash("sha256").update(address.href).digest();
  return `/callback/${digest.subarray(0, 9).toString("base64url")}`;
}
