import type { CredentialStore } from "../credentials/credential-store.ts";
import { isUnavailable } from "../credentials/sealed-credential-store.ts";
import type { Platform } from "../platform/platform.ts";
import { type Login, readLogin, type StoredLogin, writeLogin } from "./stored-login.ts";
import { refreshLogin, revokeLogin } from "./token-requests.ts";

/** The key under which a login is stored, and the URL of the server that it is for. */
export interface LoginKey {
  readonly key: string;
  readonly url: string;
}

export interface TokenPorts {
  readonly platform: Pick<Platform, "fetch" | "timers" | "clock">;
  readonly store: CredentialStore;
}

/** A token is refreshed when this share of its lifetime is left, but at most `MARGIN_MS` before it expires. */
const MARGIN_SHARE = 0.2;
const MARGIN_MS = 60_000;
/** Delay before a failed refresh is retried while the token is still valid. */
const RETRY_MS = 10_000;
/** A token that replaced a refused one and is itself refused within this time is not refreshed again. */
const REFUSED_AGAIN_MS = 10_000;

/**
 * Provides and refreshes access tokens. Tokens are read from the store each time, so that a login, logout or refresh
 * by another process takes effect at once. Among all processes that share the store, only one refreshes a token at a
 * time.
 */
export class LoginTokens {
  readonly #ports: TokenPorts;
  readonly #refreshing = new Map<string, Promise<string | undefined>>();
  /** For each key, when a failed refresh may be retried. */
  readonly #retryAt = new Map<string, number>();
  /** For each key, the latest token that replaced a refused one, and when. */
  readonly #replaced = new Map<string, { readonly token: string; readonly at: number }>();

  constructor(ports: TokenPorts) {
    this.#ports = ports;
  }

  async read({ key, url }: LoginKey): Promise<StoredLogin | undefined> {
    return readLogin(await this.#ports.store.get(key), url);
  }

  /** Stores a login, and replaces the previous one. */
  async save({ key }: LoginKey, login: Login): Promise<void> {
    const { store } = this.#ports;
    // The lock prevents a running refresh of the previous login from overwriting the new login.
    await store.exclusively(key, () => store.set(key, writeLogin(login)));
    this.#forget(key);
  }

  /** A valid token; undefined if nobody is logged in. Throws a `LoginError` if none is available at the moment. */
  async token(server: LoginKey): Promise<string | undefined> {
    const login = await this.read(server);
    if (login?.kind !== "login") return undefined;
    const now = this.#ports.platform.clock.now();
    if (!isDue(login, now)) return login.accessToken;
    if (!isExpired(login, now) && now < (this.#retryAt.get(server.key) ?? 0)) return login.accessToken;
    return this.#refresh(server, login.accessToken, false);
  }

  /**
   * Called when the server refused a token. Returns another one to try; undefined if the login has ended or there was
   * none. Throws a `LoginError` if none is available at the moment.
   */
  async refused(server: LoginKey, token: string | undefined): Promise<string | undefined> {
    const login = await this.read(server);
    if (login?.kind !== "login") return undefined;
    // The login was replaced or refreshed in between.
    if (token === undefined || login.accessToken !== token) return this.token(server);
    return this.#refresh(server, token, true);
  }

  /** Refreshes the token now, even if it is still valid. Otherwise like `token`. */
  async renew(server: LoginKey): Promise<string | undefined> {
    const login = await this.read(server);
    if (login?.kind !== "login") return undefined;
    return this.#refresh(server, login.accessToken, false);
  }

  /** Deletes the stored login, and revokes it at the authorization server if that is reachable. */
  async logout(server: LoginKey): Promise<"none" | "loggedOut" | "revoked"> {
    const { store, platform } = this.#ports;
    const login = await store.exclusively(server.key, async () => {
      // A login that cannot be read can still be deleted.
      const before = await this.read(server).catch((cause: unknown) => {
        if (!isUnavailable(cause)) throw cause;
        return undefined;
      });
      await store.delete(server.key);
      return before;
    });
    this.#forget(server.key);
    if (login?.kind !== "login") return "none";
    return (await revokeLogin(login, platform)) ? "revoked" : "loggedOut";
  }

  /** Resolves when no refresh is running. Aborting one could lose the new token. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#refreshing.values());
  }

  #forget(key: string): void {
    this.#retryAt.delete(key);
    this.#replaced.delete(key);
  }

  #refresh(server: LoginKey, seen: string, isRefused: boolean): Promise<string | undefined> {
    const { key } = server;
    const known = this.#refreshing.get(key);
    if (known !== undefined) return known;
    const { store } = this.#ports;
    const begun = store
      .exclusively(key, () => this.#replace(server, seen, isRefused))
      .finally(() => this.#refreshing.delete(key));
    this.#refreshing.set(key, begun);
    return begun;
  }

  /** Refreshes the token; called under the lock. */
  async #replace(server: LoginKey, seen: string, isRefused: boolean): Promise<string | undefined> {
    const { store, platform } = this.#ports;
    const { key } = server;
    const login = await this.read(server);
    if (login?.kind !== "login") return undefined;
    const now = platform.clock.now();
    // Another process has refreshed it.
    if (login.accessToken !== seen && !isDue(login, now)) return login.accessToken;
    const isUseless = isRefused || isExpired(login, now);
    if (login.refreshToken === null) return isUseless ? this.#end(server, now) : login.accessToken;
    if (isRefused && this.#wasReplaced(key, login.accessToken, now)) return this.#end(server, now);
    const outcome = await refreshLogin(login, platform);
    if (outcome.kind === "refreshed") {
      await store.set(key, writeLogin(outcome.login));
      this.#retryAt.delete(key);
      const token = outcome.login.accessToken;
      if (isRefused) this.#replaced.set(key, { token, at: platform.clock.now() });
      return token;
    }
    if (outcome.kind === "over") return this.#end(server, now);
    this.#retryAt.set(key, now + RETRY_MS);
    if (!isUseless) return login.accessToken;
    throw outcome.error;
  }

  #wasReplaced(key: string, token: string, now: number): boolean {
    const replaced = this.#replaced.get(key);
    return replaced?.token === token && now - replaced.at < REFUSED_AGAIN_MS;
  }

  async #end({ key, url }: LoginKey, at: number): Promise<undefined> {
    await this.#ports.store.set(key, writeLogin({ kind: "ended", url, at }));
    this.#forget(key);
  }
}

/** Whether the token should be refreshed. */
function isDue({ expiresAt, obtainedAt }: Login, now: number): boolean {
  if (expiresAt === null) return false;
  const margin = Math.min(MARGIN_MS, (expiresAt - obtainedAt) * MARGIN_SHARE);
  // If the clock was set back, the expiry time is not reliable.
  return now >= expiresAt - margin || now < obtainedAt - MARGIN_MS;
}

function isExpired({ expiresAt }: Login, now: number): boolean {
  return expiresAt !== null && now >= expiresAt;
}
