import type { LoginSettings } from "../config/login-settings.ts";
import { boundedFetch } from "../oauth/bounded-fetch.ts";
import { LoginAttempt } from "../oauth/login-attempt.ts";
import { LoginCallbacks, type OpenCallback } from "../oauth/login-callbacks.ts";
import { LoginError } from "../oauth/login-error.ts";
import type { Login } from "../oauth/stored-login.ts";
import type { Platform } from "../platform/platform.ts";
import { chatgptAuthorization, type LoginContext } from "./chatgpt-authorization.ts";
import { confirmedLogin, requestDeviceCode } from "./device-login.ts";
import { endpointsOf } from "./issuer-endpoints.ts";

export type LoginPlatform = Pick<Platform, "fetch" | "timers" | "clock" | "ids" | "listen">;

interface LoginPorts {
  readonly platform: LoginPlatform;
  settings(): LoginSettings;
  save(login: Login): Promise<void>;
}

/** A login that waits for a person. */
export interface PendingLogin {
  readonly id: string;
  /** Resolves when the login is stored; rejects with a `LoginError`. */
  readonly done: Promise<void>;
  cancel(): void;
}

export interface BrowserLogin extends PendingLogin {
  readonly url: string;
  paste: LoginAttempt["paste"];
}

export interface DeviceLogin extends PendingLogin {
  readonly verificationUrl: string;
  readonly userCode: string;
}

const BROWSER_MS = 10 * 60 * 1000;
/** The redirect URL of the browser login. Its path and host name are registered for OpenAI's client. */
const CALLBACK_PATH = "/auth/callback";
const CALLBACK_NAME = "localhost";

/** Logins to a ChatGPT account. Only one can be pending: a new one cancels the previous one. */
export class ChatgptLogins {
  readonly #ports: LoginPorts;
  readonly #doors: LoginCallbacks;
  #pending: PendingLogin | undefined;
  #ending = new AbortController();

  constructor(ports: LoginPorts) {
    this.#ports = ports;
    this.#doors = new LoginCallbacks(ports.platform.listen);
  }

  /** Starts a login with a browser on this machine. Throws a `LoginError`. */
  async browser(): Promise<BrowserLogin> {
    const context = await this.#begin();
    const { platform, save } = this.#ports;
    const callback = await this.#open(context.settings.callbackPorts);
    const attempt = new LoginAttempt({
      name: "ChatGPT",
      request: chatgptAuthorization(context, callback.redirectUri),
      callback,
      timers: platform.timers,
      timeoutMs: BROWSER_MS,
      save,
    });
    return this.#keep({
      id: platform.ids.uuid(),
      url: attempt.authorizationUrl,
      done: attempt.done,
      cancel: () => attempt.cancel(),
      paste: (address) => attempt.paste(address),
    });
  }

  /** Starts a login that is confirmed on another device. Throws a `LoginError`. */
  async device(): Promise<DeviceLogin> {
    const context = await this.#begin();
    const { platform, save } = this.#ports;
    const code = await requestDeviceCode(context);
    const stop = new AbortController();
    const done = confirmedLogin(code, platform.timers, stop.signal).then((login) => {
      if (stop.signal.aborted) throw new LoginError("cancelled", "The login was cancelled.");
      return save(login);
    });
    const { verificationUrl, userCode } = code;
    return this.#keep({
      id: platform.ids.uuid(),
      verificationUrl,
      userCode,
      done,
      cancel: () => stop.abort(),
    });
  }

  /** Cancels a login. Returns whether a login with this ID was pending. */
  cancel(id: string): boolean {
    if (this.#pending?.id !== id) return false;
    this.cancelPending();
    return true;
  }

  /** Cancels the pending login, if any. */
  cancelPending(): void {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.cancel();
  }

  /** Cancels the pending login, and waits for its end. Idempotent. */
  async close(): Promise<void> {
    this.#ending.abort();
    const pending = this.#pending;
    this.cancelPending();
    await pending?.done.catch(() => {});
  }

  async #begin(): Promise<LoginContext> {
    this.cancelPending();
    const { platform } = this.#ports;
    const settings = this.#ports.settings();
    const fetch = boundedFetch(platform, { url: settings.issuer, headers: {} }, this.#ending.signal);
    return { ...platform, fetch, settings, endpoints: await endpointsOf(settings.issuer, fetch) };
  }

  async #open(ports: readonly number[]): Promise<OpenCallback> {
    let problem: unknown;
    for (const port of ports) {
      try {
        const place = { name: CALLBACK_NAME, setting: "login.callback_port" };
        return await this.#doors.open(port === 0 ? null : port, CALLBACK_PATH, place);
      } catch (cause) {
        problem ??= cause;
      }
    }
    throw problem;
  }

  #keep<L extends PendingLogin>(login: L): L {
    this.#pending = login;
    const over = (): void => {
      if (this.#pending === login) this.#pending = undefined;
    };
    login.done.then(over, over);
    return login;
  }
}
