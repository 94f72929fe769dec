import type { Cancel, Timers } from "../platform/platform.ts";
import type { CallbackOutcome, OpenCallback } from "./login-callbacks.ts";
import { LoginError, saidBy } from "./login-error.ts";
import type { Login } from "./stored-login.ts";

/** The authorization request of a login: the URL that the user opens, and how its result is processed. */
export interface AuthorizationRequest {
  readonly url: string;
  readonly state: string;
  /** Throws a `LoginError` if the response is not from the requested authorization server (RFC 9207). */
  checkIssuer(iss: string | null): void;
  /** Exchanges the authorization code for a login. Throws a `LoginError`. */
  exchange(code: string, iss: string | null): Promise<Login>;
}

export interface AttemptParts {
  readonly name: string;
  readonly request: AuthorizationRequest;
  readonly callback: OpenCallback;
  readonly timers: Timers;
  readonly timeoutMs: number;
  save(login: Login): Promise<void>;
}

/**
 * A login in progress: from the URL that the user opens until the browser returns. The browser can return only once.
 */
export class LoginAttempt {
  readonly authorizationUrl: string;
  /** Resolves when the login is stored; rejects with a `LoginError`. The listener and the timer are closed by then. */
  readonly done: Promise<void>;
  readonly #parts: AttemptParts;
  readonly #stopTimer: Cancel;
  #settle!: (error?: unknown) => void;
  /** Set when the browser has returned. */
  #outcome: Promise<CallbackOutcome> | undefined;

  constructor(parts: AttemptParts) {
    const { request, callback, timers, timeoutMs, name } = parts;
    this.#parts = parts;
    this.authorizationUrl = request.url;
    const settled = new Promise<void>((resolve, reject) => {
      this.#settle = (error) => (error === undefined ? resolve() : reject(error));
    });
    this.#stopTimer = timers.after(timeoutMs, () => {
      const why = `Nobody logged in to ${name} within ${Math.round(timeoutMs / 1000)} s.`;
      this.#fail(new LoginError("timedOut", why));
    });
    this.done = settled.finally(async () => {
      this.#stopTimer();
      await callback.close();
    });
    callback.expect({ state: request.state, take: (params) => this.#take(params) });
  }

  /** Cancels the login, unless the browser has returned already. */
  cancel(): void {
    this.#fail(new LoginError("cancelled", `The login to ${this.#parts.name} was cancelled.`));
  }

  /**
   * Completes the login with the URL that the browser was redirected to. For users whose browser is on another
   * machine.
   */
  async paste(address: string): Promise<CallbackOutcome> {
    const at = address.indexOf("?");
    const params = new URLSearchParams(at < 0 ? "" : address.slice(at + 1));
    if (params.get("state") !== this.#parts.request.state)
      return { ok: false, says: "This is not the address that the browser was sent to for this login." };
    return this.#take(params);
  }

  #fail(error: LoginError): void {
    if (this.#outcome === undefined) this.#settle(error);
  }

  #take(params: URLSearchParams): Promise<CallbackOutcome> {
    // A browser may send the request twice.
    this.#outcome ??= this.#finish(params);
    return this.#outcome;
  }

  async #finish(params: URLSearchParams): Promise<CallbackOutcome> {
    const { name, request, save } = this.#parts;
    this.#stopTimer();
    try {
      const iss = params.get("iss");
      request.checkIssuer(iss);
      const code = params.get("code");
      if (params.has("error") || code === null || code === "") throw denied(params);
      await save(await request.exchange(code, iss));
      this.#settle();
      return { ok: true, says: `You are logged in to ${name}. You can close this window.` };
    } catch (cause) {
      this.#settle(cause);
      const why = cause instanceof LoginError ? cause.message : "The login could not be stored.";
      return { ok: false, says: why };
    }
  }
}

function denied(params: URLSearchParams): LoginError {
  const code = saidBy(params.get("error") ?? "");
  const words = saidBy(params.get("error_description") ?? "");
  if (code === "access_denied")
    return new LoginError("denied", `The login was denied${words === "" ? "" : `: ${words}`}.`);
  const reason = [code, words].filter((part) => part !== "").join(": ");
  return new LoginError(
    "refused",
    reason === ""
      ? "The browser came back without a code."
      : `The authorization server refused the login: ${reason}.`,
  );
}
