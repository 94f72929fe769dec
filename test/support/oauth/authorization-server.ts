import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Interaction, Provider } from "oidc-provider";

const TOKEN_LIFE_SECS = 3600;

/** A client that is already registered, as Bobbin is at OpenAI's server. */
export const KNOWN_CLIENT = "known-client";
/** The identity of the user who logs in, as claims of OpenAI's server. */
export const IDENTITY = {
  email: "ada@example.com",
  "https://api.openai.com/auth": { chatgpt_plan_type: "pro", chatgpt_account_id: "workspace-1" },
};
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** What the user does when the authorization server asks for consent. */
export type Person = "agrees" | "denies";

/** A real authorization server (oidc-provider) on loopback. Its user logs in and consents automatically. */
export class AuthorizationServer {
  readonly issuer: string;
  person: Person = "agrees";
  /** The number of issued tokens, by grant type. */
  readonly given = { authorization_code: 0, refresh_token: 0, [DEVICE_GRANT]: 0 };
  /** Each request, as method and path. */
  readonly requests: string[] = [];
  /** How long device codes are valid. */
  deviceCodeSecs = 600;
  /** Whether it replies 503 to every request. */
  isFailing = false;
  /** Runs before the token endpoint replies. */
  beforeToken: () => Promise<void> = async () => {};
  readonly #provider: Provider;
  readonly #close: () => Promise<void>;

  private constructor(issuer: string, close: () => Promise<void>, scope: string) {
    this.issuer = issuer;
    this.#close = close;
    this.#provider = new Provider(issuer, this.#configuration(scope));
    this.#provider.on("grant.success", ((ctx: { oidc: { params: { grant_type: "refresh_token" } } }) => {
      this.given[ctx.oidc.params.grant_type]++;
    }) as never);
  }

  static async start(scope = "files"): Promise<AuthorizationServer> {
    const http = createServer((request, response) => void server.#serve(request, response));
    await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
    const { port } = http.address() as AddressInfo;
    const close = () =>
      new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      });
    const server = new AuthorizationServer(`http://127.0.0.1:${port}`, close, scope);
    return server;
  }

  close(): Promise<void> {
    return this.#close();
  }

  /** Whether a token is good for a resource now. */
  async accepts(token: string, resource: string): Promise<boolean> {
    const found = await this.#provider.AccessToken.find(token);
    return found !== undefined && !found.isExpired && [found.aud].flat().includes(resource);
  }

  /** Revokes everything that was granted with a token. */
  async revokeGrant(token: string): Promise<void> {
    const found = await this.#provider.AccessToken.find(token);
    const grant = await this.#provider.Grant.find(found!.grantId);
    await found!.destroy();
    await grant!.destroy();
  }

  /** Revokes one access token. Its refresh token stays valid. */
  async revokeToken(token: string): Promise<void> {
    await (await this.#provider.AccessToken.find(token))!.destroy();
  }

  async isRevoked(token: string): Promise<boolean> {
    return (await this.#provider.AccessToken.find(token)) === undefined;
  }

  #configuration(scope: string): object {
    return {
      cookies: { keys: ["for tests only"] },
      features: {
        devInteractions: { enabled: false },
        deviceFlow: { enabled: true },
        registration: { enabled: true },
        revocation: { enabled: true, allowedPolicy: () => true },
        resourceIndicators: {
          enabled: true,
          defaultResource: () => undefined,
          useGrantedResource: () => true,
          getResourceServerInfo: () => ({
            scope,
            accessTokenFormat: "opaque",
            accessTokenTTL: TOKEN_LIFE_SECS,
          }),
        },
      },
      scopes: ["openid", "offline_access", scope],
      claims: { openid: ["sub", "https://api.openai.com/auth"], email: ["email"], profile: ["name"] },
      conformIdTokenClaims: false,
      clients: [
        {
          client_id: KNOWN_CLIENT,
          token_endpoint_auth_method: "none",
          application_type: "native",
          grant_types: ["authorization_code", "refresh_token", DEVICE_GRANT],
          response_types: ["code"],
          redirect_uris: ["http://localhost/auth/callback"],
        },
      ],
      rotateRefreshToken: true,
      ttl: {
        AccessToken: () => TOKEN_LIFE_SECS,
        DeviceCode: () => this.deviceCodeSecs,
        Grant: 86_400,
        Interaction: 600,
        Session: 600,
        RefreshToken: 86_400,
      },
      interactions: { url: (_ctx: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      findAccount: (_ctx: unknown, id: string) => ({
        accountId: id,
        claims: () => ({ sub: id, ...IDENTITY }),
      }),
    };
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url!.split("?", 1)[0]!;
    this.requests.push(`${request.method} ${path}`);
    if (this.isFailing) return void response.writeHead(503).end("down for now");
    if (path.startsWith("/interaction/")) return this.#interact(request, response);
    if (path === "/token") await this.beforeToken();
    this.#provider.callback()(request, response);
  }

  async #interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const interaction = await this.#provider.interactionDetails(request, response);
    const result = await this.#answer(interaction);
    await this.#provider.interactionFinished(request, response, result, {
      mergeWithLastSubmission: interaction.prompt.name !== "login",
    });
  }

  async #answer({ prompt, params, session, grantId }: Interaction): Promise<object> {
    if (this.person === "denies") return { error: "access_denied", error_description: "The person said no" };
    if (prompt.name === "login") return { login: { accountId: "ada" } };
    const known = grantId === undefined ? undefined : await this.#provider.Grant.find(grantId);
    const grant =
      known ?? new this.#provider.Grant({ accountId: session!.accountId, clientId: params["client_id"]! });
    grant.addOIDCScope(params["scope"] ?? "");
    if (params["resource"] !== undefined) grant.addResourceScope(params["resource"], params["scope"] ?? "");
    return { consent: { grantId: await grant.save() } };
  }
}
