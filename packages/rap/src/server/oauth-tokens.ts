import { isObject } from "../wire/index.ts";
import type { Platform } from "./platform.ts";
import type { Store } from "./store.ts";
import type { Vault } from "./vault.ts";

/** A service that users authorize the server for. Both addresses are https. */
export interface OAuthProvider {
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  /** As few as the tools need. */
  readonly scopes?: readonly string[];
}

/** Whose token it is, and for what. */
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

const keyOf = ({ tenant, userId, provider }: TokenOwner): string =>
  `token ${JSON.stringify([tenant, userId, provider])}`;

/** Tokens of users: sealed in the store, refreshed when they end, and in no log. */
export class OAuthTokens {
  readonly #platform: Platform;
  readonly #store: Store;
  readonly #vault: Vault;
  readonly #refreshing = new Map<string, Promise<string | undefined>>();

  constructor(platform: Platform, store: Store, vault: Vault) {
    this.#platform = platform;
    this.#store = store;
    this.#vault = vault;
  }

  /** A token that is valid now, or undefined if the user has to be asked. */
  async find(owner: TokenOwner, provider: OAuthProvider): Promise<string | undefined> {
    const key = keyOf(owner);
    const sealed = await this.#store.get(key);
    const token = sealed === undefined ? undefined : ((await this.#vault.open(sealed)) as Token | undefined);
    if (token === undefined) return undefined;
    if (token.expires === undefined || token.expires > this.#platform.now()) return token.access;
    // Together with all others who ask now: many services take a refresh token only once.
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

  /** Turns what the user brought into a token; undefined if the service did not want it. */
  redeem(
    owner: TokenOwner,
    provider: OAuthProvider,
    { code, verifier, redirect }: { code: string; verifier: string; redirect: string },
  ): Promise<string | undefined> {
    const grant = { grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: redirect };
    return this.#exchange(owner, provider, grant, undefined);
  }

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
      const told: unknown = await response.json();
      const token = response.ok && isObject(told) ? this.#tokenOf(told, oldRefresh) : undefined;
      if (token === undefined) return undefined;
      await this.#store.set(keyOf(owner), await this.#vault.seal(token), { sync: true });
      return token.access;
    } catch {
      // What went wrong may have the code in it, so nobody is told more than that it did.
      return undefined;
    } finally {
      cancel();
    }
  }

  #tokenOf(told: { readonly [key: string]: unknown }, oldRefresh: string | undefined): Token | undefined {
    const { access_token: access, refresh_token, expires_in } = told;
    if (typeof access !== "string" || access === "") return undefined;
    const refresh = typeof refresh_token === "string" ? refresh_token : oldRefresh;
    // A little early, so that it does not end while it is used.
    const expires =
      typeof expires_in === "number" && expires_in >= 0
        ? this.#platform.now() + Math.max(expires_in * 1000 - MARGIN_MS, expires_in * 500)
        : undefined;
    return { access, ...(refresh !== undefined && { refresh }), ...(expires !== undefined && { expires }) };
  }
}
