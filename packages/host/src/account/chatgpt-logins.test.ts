import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { AuthorizationServer, KNOWN_CLIENT } from "../../../../test/support/oauth/authorization-server.ts";
import { browse } from "../../../../test/support/oauth/browser.ts";
import { confirmDevice } from "../../../../test/support/oauth/device-browser.ts";
import { readLogin } from "../config/login-settings.ts";
import type { Login } from "../oauth/stored-login.ts";
import { nodePlatform } from "../platform/node.ts";
import { ChatgptLogins } from "./chatgpt-logins.ts";

let authorization: AuthorizationServer;
beforeAll(async () => {
  authorization = await AuthorizationServer.start();
});
afterAll(() => authorization.close());

/** Logins with timers that the test fires by hand. */
function loginsAt(issuer: string) {
  const saved: Login[] = [];
  const waiting: { readonly ms: number; readonly run: () => void }[] = [];
  const platform = nodePlatform();
  const timers: typeof platform.timers = {
    ...platform.timers,
    after: (ms, run) => {
      const timer = { ms, run };
      waiting.push(timer);
      return () => {
        const at = waiting.indexOf(timer);
        if (at >= 0) waiting.splice(at, 1);
      };
    },
  };
  const logins = new ChatgptLogins({
    platform: { ...platform, timers },
    settings: () => readLogin({ login: { issuer, client_id: KNOWN_CLIENT } }),
    save: async (login) => void saved.push(login),
  });
  onTestFinished(() => logins.close());
  /** Runs the next timer of this length, as soon as there is one. */
  const pass = async (ms: number): Promise<void> => {
    for (;;) {
      const timer = waiting.find((one) => one.ms === ms);
      if (timer !== undefined) {
        waiting.splice(waiting.indexOf(timer), 1);
        return timer.run();
      }
      await new Promise(setImmediate);
    }
  };
  return { logins, saved, pass };
}

describe("a login with a code", () => {
  it("[LOGIN-3] is stored once the person has confirmed the code", async () => {
    const { logins, saved, pass } = loginsAt(authorization.issuer);
    const { verificationUrl, userCode, done } = await logins.device();
    expect(verificationUrl).toBe(`${authorization.issuer}/device`);
    await confirmDevice(verificationUrl, userCode);
    await pass(5000);
    await done;
    expect(saved).toMatchObject([{ issuer: authorization.issuer, clientId: KNOWN_CLIENT }]);
    expect(saved[0]!.refreshToken).not.toBeNull();
  });

  it("[LOGIN-3] ends when it is cancelled, and when the code is over", async () => {
    const { logins, saved, pass } = loginsAt(authorization.issuer);
    const first = await logins.device();
    expect(logins.cancel(first.id)).toBe(true);
    await expect(first.done).rejects.toMatchObject({ kind: "cancelled" });
    const { done } = await logins.device();
    let isOver = false;
    const ended = expect(done).rejects.toMatchObject({ kind: "timedOut" });
    done.catch(() => (isOver = true));
    // 15 minutes at most, five seconds at a time.
    for (let polls = 0; polls < 180 && !isOver; polls++)
      await Promise.race([pass(5000), done.catch(() => {})]);
    await ended;
    expect(saved).toEqual([]);
  });

  it("[LOGIN-3] works with a server that has the endpoints of OpenAI's", async () => {
    const asked: string[] = [];
    let isConfirmed = false;
    const server = createServer(async (request: IncomingMessage, response) => {
      const body = await text(request);
      asked.push(`${request.url} ${body}`);
      const reply = (status: number, json: object): void => {
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify(json));
      };
      switch (request.url) {
        case "/api/accounts/deviceauth/usercode":
          return reply(200, { device_auth_id: "device-1", user_code: "ABCD-1234", interval: "2" });
        case "/api/accounts/deviceauth/token":
          if (!isConfirmed) return reply(403, {});
          return reply(200, {
            authorization_code: "code-1",
            code_challenge: "c",
            code_verifier: "verifier-1",
          });
        case "/oauth/token":
          // As that server does: without a type, and without a life.
          return reply(200, { access_token: "access-1", refresh_token: "refresh-1" });
        default:
          return reply(404, {});
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { withDefaultTokenType } = await import("./default-token-type.ts");
    const saved: Login[] = [];
    const { pass, logins } = loginsAt(issuer);
    const lenient = new ChatgptLogins({
      platform: withDefaultTokenType(nodePlatform()),
      settings: () => readLogin({ login: { issuer, client_id: KNOWN_CLIENT } }),
      save: async (login) => void saved.push(login),
    });
    const pending = await logins.device();
    expect(pending).toMatchObject({ verificationUrl: `${issuer}/codex/device`, userCode: "ABCD-1234" });
    // The first question comes before the person.
    await pass(2000);
    logins.cancelPending();
    await expect(pending.done).rejects.toMatchObject({ kind: "cancelled" });
    isConfirmed = true;
    await (await lenient.device()).done;
    expect(saved).toMatchObject([{ accessToken: "access-1", refreshToken: "refresh-1", expiresAt: null }]);
    const exchange = new URLSearchParams(asked.at(-1)!.replace("/oauth/token ", ""));
    expect(Object.fromEntries(exchange)).toMatchObject({
      grant_type: "authorization_code",
      code: "code-1",
      code_verifier: "verifier-1",
      redirect_uri: `${issuer}/deviceauth/callback`,
    });
  });
});

it("[LOGIN-2] is over ten minutes after it began, and a browser that comes later finds nobody", async () => {
  const { logins, saved, pass } = loginsAt(authorization.issuer);
  const { url, done } = await logins.browser();
  const ended = expect(done).rejects.toMatchObject({ kind: "timedOut" });
  await pass(600_000);
  await ended;
  await expect(browse(url)).rejects.toThrow();
  expect(saved).toEqual([]);
});
