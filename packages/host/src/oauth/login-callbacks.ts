import type { HttpListener, HttpReply, IncomingRequest, Listen } from "../platform/platform.ts";
import { callbackPage } from "./callback-page.ts";
import { LoginError } from "./login-error.ts";

/** The result of a login, as the browser shows it. */
export interface CallbackOutcome {
  readonly ok: boolean;
  readonly says: string;
}

/** A login that waits for the browser to return. */
export interface WaitingLogin {
  /** The OAuth state, which identifies the login. */
  readonly state: string;
  take(params: URLSearchParams): Promise<CallbackOutcome>;
}

/** A callback URL that is being served. */
export interface OpenCallback {
  /** The URL to which the authorization server redirects the browser. */
  readonly redirectUri: string;
  expect(login: WaitingLogin): void;
  /** Idempotent. */
  close(): Promise<void>;
}

interface CallbackListener {
  readonly http: HttpListener;
  /** Waiting logins by path and state. */
  readonly expected: Map<string, WaitingLogin>;
}

const HOST = "127.0.0.1";

/**
 * Listeners on loopback to which browsers are redirected after a login. Each login has its own port, unless a port is
 * configured; logins with the same configured port share a listener.
 */
export class LoginCallbacks {
  readonly #listen: Listen;
  readonly #shared = new Map<number, { readonly opening: Promise<CallbackListener>; users: number }>();

  constructor(listen: Listen) {
    this.#listen = listen;
  }

  /**
   * Opens a callback. `name`: the host name in the URL, if one is registered; `setting`: the key of config.toml that
   * sets the port, for errors.
   */
  async open(
    port: number | null,
    path: string,
    {
      name = HOST,
      setting = "oauth.callback_port",
    }: { readonly name?: string; readonly setting?: string } = {},
  ): Promise<OpenCallback> {
    const listener = await this.#acquire(port, setting);
    let key: string | undefined;
    let closing: Promise<void> | undefined;
    return {
      redirectUri: `http://${name}:${listener.http.port}${path}`,
      expect: (login) => {
        key = keyOf(path, login.state);
        listener.expected.set(key, login);
      },
      close: () => {
        if (key !== undefined) listener.expected.delete(key);
        closing ??= this.#release(port, listener);
        return closing;
      },
    };
  }

  async #acquire(port: number | null, setting: string): Promise<CallbackListener> {
    if (port === null) return this.#listenOn(0, setting);
    const known = this.#shared.get(port) ?? { opening: this.#listenOn(port, setting), users: 0 };
    known.users++;
    this.#shared.set(port, known);
    try {
      return await known.opening;
    } catch (cause) {
      if (this.#shared.get(port) === known) this.#shared.delete(port);
      throw cause;
    }
  }

  async #release(port: number | null, listener: CallbackListener): Promise<void> {
    const known = port === null ? undefined : this.#shared.get(port);
    if (known !== undefined && --known.users > 0) return;
    if (port !== null) this.#shared.delete(port);
    await listener.http.close();
  }

  async #listenOn(port: number, setting: string): Promise<CallbackListener> {
    const expected = new Map<string, WaitingLogin>();
    try {
      const http = await this.#listen({ host: HOST, port }, (request) => reply(expected, request));
      return { http, expected };
    } catch (cause) {
      const { code, message } = cause as { code?: string; message: string };
      const why = code === "EADDRINUSE" ? "another program uses it; is another login under way?" : message;
      throw new LoginError("misconfigured", `Cannot listen on port ${port} (${setting}): ${why}`);
    }
  }
}

const keyOf = (path: string, state: string): string => `${path} ${state}`;

async function reply(
  expected: ReadonlyMap<string, WaitingLogin>,
  { method, path, query }: IncomingRequest,
): Promise<HttpReply> {
  const params = new URLSearchParams(query);
  const states = params.getAll("state");
  // A request with an unknown state does not come from the authorization server, so the login keeps waiting.
  const login = states.length === 1 ? expected.get(keyOf(path, states[0]!)) : undefined;
  if (method !== "GET" || login === undefined)
    return {
      status: 400,
      html: callbackPage({
        ok: false,
        says: "No login waits for this. Start it again, and use the newest link.",
      }),
    };
  const outcome = await login.take(params);
  return { status: outcome.ok ? 200 : 400, html: callbackPage(outcome) };
}
