// OAuth authorizations by users. The host only shows the user a URL; the rest happens between the user's browser, the
// OAuth service and this tool server.
import { LIMITS, underBase } from "../wire/index.ts";
import type { Call } from "./call.ts";
import type { CallbackSender } from "./callback-sender.ts";
import { type OAuthProvider, OAuthTokens, type TokenOwner } from "./oauth-tokens.ts";
import { base64Url, type Platform, randomToken } from "./platform.ts";
import type { Store } from "./store.ts";
import { ToolError } from "./tool-result.ts";
import { withResolvers } from "./user-choices.ts";
import { ValueCipher } from "./value-cipher.ts";

export const OAUTH_PATH = "/oauth/callback";

export interface OAuthOptions {
  readonly platform: Platform;
  readonly store: Store;
  readonly sender: CallbackSender;
  readonly secret: string;
  readonly providers: { readonly [name: string]: OAuthProvider };
  /** Base URL of the tool server as a user's browser reaches it. */
  readonly url: string;
  readonly timeoutMs: number;
}

/** A started authorization: the user's browser has not come back from the OAuth service yet. */
interface Authorization extends TokenOwner {
  readonly verifier: string;
  readonly expires: number;
}

type Waiter = { readonly resolve: () => void; readonly reject: (error: Error) => void };

const ownerKey = ({ tenant, userId, provider }: TokenOwner): string =>
  JSON.stringify([tenant, userId, provider]);

export class OAuthFlows {
  readonly #options: OAuthOptions;
  readonly #cipher: ValueCipher;
  readonly #tokens: OAuthTokens;
  readonly #waiters = new Map<string, Set<Waiter>>();

  constructor(options: OAuthOptions) {
    for (const [name, { authorizationUrl, tokenUrl }] of Object.entries(options.providers))
      for (const url of [authorizationUrl, tokenUrl])
        if (!url.startsWith("https://"))
          throw new TypeError(`the URLs of the oauth provider ${name} must begin with https://`);
    this.#options = options;
    this.#cipher = new ValueCipher(options.secret, options.platform.randomBytes);
    this.#tokens = new OAuthTokens(options.platform, options.store, this.#cipher);
  }

  /** Resolves with an access token of the call's user. Asks the user to authorize if there is none, and waits. */
  async require(call: Call, name: string): Promise<string> {
    const provider = this.#provider(name);
    const userId = call.invocation.user_id;
    if (userId === null)
      throw new ToolError(
        `This tool needs an authorization by a user of ${name}, and the host does not say who the user is.`,
      );
    const owner = { tenant: call.record.tenant, userId, provider: name };
    const found = await this.#tokens.find(owner, provider);
    if (found !== undefined) return found;
    await this.#authorize(call, owner, provider);
    const token = await this.#tokens.find(owner, provider);
    if (token === undefined) throw new ToolError(`The authorization by ${name} expired at once. Try again.`);
    return token;
  }

  /** Deletes expired authorizations from the store. */
  async load(): Promise<void> {
    const { store, platform } = this.#options;
    for (const [key, sealed] of await store.list("authorization ")) {
      const authorization = (await this.#cipher.open(sealed)) as Authorization | undefined;
      if (authorization === undefined || authorization.expires < platform.now()) await store.delete(key);
    }
  }

  #provider(name: string): OAuthProvider {
    if (!Object.hasOwn(this.#options.providers, name))
      throw new TypeError(`there is no oauth provider ${name}`);
    return this.#options.providers[name]!;
  }

  async #authorize(call: Call, owner: TokenOwner, provider: OAuthProvider): Promise<void> {
    const { promise, resolve, reject } = withResolvers<void>();
    const waiter = { resolve: () => resolve(), reject };
    const key = ownerKey(owner);
    const waiters = this.#waiters.get(key) ?? new Set();
    this.#waiters.set(key, waiters.add(waiter));
    const late = `The authorization by ${owner.provider} was not completed in time. Try again when the user is there.`;
    try {
      await call.waiting(this.#options.timeoutMs, late, promise, async () => {
        // A URL that was sent before a restart still works, so no second one is sent.
        if (call.record.authorizations.includes(owner.provider)) return;
        await this.#send(call, owner, provider);
        await call.save({ authorizations: [...call.record.authorizations, owner.provider] });
      });
    } finally {
      waiters.delete(waiter);
      if (waiters.size === 0) this.#waiters.delete(key);
      if (call.abortReason !== "shutdown")
        await call.save({
          authorizations: call.record.authorizations.filter((name) => name !== owner.provider),
        });
    }
  }

  async #send(call: Call, owner: TokenOwner, provider: OAuthProvider): Promise<void> {
    const { platform, store, sender, timeoutMs } = this.#options;
    const state = randomToken(platform, 32);
    const verifier = randomToken(platform, 32);
    const authorization: Authorization = { ...owner, verifier, expires: platform.now() + timeoutMs };
    await store.set(await stateKey(state), await this.#cipher.seal(authorization));
    const url = new URL(provider.authorizationUrl);
    url.searchParams.set("response_type", "code");
    url.searchParams.set("client_id", provider.clientId);
    url.searchParams.set("redirect_uri", this.#redirect());
    if (provider.scopes?.length) url.searchParams.set("scope", provider.scopes.join(" "));
    url.searchParams.set("state", state);
    url.searchParams.set("code_challenge", base64Url(await sha256(verifier)));
    url.searchParams.set("code_challenge_method", "S256");
    const { group_id, id, call_id, callback_url } = call.invocation;
    const delivery = await sender.deliver(
      callback_url,
      { type: "oauth", group_id, id, call_id, auth_url: url.href },
      { signal: call.signal },
    );
    if (delivery.kind !== "delivered" && delivery.kind !== "aborted")
      throw new ToolError(
        `The authorization by ${owner.provider} failed: the host did not accept the request.`,
      );
  }

  #redirect(): string {
    return underBase(this.#options.url, OAUTH_PATH);
  }

  /** Handles the browser's redirect back from the OAuth service. `state` and `code` are used once. */
  async callback(query: URLSearchParams): Promise<Response> {
    const state = query.get("state") ?? "";
    const authorization = state.length > LIMITS.id ? undefined : await this.#take(state);
    if (authorization === undefined || authorization.expires < this.#options.platform.now())
      return page(400, "This authorization is unknown or has expired. Please start again.");
    const { provider } = authorization;
    const code = query.get("code");
    if (code === null) {
      this.#fail(authorization, `The authorization by ${provider} was denied by the user.`);
      return page(200, "Nothing was authorized. You can close this window.");
    }
    const exchanged = { code, verifier: authorization.verifier, redirect: this.#redirect() };
    if ((await this.#tokens.redeem(authorization, this.#provider(provider), exchanged)) === undefined) {
      this.#fail(
        authorization,
        `The authorization by ${provider} failed: the service issued no token. Try again.`,
      );
      return page(502, "The authorization has failed. Please start again.");
    }
    for (const waiter of this.#waiting(authorization)) waiter.resolve();
    return page(200, "Done. You can close this window.");
  }

  async #take(state: string): Promise<Authorization | undefined> {
    const { store } = this.#options;
    const key = await stateKey(state);
    const sealed = await store.get(key);
    if (sealed === undefined) return undefined;
    await store.delete(key);
    return (await this.#cipher.open(sealed)) as Authorization | undefined;
  }

  #fail(owner: TokenOwner, words: string): void {
    for (const waiter of this.#waiting(owner)) waiter.reject(new ToolError(words));
  }

  #waiting(owner: TokenOwner): readonly Waiter[] {
    return [...(this.#waiters.get(ownerKey(owner)) ?? [])];
  }
}

async function sha256(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

/**
 * Store key of an authorization. `state` is hashed, so that a reader of the store cannot complete the authorization.
 */
async function stateKey(state: string): Promise<string> {
  return `authorization ${base64Url(await sha256(state))}`;
}

function page(status: number, says: string): Response {
  return new Response(`<!doctype html><meta charset="utf-8"><title>Authorization</title><p>${says}</p>\n`, {
    status,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": "no-store",
      "Referrer-Policy": "no-referrer",
      "Content-Security-Policy": "default-src 'none'",
    },
  });
}
