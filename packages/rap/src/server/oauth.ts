// Authorizations by users. The host only shows an address; everything else is between the user, the service and us.
import { LIMITS, underBase } from "../wire/index.ts";
import type { Call } from "./call.ts";
import { withResolvers } from "./choices.ts";
import type { Delivering } from "./deliver.ts";
import { type OAuthProvider, OAuthTokens, type TokenOwner } from "./oauth-tokens.ts";
import { base64Url, type Platform, randomToken } from "./platform.ts";
import { ToolError } from "./result.ts";
import type { Store } from "./store.ts";
import { Vault } from "./vault.ts";

export const OAUTH_PATH = "/oauth/callback";

export interface OAuthOptions {
  readonly platform: Platform;
  readonly store: Store;
  readonly delivering: Delivering;
  readonly secret: string;
  readonly providers: { readonly [name: string]: OAuthProvider };
  /** Where the server is for a user's browser. */
  readonly url: string;
  readonly timeoutMs: number;
}

/** A user who was sent away, and has not come back yet. */
interface Authorization extends TokenOwner {
  readonly verifier: string;
  readonly expires: number;
}

type Waiter = { readonly resolve: () => void; readonly reject: (error: Error) => void };

const ownerKey = ({ tenant, userId, provider }: TokenOwner): string =>
  JSON.stringify([tenant, userId, provider]);

export class OAuthFlows {
  readonly #options: OAuthOptions;
  readonly #vault: Vault;
  readonly #tokens: OAuthTokens;
  readonly #waiters = new Map<string, Set<Waiter>>();

  constructor(options: OAuthOptions) {
    for (const [name, { authorizationUrl, tokenUrl }] of Object.entries(options.providers))
      for (const url of [authorizationUrl, tokenUrl])
        if (!url.startsWith("https://"))
          throw new TypeError(`the addresses of ${name} must begin with https://`);
    this.#options = options;
    this.#vault = new Vault(options.secret, options.platform.randomBytes);
    this.#tokens = new OAuthTokens(options.platform, options.store, this.#vault);
  }

  async require(call: Call, name: string): Promise<string> {
    const provider = this.#provider(name);
    const userId = call.invocation.user_id;
    if (userId === null)
      throw new ToolError(
        `This tool works for a user of ${name}, and the host does not say who the user is.`,
      );
    const owner = { tenant: call.record.tenant, userId, provider: name };
    const found = await this.#tokens.find(owner, provider);
    if (found !== undefined) return found;
    await this.#authorize(call, owner, provider);
    const token = await this.#tokens.find(owner, provider);
    if (token === undefined) throw new ToolError(`The authorization by ${name} did not last. Try again.`);
    return token;
  }

  /** Forgets users who never came back. */
  async load(): Promise<void> {
    const { store, platform } = this.#options;
    for (const [key, sealed] of await store.list("authorization ")) {
      const authorization = (await this.#vault.open(sealed)) as Authorization | undefined;
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
        // One who was sent away before a restart finds the way back.
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
    const { platform, store, delivering, timeoutMs } = this.#options;
    const state = randomToken(platform, 32);
    const verifier = randomToken(platform, 32);
    const authorization: Authorization = { ...owner, verifier, expires: platform.now() + timeoutMs };
    await store.set(await stateKey(state), await this.#vault.seal(authorization));
    const url = new URL(provider.authorizationUrl);
    url.searchParams.set("response_type", "code");
    url.searchParams.set("client_id", provider.clientId);
    url.searchParams.set("redirect_uri", this.#redirect());
    if (provider.scopes?.length) url.searchParams.set("scope", provider.scopes.join(" "));
    url.searchParams.set("state", state);
    url.searchParams.set("code_challenge", base64Url(await sha256(verifier)));
    url.searchParams.set("code_challenge_method", "S256");
    const { group_id, id, call_id, callback_url } = call.invocation;
    const delivery = await delivering.deliver(
      callback_url,
      { type: "oauth", group_id, id, call_id, auth_url: url.href },
      { signal: call.signal },
    );
    if (delivery.kind !== "delivered" && delivery.kind !== "aborted")
      throw new ToolError(
        `The authorization by ${owner.provider} failed: the host did not take the request.`,
      );
  }

  #redirect(): string {
    return underBase(this.#options.url, OAUTH_PATH);
  }

  /** The user's browser comes back. What it brings is used once, and never shown again. */
  async callback(query: URLSearchParams): Promise<Response> {
    const state = query.get("state") ?? "";
    const authorization = state.length > LIMITS.id ? undefined : await this.#take(state);
    if (authorization === undefined || authorization.expires < this.#options.platform.now())
      return page(400, "This authorization is not known, or its time is over. Please begin again.");
    const { provider } = authorization;
    const code = query.get("code");
    if (code === null) {
      this.#fail(authorization, `The authorization by ${provider} was denied by the user.`);
      return page(200, "Nothing was authorized. You can close this window.");
    }
    const brought = { code, verifier: authorization.verifier, redirect: this.#redirect() };
    if ((await this.#tokens.redeem(authorization, this.#provider(provider), brought)) === undefined) {
      this.#fail(
        authorization,
        `The authorization by ${provider} failed: no token was given out. Try again.`,
      );
      return page(502, "The authorization has failed. Please begin again.");
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
    return (await this.#vault.open(sealed)) as Authorization | undefined;
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

/** Whoever reads the store can not go on with what is under way. */
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
