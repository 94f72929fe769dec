import type { AuthMode, PlanType, Account as ShownAccount } from "@bobbin/protocol";
import type { LoginSettings } from "../config/login-settings.ts";
import { OPENAI_URL } from "../config/model-providers.ts";
import type { CredentialStore } from "../credentials/credential-store.ts";
import { isUnavailable } from "../credentials/sealed-credential-store.ts";
import { messageOf } from "../errors.ts";
import { ModelFault } from "../model/faults.ts";
import type { ProviderSettings } from "../model/provider-settings.ts";
import type { ProviderCredential, StoredKeys } from "../model/stored-keys.ts";
import { LoginError } from "../oauth/login-error.ts";
import { type LoginKey, LoginTokens } from "../oauth/login-tokens.ts";
import type { Login } from "../oauth/stored-login.ts";
import { readKey, writeKey } from "./api-key.ts";
import { identityOf } from "./chatgpt-identity.ts";
import type { ChatgptLogins, LoginPlatform } from "./chatgpt-logins.ts";
import { withDefaultTokenType } from "./default-token-type.ts";
import { type ExternalTokens, externalTokens, type GivenTokens } from "./external-tokens.ts";
import { SecretRedactor } from "./secret-redactor.ts";

/** The current account: the part that clients see, and the token for requests. */
export interface CurrentAccount {
  readonly authMode: AuthMode;
  readonly planType: PlanType | null;
  readonly account: ShownAccount;
  readonly token: string;
  /** The workspace of a ChatGPT account. */
  readonly accountId: string | null;
}

export interface AccountPorts {
  readonly platform: LoginPlatform;
  readonly store: CredentialStore;
  /** The current login settings. */
  login(): LoginSettings;
  /** Called before a login by browser or by another device is stored. */
  storingLogin?(): void;
  /**
   * Asks clients for new tokens, because the tokens that a client provided were refused. Rejects if no client has new
   * ones.
   */
  askForTokens?(previousAccountId: string): Promise<GivenTokens>;
}

/** Name of the account's credential in the store. */
export const ACCOUNT = "account";
/** The provider whose API key is the account's login. */
export const ACCOUNT_PROVIDER = "openai";
const entryOf = (provider: string): string =>
  provider === ACCOUNT_PROVIDER ? ACCOUNT : `provider ${provider}`;

/**
 * The account that is logged in, and the API keys of providers. Every call reads the credential store, so that a
 * login or logout by another process takes effect at the next request.
 */
export class Accounts implements StoredKeys {
  readonly #ports: AccountPorts;
  readonly #tokens: LoginTokens;
  readonly #secrets = new SecretRedactor();
  #logins: Promise<ChatgptLogins> | undefined;
  /** Tokens that a client provided. They take precedence over stored credentials. */
  #external: ExternalTokens | undefined;
  #asking: Promise<ExternalTokens> | undefined;

  constructor(ports: AccountPorts) {
    this.#ports = ports;
    const { platform, store } = ports;
    this.#tokens = new LoginTokens({ store, platform: withDefaultTokenType(platform) });
  }

  get hasExternal(): boolean {
    return this.#external !== undefined;
  }

  /** Returns the account that is logged in; undefined if there is none, or if it cannot be read at the moment. */
  current(): Promise<CurrentAccount | undefined> {
    return this.#current().catch(noneIfUnavailable);
  }

  /** Returns why a stored account cannot be read at the moment; undefined if it can be read, or if there is none. */
  async problem(): Promise<string | undefined> {
    try {
      await this.#current();
      return undefined;
    } catch (cause) {
      if (isUnavailable(cause)) return messageOf(cause);
      throw cause;
    }
  }

  async #current(): Promise<CurrentAccount | undefined> {
    if (this.#external !== undefined) return shownExternal(this.#external);
    const apiKey = await this.#key(ACCOUNT);
    if (apiKey !== undefined)
      return {
        authMode: "apikey",
        planType: null,
        account: { type: "apiKey" },
        token: apiKey,
        accountId: null,
      };
    const login = await this.#tokens.read(this.#place);
    return login?.kind === "login" ? this.#shown(login) : undefined;
  }

  /** Refreshes the tokens of a ChatGPT login. An expired login is removed. Other failures change nothing. */
  async renew(): Promise<void> {
    if (this.#external !== undefined) return;
    await this.#tokens.renew(this.#place).catch((cause: unknown) => {
      if (!(cause instanceof LoginError)) noneIfUnavailable(cause);
    });
  }

  /** Stores the API key of a provider. The key of `openai` is the account's login. */
  async setKey(provider: string, apiKey: string): Promise<void> {
    this.#secrets.add(apiKey);
    if (provider === ACCOUNT_PROVIDER) await this.#cancelLogin();
    const entry = entryOf(provider);
    await this.#ports.store.exclusively(entry, () => this.#ports.store.set(entry, writeKey(apiKey)));
  }

  /** Deletes a provider's key. Returns whether there was one. */
  async deleteKey(provider: string): Promise<boolean> {
    if (provider === ACCOUNT_PROVIDER) return this.logout();
    return this.#delete(entryOf(provider));
  }

  /**
   * Replaces the current login by tokens that a client provides. Throws an error with a message for people if the
   * tokens are unusable.
   */
  async useTokens(providedTokens: GivenTokens): Promise<void> {
    this.#secrets.add(providedTokens.accessToken);
    const tokens = externalTokens(providedTokens, this.#ports.login().workspaces);
    await this.#cancelLogin();
    this.#external = tokens;
  }

  /** Removes the login, and revokes its tokens at the authorization server. Returns whether there was a login. */
  async logout(): Promise<boolean> {
    await this.#cancelLogin();
    const wasExternal = this.#external !== undefined;
    this.#external = undefined;
    const login = await this.#tokens.read(this.#place).catch(noneIfUnavailable);
    const wasLogin = login?.kind === "login";
    if (wasLogin) await this.#tokens.logout(this.#place);
    const wasStored = await this.#delete(ACCOUNT);
    return wasExternal || wasLogin || wasStored;
  }

  /** Logins with a browser or another device. The code is loaded at the first login. */
  logins(): Promise<ChatgptLogins> {
    this.#logins ??= import("./chatgpt-logins.ts").then(
      ({ ChatgptLogins }) =>
        new ChatgptLogins({
          platform: withDefaultTokenType(this.#ports.platform),
          settings: () => this.#ports.login(),
          save: async (login) => {
            this.#note(login);
            this.#ports.storingLogin?.();
            await this.#tokens.save(this.#place, login);
          },
        }),
    );
    return this.#logins;
  }

  async find(settings: ProviderSettings): Promise<ProviderCredential | undefined> {
    const { id, requiresOpenaiAuth } = settings;
    const own = id === ACCOUNT_PROVIDER ? undefined : await this.#key(entryOf(id)).catch(asModelFault);
    if (own !== undefined) return { token: own };
    if (!requiresOpenaiAuth) return undefined;
    await this.#refreshDue();
    const account = await this.#current().catch(asModelFault);
    return account === undefined ? undefined : this.#credential(settings, account);
  }

  /** Whether a provider has a credential. Does not refresh tokens. */
  async has({ id, requiresOpenaiAuth }: ProviderSettings): Promise<boolean> {
    const own = id === ACCOUNT_PROVIDER ? undefined : await this.#key(entryOf(id)).catch(noneIfUnavailable);
    if (own !== undefined) return true;
    return requiresOpenaiAuth && (await this.current()) !== undefined;
  }

  async refused(
    settings: ProviderSettings,
    { token }: ProviderCredential,
  ): Promise<ProviderCredential | undefined> {
    if (this.#external?.accessToken === token) {
      const next = shownExternal(await this.#askAgain(this.#external));
      return this.#credential(settings, next);
    }
    const account = await this.current();
    if (account === undefined || account.authMode === "apikey") return undefined;
    const next = await this.#tokens.refused(this.#place, token).catch(asModelFault);
    if (next === undefined) return undefined;
    const renewed = await this.current();
    return renewed === undefined ? undefined : this.#credential(settings, renewed);
  }

  hide(text: string): string {
    return this.#secrets.hide(text);
  }

  /**
   * Returns the secrets that must be redacted in a text. Reads the account and the API keys of `providers`, and returns
   * their secrets together with the other secrets that this host has read or created since it started.
   */
  async secretValues(providers: readonly ProviderSettings[]): Promise<readonly string[]> {
    const keys = providers.map(({ id }) => this.#key(entryOf(id)).catch(noneIfUnavailable));
    await Promise.all([this.current(), ...keys]);
    return this.#secrets.values();
  }

  /** Cancels a pending login, and waits for running refreshes. Idempotent. */
  async close(): Promise<void> {
    await (await this.#logins)?.close();
    await this.#tokens.settled();
  }

  get #place(): LoginKey {
    return { key: ACCOUNT, url: this.#ports.login().issuer };
  }

  async #refreshDue(): Promise<void> {
    if (this.#external === undefined) await this.#tokens.token(this.#place).catch(asModelFault);
  }

  #credential(
    { id, baseUrl }: ProviderSettings,
    { token, authMode, accountId }: CurrentAccount,
  ): ProviderCredential {
    if (authMode === "apikey") return { token };
    const isUsual = id === ACCOUNT_PROVIDER && baseUrl === OPENAI_URL;
    return {
      token,
      ...(accountId !== null && { headers: { "chatgpt-account-id": accountId } }),
      // OpenAI's API does not accept tokens of ChatGPT accounts, so another base URL is used.
      ...(isUsual && { baseUrl: `${this.#ports.login().chatgptBaseUrl.replace(/\/+$/, "")}/codex` }),
    };
  }

  /** Asks clients for new tokens. Model calls that are refused at the same time share one question. */
  #askAgain(refused: ExternalTokens): Promise<ExternalTokens> {
    this.#asking ??= this.#ask(refused).finally(() => (this.#asking = undefined));
    return this.#asking;
  }

  async #ask({ accountId }: ExternalTokens): Promise<ExternalTokens> {
    try {
      if (this.#ports.askForTokens === undefined) throw new Error("there is no client to ask");
      const newTokens = await this.#ports.askForTokens(accountId);
      this.#secrets.add(newTokens.accessToken);
      const tokens = externalTokens(newTokens, this.#ports.login().workspaces);
      // The client may have logged out in between.
      if (this.#external !== undefined) this.#external = tokens;
      return tokens;
    } catch (cause) {
      throw new ModelFault(
        `The client did not give a new token for the account: ${(cause as Error).message}. Log in again.`,
        "unauthorized",
      );
    }
  }

  #shown(login: Login): CurrentAccount {
    this.#note(login);
    const { email, planType, accountId } = identityOf(login);
    return {
      authMode: "chatgpt",
      planType,
      account: { type: "chatgpt", email, planType, workspaceName: null },
      token: login.accessToken,
      accountId,
    };
  }

  #note({ accessToken, refreshToken, idToken }: Login): void {
    this.#secrets.add(accessToken, refreshToken, idToken);
  }

  async #key(entry: string): Promise<string | undefined> {
    const key = readKey(await this.#ports.store.get(entry));
    this.#secrets.add(key);
    return key;
  }

  async #delete(entry: string): Promise<boolean> {
    const { store } = this.#ports;
    return store.exclusively(entry, async () => {
      // A credential that cannot be read counts as existing.
      const wasThere = await store.get(entry).then((value) => value !== undefined, isUnavailable);
      await store.delete(entry);
      return wasThere;
    });
  }

  async #cancelLogin(): Promise<void> {
    (await this.#logins)?.cancelPending();
  }
}

function shownExternal({ accessToken, accountId, planType, email }: ExternalTokens): CurrentAccount {
  return {
    authMode: "chatgptAuthTokens",
    planType,
    account: { type: "chatgpt", email, planType, workspaceName: null },
    token: accessToken,
    accountId,
  };
}

function noneIfUnavailable(cause: unknown): undefined {
  if (!isUnavailable(cause)) throw cause;
}

/** Converts a failed refresh to an error of the model call, with a message for people. */
function asModelFault(cause: unknown): never {
  if (isUnavailable(cause)) throw new ModelFault(messageOf(cause), "unauthorized");
  if (!(cause instanceof LoginError)) throw cause;
  const retry = cause.kind === "unreachable" ? { of: 3 } : undefined;
  throw new ModelFault(`${cause.message} If it stays so, log in again: bobbin login.`, "unauthorized", retry);
}
