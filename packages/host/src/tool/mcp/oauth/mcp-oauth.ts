import type { McpAuthStatus } from "@bobbin/protocol";
import type { CredentialStore } from "../../../credentials/credential-store.ts";
import { boundedFetch } from "../../../oauth/bounded-fetch.ts";
import { LoginAttempt } from "../../../oauth/login-attempt.ts";
import { LoginCallbacks } from "../../../oauth/login-callbacks.ts";
import { LoginError } from "../../../oauth/login-error.ts";
import { LoginTokens } from "../../../oauth/login-tokens.ts";
import type { Platform } from "../../../platform/platform.ts";
import type { McpAuth } from "../mcp-interface.ts";
import type { McpServerSettings } from "../mcp-server-settings.ts";
import { authorizationRequest, type LoginOptions } from "./authorization-request.ts";
import { discover } from "./discovery.ts";
import { loginAdvice } from "./login-advice.ts";
import { LoginSupport } from "./login-support.ts";
import { callbackPath, hasBearer, type LoginTarget, loginTarget } from "./login-target.ts";

export interface McpOAuthPorts {
  readonly platform: Pick<Platform, "fetch" | "timers" | "clock" | "ids" | "listen" | "env">;
  readonly store: CredentialStore;
}

/** Limit on the time that a login may take. */
const MAX_LOGIN_MS = 60 * 60 * 1000;
/** Limit on the logins in progress. Each of them has its own listener. */
const MAX_LOGINS = 50;
const DEFAULT_LOGIN_MS = 5 * 60 * 1000;

/** OAuth logins to MCP servers, and their tokens. */
export class McpOAuth implements McpAuth {
  readonly #ports: McpOAuthPorts;
  readonly #tokens: LoginTokens;
  readonly #doors: LoginCallbacks;
  readonly #support: LoginSupport;
  readonly #attempts = new Set<LoginAttempt>();
  readonly #ending = new AbortController();
  #loginCount = 0;

  constructor(ports: McpOAuthPorts) {
    this.#ports = ports;
    this.#tokens = new LoginTokens(ports);
    this.#doors = new LoginCallbacks(ports.platform.listen);
    this.#support = new LoginSupport(ports.platform);
  }

  async token(settings: McpServerSettings, owner: string): Promise<string | undefined> {
    const server = this.#server(settings, owner);
    return server && this.#tokens.token(server);
  }

  async refused(
    settings: McpServerSettings,
    owner: string,
    { token }: { readonly token: string | undefined },
  ): Promise<string | undefined> {
    const server = this.#server(settings, owner);
    return server && this.#tokens.refused(server, token);
  }

  /** The tokens and client secrets of the owner's stored logins to these servers, to be redacted in texts. */
  async secretValues(servers: readonly McpServerSettings[], owner: string): Promise<readonly string[]> {
    const logins = servers.map(async (settings) => {
      const server = this.#server(settings, owner);
      // A login that cannot be read is not used either.
      const login = server && (await this.#tokens.read(server).catch(() => undefined));
      if (login?.kind !== "login") return [];
      return [login.accessToken, login.refreshToken, login.idToken, login.clientSecret];
    });
    return (await Promise.all(logins)).flat().filter((value) => value != null);
  }

  /** A text for the user about how to log in. */
  advice({ name }: McpServerSettings): string {
    return loginAdvice(name);
  }

  /**
   * The login status of a server. If there is no login, asks the server whether it supports one, with a time limit;
   * the answer is cached.
   */
  async status(settings: McpServerSettings, owner: string): Promise<McpAuthStatus> {
    const { transport } = settings;
    if (transport.kind === "http" && hasBearer(transport)) return "bearerToken";
    const server = this.#server(settings, owner);
    if (server === undefined) return "unsupported";
    const login = await this.#tokens.read(server);
    if (login !== undefined) return login.kind === "login" ? "oAuth" : "notLoggedIn";
    return this.#support.of(server, this.#ending.signal);
  }

  /**
   * Starts a login. Resolves with the URL that the user has to open; throws a `LoginError`. The login ends by itself,
   * at the latest after `timeoutMs`.
   */
  async login(
    settings: McpServerSettings,
    owner: string,
    { timeoutMs = DEFAULT_LOGIN_MS, ...options }: LoginOptions & { readonly timeoutMs?: number | undefined },
  ): Promise<LoginAttempt> {
    const server = this.#server(settings, owner);
    if (server === undefined) throw new LoginError("unsupported", noLogin(settings));
    if (this.#loginCount >= MAX_LOGINS)
      throw new LoginError(
        "refused",
        "Too many logins wait for a person. Finish one, or wait until one is over.",
      );
    this.#loginCount++;
    try {
      return await this.#begin(server, options, timeoutMs);
    } catch (cause) {
      this.#loginCount--;
      throw cause;
    }
  }

  async #begin(server: LoginTarget, options: LoginOptions, timeoutMs: number): Promise<LoginAttempt> {
    const { platform } = this.#ports;
    const { signal } = this.#ending;
    const found = await discover(server, platform, signal);
    const callback = await this.#doors.open(server.callbackPort, callbackPath(server.url));
    try {
      const request = await authorizationRequest(server, options, found, {
        ...platform,
        redirectUri: callback.redirectUri,
        fetch: boundedFetch(platform, server, signal),
      });
      if (signal.aborted) throw new LoginError("cancelled", "The host is ending.");
      const attempt = new LoginAttempt({
        name: server.name,
        request,
        callback,
        timers: platform.timers,
        timeoutMs: Math.min(Math.max(timeoutMs, 1000), MAX_LOGIN_MS),
        save: (login) => this.#tokens.save(server, login),
      });
      this.#track(attempt);
      return attempt;
    } catch (cause) {
      await callback.close();
      throw cause;
    }
  }

  /** Deletes a login. */
  async logout(settings: McpServerSettings, owner: string): Promise<"none" | "loggedOut" | "revoked"> {
    const server = this.#server(settings, owner);
    return server === undefined ? "none" : this.#tokens.logout(server);
  }

  /** Ends the logins that wait for a user, and waits for token refreshes in progress. Idempotent. */
  async close(): Promise<void> {
    this.#ending.abort();
    for (const attempt of this.#attempts) attempt.cancel();
    await Promise.allSettled([...this.#attempts].map(({ done }) => done));
    await this.#tokens.settled();
  }

  #track(attempt: LoginAttempt): void {
    this.#attempts.add(attempt);
    const forget = (): void => {
      this.#attempts.delete(attempt);
      this.#loginCount--;
    };
    attempt.done.then(forget, forget);
  }

  #server(settings: McpServerSettings, owner: string): LoginTarget | undefined {
    return loginTarget(settings, owner, this.#ports.platform.env);
  }
}

function noLogin({ name, transport }: McpServerSettings): string {
  return transport.kind === "stdio"
    ? `${name} is a program on this machine; only servers with a url have logins.`
    : `${name} has a token of its own in the configuration.`;
}
