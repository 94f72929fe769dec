import { LoginError, saidBy } from "../oauth/login-error.ts";
import type { Login } from "../oauth/stored-login.ts";
import { readTokens } from "../oauth/token-reply.ts";
import type { Timers } from "../platform/platform.ts";
import { exchangeCode, type LoginContext, loginFrom } from "./chatgpt-authorization.ts";

/** A device code login: a person confirms it on another device by entering a code. */
export interface DeviceCode {
  readonly userCode: string;
  readonly verificationUrl: string;
  readonly intervalMs: number;
  readonly lifeMs: number;
  /** Asks the server once. `slower`: the server demands longer intervals. Throws a `LoginError`. */
  poll(): Promise<Login | "pending" | "slower">;
}

const USUAL_INTERVAL_SECS = 5;
const LONGEST_INTERVAL_SECS = 60;
const USUAL_LIFE_SECS = 15 * 60;
/** Added to the polling interval when the server demands a longer one (RFC 8628, section 3.5). */
const SLOWER_MS = 5000;

/** Requests a code. Throws a `LoginError`. */
export async function requestDeviceCode(context: LoginContext): Promise<DeviceCode> {
  const { device, issuer } = context.endpoints;
  if (device === null)
    throw new LoginError("unsupported", `${issuer} has no login with a code. Log in with a browser.`);
  return device.kind === "standard"
    ? standardCode(context, device.url)
    : openaiCode(context, device.base, device.verificationUrl);
}

/** Polls until the person has confirmed the login or the code has expired. Throws a `LoginError`. */
export async function confirmedLogin(code: DeviceCode, timers: Timers, signal: AbortSignal): Promise<Login> {
  let intervalMs = code.intervalMs;
  let waited = 0;
  for (;;) {
    const outcome = await code.poll();
    if (typeof outcome === "object") return outcome;
    if (outcome === "slower") intervalMs += SLOWER_MS;
    waited += intervalMs;
    if (waited > code.lifeMs)
      throw new LoginError("timedOut", `Nobody confirmed the code within ${code.lifeMs / 1000} s.`);
    await pause(intervalMs, timers, signal);
  }
}

function pause(ms: number, timers: Timers, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      cancel();
      reject(new LoginError("cancelled", "The login was cancelled."));
    };
    const cancel = timers.after(ms, () => {
      signal.removeEventListener("abort", stop);
      resolve();
    });
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

const GRANT = "urn:ietf:params:oauth:grant-type:device_code";

async function standardCode(context: LoginContext, url: string): Promise<DeviceCode> {
  const { settings, endpoints, fetch, clock } = context;
  const form = (fields: Record<string, string>): RequestInit => ({
    method: "POST",
    redirect: "manual",
    headers: { "content-type": "application/x-www-form-urlencoded", accept: "application/json" },
    body: new URLSearchParams({ client_id: settings.clientId, ...fields }).toString(),
  });
  const codeReply = await readReply(await fetch(url, form({ scope: endpoints.scope })));
  if (codeReply.status !== 200) throw refused(codeReply);
  const code = textIn(codeReply.body, "device_code");
  return {
    userCode: textIn(codeReply.body, "user_code"),
    verificationUrl: textIn(codeReply.body, "verification_uri"),
    intervalMs: secondsIn(codeReply.body, "interval", USUAL_INTERVAL_SECS, LONGEST_INTERVAL_SECS) * 1000,
    lifeMs: secondsIn(codeReply.body, "expires_in", USUAL_LIFE_SECS, USUAL_LIFE_SECS) * 1000,
    async poll() {
      const reply = await readReply(
        await fetch(endpoints.token, form({ grant_type: GRANT, device_code: code })),
      );
      if (reply.status === 200)
        return loginFrom(settings, endpoints, readTokens(tokensIn(reply.body), clock.now()));
      const error = reply.body["error"];
      if (error === "authorization_pending") return "pending";
      if (error === "slow_down") return "slower";
      if (error === "access_denied") throw new LoginError("denied", "The login was denied.");
      if (error === "expired_token") throw new LoginError("timedOut", "Nobody confirmed the code in time.");
      throw refused(reply);
    },
  };
}

/**
 * The device login of OpenAI's server. After the confirmation, the server returns an authorization code, which is
 * exchanged as in a browser login.
 */
async function openaiCode(context: LoginContext, base: string, verificationUrl: string): Promise<DeviceCode> {
  const { settings, endpoints, fetch } = context;
  const post = async (path: string, fields: object): Promise<Reply> =>
    readReply(
      await fetch(`${base}/${path}`, {
        method: "POST",
        redirect: "manual",
        headers: { "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify(fields),
      }),
    );
  const codeReply = await post("usercode", { client_id: settings.clientId });
  if (codeReply.status === 404)
    throw new LoginError(
      "unsupported",
      "device code login is not enabled for this Codex server. Use the browser login or verify the server URL.",
    );
  if (codeReply.status !== 200) throw refused(codeReply);
  const id = textIn(codeReply.body, "device_auth_id");
  const userCode = textIn(codeReply.body, "user_code" in codeReply.body ? "user_code" : "usercode");
  return {
    userCode,
    verificationUrl,
    intervalMs: secondsIn(codeReply.body, "interval", USUAL_INTERVAL_SECS, LONGEST_INTERVAL_SECS) * 1000,
    lifeMs: USUAL_LIFE_SECS * 1000,
    async poll() {
      const reply = await post("token", { device_auth_id: id, user_code: userCode });
      if (reply.status === 403 || reply.status === 404) return "pending";
      if (reply.status !== 200)
        throw new LoginError("refused", `device auth failed with status ${reply.status}`);
      return exchangeCode(context, {
        code: textIn(reply.body, "authorization_code"),
        verifier: textIn(reply.body, "code_verifier"),
        redirectUri: `${endpoints.issuer}/deviceauth/callback`,
      });
    },
  };
}

interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function readReply(response: Response): Promise<Reply> {
  const body: unknown = await response.json().catch(() => undefined);
  const isObject = typeof body === "object" && body !== null;
  return { status: response.status, body: isObject ? (body as Record<string, unknown>) : {} };
}

function tokensIn(body: Reply["body"]): Parameters<typeof readTokens>[0] {
  const text = (name: string): string | undefined =>
    typeof body[name] === "string" ? (body[name] as string) : undefined;
  const { expires_in } = body;
  return {
    access_token: textIn(body, "access_token"),
    token_type: text("token_type") ?? "Bearer",
    ...(typeof expires_in === "number" && { expires_in }),
    refresh_token: text("refresh_token"),
    id_token: text("id_token"),
    scope: text("scope"),
  };
}

function refused({ status, body }: Reply): LoginError {
  const words = [body["error"], body["error_description"]]
    .filter((part) => typeof part === "string")
    .join(": ");
  return new LoginError(
    status >= 500 ? "unreachable" : "refused",
    `The authorization server refused the login: HTTP ${status}${words === "" ? "" : ` (${saidBy(words)})`}.`,
  );
}

function textIn(body: Reply["body"], name: string): string {
  const value = body[name];
  if (typeof value === "string" && value !== "" && value.length < 32 * 1024) return value;
  throw new LoginError("unreachable", `The authorization server's reply has no ${name}.`);
}

/** Some servers send numbers as strings. */
function secondsIn(body: Reply["body"], name: string, usual: number, most: number): number {
  const value = Number(body[name] ?? Number.NaN);
  return Number.isFinite(value) ? Math.min(Math.max(value, 1), most) : usual;
}
