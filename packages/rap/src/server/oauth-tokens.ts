import { isObject } from "../wire/index.ts";
import type { Platform } from "./platform.ts";
import type { Store } from "./store.ts";
import { ToolError } from "./tool-result.ts";
import type { ValueCipher } from "./value-cipher.ts";

/** An OAuth service at which users authorize the tool server. Both URLs must be https. */
export interface OAuthProvider {
  /** The page on which users agree. */
  readonly authorizationUrl: string;
  /** The address at which a code becomes a token. */
  readonly tokenUrl: string;
  /** The id that the service gave to this tool server. */
  readonly clientId: string;
  /** The secret that belongs to `clientId`. Public clients have none. */
  readonly clientSecret?: string;
  /** OAuth scopes to request. Request as few as the tools need. */
  readonly scopes?: readonly string[];
}

/** Whose token it is: one user of one tenant, for one provider. */
export interface TokenOwner {
  readonly tenant: string;
  readonly userId: string;
  readonly provider: string;
}

interface Token {
  readonly access: string;
  readonly refresh?: string;
  readonly expires?: number;
}

const MARGIN_MS = 60_000;
const EXCHANGE_MS = 30_000;
/**
 * Statuses by which a service refuses a grant (RFC 6749, section 5.2). After another status, the service may accept the
 * same grant later.
 */
const REFUSED: ReadonlySet<number> = new Set([400, 401, 403]);

const keyOf = ({ tenant, userId, provider }: TokenOwner): string =>
  `token ${JSON.stringify([tenant, userId, provider])}`;

/** OAuth tokens of users. They are encrypted in the store, refreshed when they expire, and never logged. */
export class OAuthTokens {
  readonly #platform: Platform;
  readonly #store: Store;
  readonly #cipher: ValueCipher;
  readonly #refreshing = new Map<string, Promise<string | undefined>>();

  constructor(platform: Platform, store: Store, cipher: ValueCipher) {
    this.#platform = platform;
    this.#store = store;
    this.#cipher = cipher;
  }

  /**
   * A valid access token, or undefined if the user must authorize (again). Rejects if a token has to be refreshed and its
   * service does not answer: the token is kept then.
   */
  async find(owner: TokenOwner, provider: OAuthProvider): Promise<string | undefined> {
    const key = keyOf(owner);
    const sealed = await this.#store.get(key);
    const token = sealed === undefined ? undefined : ((await this.#cipher.open(sealed)) as Token | undefined);
    if (token === undefined) return undefined;
    if (token.expires === undefined || token.expires > this.#platform.now()) return token.access;
    // Concurrent callers share one refresh: many services accept a refresh token only once.
    const refreshing = this.#refreshing.get(key) ?? this.#refresh(owner, provider, token);
    this.#refreshing.set(key, refreshing);
    return refreshing.finally(() => this.#refreshing.delete(key));
  }

  async #refresh(
    owner: TokenOwner,
    provider: OAuthProvider,
    { refresh }: Token,
  ): Promise<string | undefined> {
    const grant = { grant_type: "refresh_token", refresh_token: refresh ?? "" };
    const access = refresh === undefined ? undefined : await this.#exchange(owner, provider, grant, refresh);
    if (access === undefined) await this.#store.delete(keyOf(owner));
    return access;
  }

  /** Exchanges an authorization code for an access token. Undefined if the service refuses or does not answer. */
  redeem(
    owner: TokenOwner,
    provider: OAuthProvider,
    { code, verifier, redirect }: { code: string; verifier: string; redirect: string },
  ): Promise<string | undefined> {
    const grant = { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: redirect };
    return this.#exchange(owner, provider, grant, undefined).catch(() => undefined);
  }

  /** Undefined if the service refuses the grant. Rejects if it does not answer, or fails itself. */
  async #exchange(
    owner: TokenOwner,
    { tokenUrl, clientId, clientSecret }: OAuthProvider,
    grant: Record<string, string>,
    oldRefresh: string | undefined,
  ): Promise<string | undefined> {
    const form = new URLSearchParams({ ...grant, client_id: clientId });
    if (clientSecret !== undefined) form.set("client_secret", clientSecret);
    const attempt = new AbortController();
    const cancel = this.#platform.after(EXCHANGE_MS, () => attempt.abort());
    try {
      const response = await this.#platform.fetch(tokenUrl, {
        method: "POST",
        headers: { Accept: "application/json", "Content-Type": "application/x-www-form-urlencoded" },
        body: form.toString(),
        redirect: "error",
        signal: attempt.signal,
      });
      if (REFUSED.has(response.status)) return undefined;
      const body: unknown = await response.json();
      const token = response.ok && isObject(body) ? this.#tokenOf(body, oldRefresh) : undefined;
      if (token === undefined) throw new Error("no token");
      await this.#store.set(keyOf(owner), await this.#cipher.seal(token), { sync: true });
      return token.access;
    } catch {
      // The error may contain the code, so it is neither logged nor passed on.
      throw new ToolError(
        `The authorization by ${owner.provider} could not be renewed now. Try again later.`,
      );
    } finally {
      cancel();
    }
  }

  #tokenOf(body: { readonly [key: string]: unknown }, oldRefresh: string | undefined): Token | undefined {
    const { access_token: access, refresh_token, expires_in } = body;
    if (typeof access !== "string" || access === "") return undefined;
    const refresh = typeof refresh_token === "string" ? refresh_token : oldRefresh;
    // Counts as expired a little early, so that a token does not expire while a tool uses it.
    const expires =
      typeof expires_in === "number" && expires_in >= 0
        ? this.#platform.now() + Math.max(expires_in * 1000 - MARGIN_MS, expires_in * 500)
        : undefined;
    return { access, ...(refresh !== undefined && { refresh }), ...(expires !== undefined && { expires }) };
  }
}
