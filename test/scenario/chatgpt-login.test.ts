// Logins to a ChatGPT account, against a real authorization server.
import { existsSync } from "node:fs";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder, tracesOf } from "../support/folder.ts";
import { BOBBIN, environment, stdioHost } from "../support/host-process.ts";
import { MockModel, refuse } from "../support/mock-model.ts";
import { say } from "../support/model-replies.ts";
import { AuthorizationServer, IDENTITY, KNOWN_CLIENT } from "../support/oauth/authorization-server.ts";
import { browse, browseUntil } from "../support/oauth/browser.ts";
import { confirmDevice } from "../support/oauth/device-browser.ts";
import { ageLogin, storedLogin } from "../support/oauth/stage.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import { TerminalRun } from "../support/terminal-run.ts";
import type { WireClient } from "../support/wire-client.ts";

const LOGIN = "account/login/start";
const BROWSER = { type: "chatgpt" };
const DEVICE = { type: "chatgptDeviceCode" };
const COMPLETED = "account/login/completed";
const env = { OPENAI_API_KEY: "", LOG_LEVEL: "debug" };
const CHATGPT = { type: "chatgpt", email: IDENTITY.email, planType: "pro" };

let authorization: AuthorizationServer;
beforeAll(async () => {
  authorization = await AuthorizationServer.start();
});
beforeEach(() => {
  Object.assign(authorization, {
    person: "agrees",
    isFailing: false,
    deviceCodeSecs: 600,
    beforeToken: async () => {},
  });
  Object.assign(authorization.given, { authorization_code: 0, refresh_token: 0 });
});
afterAll(() => authorization.close());

async function homeFor(model: MockModel, issuer = authorization.issuer, ...top: readonly string[]) {
  const home = await freshFolder();
  const config = [
    'model_provider = "openai"',
    'model = "gpt-5.5"',
    ...top,
    "[login]",
    `issuer = "${issuer}"`,
    `client_id = "${KNOWN_CLIENT}"`,
    "[model_providers.openai]",
    `base_url = "${model.url}"`,
  ];
  await writeFile(join(home, "config.toml"), config.join("\n"));
  return home;
}

async function completed(client: WireClient, loginId: string | null): Promise<Record<string, unknown>> {
  const { params } = await client.waitFor(
    ({ method, params }) => method === COMPLETED && params.loginId === loginId,
    COMPLETED,
  );
  return params;
}

async function loggedIn(client: WireClient): Promise<void> {
  const { authUrl, loginId } = await client.call(LOGIN, BROWSER);
  expect((await browse(authUrl)).status).toBe(200);
  expect(await completed(client, loginId)).toMatchObject({ success: true });
}

/** The frames of one turn on a new thread: what the model was sent, and how it ended. */
async function turnOf(client: WireClient, model: MockModel) {
  const turnId = await client.turn(await client.startThread(), "Hello");
  const { turn } = (await client.turnCompleted(turnId)).params;
  return { turn, headers: model.asked.at(-1)?.headers ?? {} };
}

describe("a login with a browser", () => {
  it("[LOGIN-1] [LOGIN-6] ends with a notification, and turns are sent with its token until the logout revokes it", async () => {
    const model = await MockModel.start(say("Hi"));
    const home = await homeFor(model);
    const { client, host } = await stdioHost({ home, env });
    const { type, authUrl, loginId } = await client.call(LOGIN, BROWSER);
    expect(type).toBe("chatgpt");
    const asked = new URL(authUrl).searchParams;
    expect(asked.get("redirect_uri")).toMatch(/^http:\/\/localhost:\d+\/auth\/callback$/);
    expect(asked.get("code_challenge_method")).toBe("S256");
    expect((await browse(authUrl)).status).toBe(200);
    expect(await completed(client, loginId)).toEqual({
      loginId,
      success: true,
      error: null,
      onboardingEntrypoint: null,
    });
    const { params } = await client.waitFor(({ method }) => method === "account/updated", "account/updated");
    expect(params).toEqual({ authMode: "chatgpt", planType: "pro" });
    expect(await client.call("account/read", {})).toMatchObject({
      account: CHATGPT,
      requiresOpenaiAuth: true,
    });
    const { accessToken, refreshToken } = await storedLogin(home);
    const { headers } = await turnOf(client, model);
    expect(headers).toMatchObject({
      authorization: `Bearer ${accessToken}`,
      "chatgpt-account-id": "workspace-1",
    });
    const status = { authMethod: "chatgpt", authToken: accessToken, requiresOpenaiAuth: true };
    expect(await client.call("getAuthStatus", { includeToken: true })).toEqual(status);
    await client.call("account/logout");
    expect(await authorization.isRevoked(accessToken)).toBe(true);
    expect(await client.call("account/read", {})).toMatchObject({ account: null });
    const said = `${host.stderr}${client.frames.map(({ text }) => text).join("\n")}`.replace(
      `"authToken":"${accessToken}"`,
      "",
    );
    for (const secret of [accessToken, refreshToken]) {
      expect(said).not.toContain(secret);
      expect(await tracesOf(home, secret)).toEqual([]);
    }
  });

  it("[LOGIN-2] can be cancelled, and is replaced by the next one", async () => {
    const { client } = await stdioHost({ home: await homeFor(await MockModel.start(say("Hi"))), env });
    const first = await client.call(LOGIN, BROWSER);
    const cancel = (loginId: string) => client.call("account/login/cancel", { loginId });
    expect(await cancel(first.loginId)).toEqual({ status: "canceled" });
    const end = { success: false, error: "Login was not completed" };
    expect(await completed(client, first.loginId)).toMatchObject(end);
    expect(await cancel(first.loginId)).toEqual({ status: "notFound" });
    const second = await client.call(LOGIN, BROWSER);
    const third = await client.call(LOGIN, BROWSER);
    expect(await completed(client, second.loginId)).toMatchObject(end);
    // Nobody listens for these any more.
    await expect(browse(second.authUrl)).rejects.toThrow();
    await client.call(LOGIN, { type: "apiKey", apiKey: "a-key-in-its-place" });
    expect(await completed(client, third.loginId)).toMatchObject(end);
    expect((await client.call("account/read", {})).account).toEqual({ type: "apiKey" });
    expect(await client.refusal("account/login/cancel", { loginId: "x" })).toMatchObject({
      code: -32600,
      message: "invalid login id: x",
      data: { code: "invalidLoginId" },
    });
  });

  it("[LOGIN-2] goes on waiting after a wrong state, and accepts the right one once", async () => {
    const { client } = await stdioHost({ home: await homeFor(await MockModel.start(say("Hi"))), env });
    const { authUrl, loginId } = await client.call(LOGIN, BROWSER);
    const back = await browseUntil(authUrl, ({ pathname }) => pathname === "/auth/callback");
    const wrong = new URL(back);
    wrong.searchParams.set("state", "of-somebody-else");
    expect((await fetch(wrong)).status).toBe(400);
    const foreign = new URL(back);
    foreign.searchParams.delete("state");
    expect((await fetch(foreign)).status).toBe(400);
    expect(client.count(COMPLETED)).toBe(0);
    expect((await fetch(back)).status).toBe(200);
    expect(await completed(client, loginId)).toMatchObject({ success: true });
    // The same address again reaches nobody.
    await expect(fetch(back)).rejects.toThrow();
    expect(authorization.given.authorization_code).toBe(1);
  });

  it("[LOGIN-2] fails with a code that was used before, and if the user refuses", async () => {
    const home = await homeFor(await MockModel.start(say("Hi")));
    const { client } = await stdioHost({ home, env });
    const first = await client.call(LOGIN, BROWSER);
    const back = await browseUntil(first.authUrl, ({ pathname }) => pathname === "/auth/callback");
    await fetch(back);
    await completed(client, first.loginId);
    await client.call("account/logout");
    const second = await client.call(LOGIN, BROWSER);
    const replayed = new URL(
      await browseUntil(second.authUrl, ({ pathname }) => pathname === "/auth/callback"),
    );
    replayed.searchParams.set("code", new URL(back).searchParams.get("code")!);
    expect((await fetch(replayed)).status).toBe(400);
    expect(await completed(client, second.loginId)).toMatchObject({
      success: false,
      error: expect.stringMatching(/refused the login: invalid_grant/),
    });
    authorization.person = "denies";
    const third = await client.call(LOGIN, BROWSER);
    expect((await browse(third.authUrl)).text).toContain("denied");
    expect(await completed(client, third.loginId)).toMatchObject({
      success: false,
      error: "The login was denied: The person said no.",
    });
    expect(await client.call("account/read", {})).toMatchObject({ account: null });
    expect(client.told("account/updated").map(({ params }) => params.authMode)).toEqual(["chatgpt", null]);
  });

  it("[LOGIN-1] is refused where the configuration allows keys only, or another workspace", async () => {
    const model = await MockModel.start(say("Hi"));
    const home = await homeFor(model, undefined, 'forced_chatgpt_workspace_id = "workspace-2"');
    const { client } = await stdioHost({ home, env });
    const { authUrl, loginId } = await client.call(LOGIN, BROWSER);
    expect(new URL(authUrl).searchParams.get("allowed_workspace_id")).toBe("workspace-2");
    await browse(authUrl);
    expect(await completed(client, loginId)).toMatchObject({
      success: false,
      error: "Login is restricted to workspace id(s) workspace-2.",
    });
    const { client: keys } = await stdioHost({ home, env, args: ["-c", "forced_login_method=api"] });
    for (const type of ["chatgpt", "chatgptDeviceCode"])
      expect(await keys.refusal(LOGIN, { type })).toMatchObject({
        message: "ChatGPT login is disabled. Use API key login instead.",
        data: { code: "chatgptLoginDisabled" },
      });
    const nowhere = await homeFor(model, "http://127.0.0.1:1");
    const { client: lost } = await stdioHost({ home: nowhere, env });
    expect(await lost.refusal(LOGIN, BROWSER)).toMatchObject({
      message: expect.stringMatching(
        /^failed to start login: http:\/\/127\.0\.0\.1:1\/\S+ cannot be reached/,
      ),
      data: { code: "loginFailed", retryable: true },
    });
  });
});

describe("a token", () => {
  it("[LOGIN-4] is refreshed before it expires, once for two hosts that need it at once", async () => {
    const model = await MockModel.start(say("Hi"));
    const home = await homeFor(model);
    const { client } = await stdioHost({ home, env });
    const { client: other } = await stdioHost({ home, env });
    await loggedIn(client);
    const { accessToken: first } = await storedLogin(home);
    await ageLogin(home, 3590 * 1000);
    const sent = await Promise.all([turnOf(client, model), turnOf(other, model), turnOf(client, model)]);
    expect(sent.map(({ turn }) => turn.status)).toEqual(["completed", "completed", "completed"]);
    const { accessToken } = await storedLogin(home);
    expect(accessToken).not.toBe(first);
    expect(new Set(model.asked.map(({ headers }) => headers.authorization))).toEqual(
      new Set([`Bearer ${accessToken}`]),
    );
    expect(authorization.given.refresh_token).toBe(1);
    await other.call("account/read", { refreshToken: true });
    expect(authorization.given.refresh_token).toBe(2);
  });

  it("[LOGIN-4] is refreshed when the provider refuses it, and a login that was revoked is gone", async () => {
    const model = await MockModel.start(refuse(401, { error: { message: "expired" } }), say("Hi"));
    const home = await homeFor(model);
    const { client } = await stdioHost({ home, env });
    await loggedIn(client);
    const { turn } = await turnOf(client, model);
    expect(turn.status).toBe("completed");
    expect(new Set(model.asked.map(({ headers }) => headers.authorization)).size).toBe(2);
    expect(authorization.given.refresh_token).toBe(1);
    await authorization.revokeGrant((await storedLogin(home)).accessToken);
    expect(await client.call("account/read", { refreshToken: true })).toMatchObject({ account: null });
    const { turn: last } = await turnOf(client, model);
    expect(last).toMatchObject({ status: "failed", error: { codexErrorInfo: "unauthorized" } });
  });

  it("[LOGIN-4] that cannot be refreshed for now is used while it is valid", async () => {
    const model = await MockModel.start(say("Hi"));
    const home = await homeFor(model);
    const { client } = await stdioHost({ home, env });
    await loggedIn(client);
    await ageLogin(home, 3590 * 1000);
    authorization.isFailing = true;
    expect((await turnOf(client, model)).turn.status).toBe("completed");
    expect(await client.call("account/read", { refreshToken: true })).toMatchObject({ account: CHATGPT });
  });
});

describe("tokens that a client gives", () => {
  const jwt = (name: string, plan = "plus"): string => {
    const claims = {
      email: `${name}@example.com`,
      "https://api.openai.com/auth": { chatgpt_plan_type: plan },
    };
    return `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.c2ln`;
  };
  const given = (name: string) => ({ accessToken: jwt(name), chatgptAccountId: `account-${name}` });
  const REFRESH = "account/chatgptAuthTokens/refresh";

  it("[LOGIN-5] are used, asked for again when refused, and stored nowhere", async () => {
    const refused = refuse(401, { error: { message: "expired" } });
    const model = await MockModel.start(refused, say("Hi"));
    const home = await homeFor(model);
    const { client, host } = await stdioHost({ home, env });
    expect(await client.call(LOGIN, { type: "chatgptAuthTokens", ...given("ada") })).toEqual({
      type: "chatgptAuthTokens",
    });
    expect(await completed(client, null)).toMatchObject({ success: true });
    const updated = () => client.told("account/updated").map(({ params }) => params);
    await eventually(() => updated().length === 1, "account/updated");
    expect(updated()).toEqual([{ authMode: "chatgptAuthTokens", planType: "plus" }]);
    expect((await client.call("account/read", { refreshToken: true })).account).toMatchObject({
      email: "ada@example.com",
      planType: "plus",
    });
    expect(await client.refusal(LOGIN, { type: "apiKey", apiKey: "another-key" })).toMatchObject({
      data: { code: "externalAuthActive" },
    });
    const turnId = await client.say(await client.startThread(), "Hello");
    const { id, params } = await client.waitFor(({ method }) => method === REFRESH, REFRESH);
    expect(params).toEqual({ reason: "unauthorized", previousAccountId: "account-ada" });
    client.send({ id, result: { ...given("bea"), chatgptPlanType: "pro" } });
    expect((await client.turnCompleted(turnId)).params.turn.status).toBe("completed");
    expect(model.asked.map(({ headers }) => headers["chatgpt-account-id"])).toEqual([
      "account-ada",
      "account-bea",
    ]);
    expect((await client.call("account/read", {})).account).toMatchObject({
      email: "bea@example.com",
      planType: "pro",
    });
    const said = `${host.stderr}${client.frames.map(({ text }) => text).join("\n")}`;
    for (const name of ["ada", "bea"]) {
      expect(said).not.toContain(jwt(name));
      expect(await tracesOf(home, jwt(name))).toEqual([]);
    }
    await client.call("account/logout");
    expect(await client.call("account/read", {})).toMatchObject({ account: null });
  });

  it.each([
    ["refuses to", { error: { code: -32000, message: jwt("secret") } }],
    ["gives what is no token", { result: { accessToken: "no-token", chatgptAccountId: "a" } }],
    ["gives nothing that can be read", { result: { accessToken: 7 } }],
  ])("[LOGIN-5] fail the turn if the client %s, without repeating what it sent", async (_what, answer) => {
    const model = await MockModel.start(refuse(401, { error: { message: "expired" } }));
    const { client } = await stdioHost({ home: await homeFor(model), env });
    await client.call(LOGIN, { type: "chatgptAuthTokens", ...given("ada") });
    const turnId = await client.say(await client.startThread(), "Hello");
    const { id } = await client.waitFor(({ method }) => method === REFRESH, REFRESH);
    client.send({ id, ...answer });
    const { turn } = (await client.turnCompleted(turnId)).params;
    expect(turn).toMatchObject({ status: "failed", error: { codexErrorInfo: "unauthorized" } });
    expect(turn.error.message).toMatch(/^The client did not give a new token for the account: /);
    expect(JSON.stringify(turn)).not.toContain(jwt("secret"));
    expect(model.asked).toHaveLength(1);
  });

  it("[LOGIN-5] are refused if they are malformed, of another workspace, or not allowed", async () => {
    const home = await homeFor(await MockModel.start(say("Hi")));
    const start = async (tokens: object, ...args: readonly string[]) => {
      const { client } = await stdioHost({ home, env, args });
      return client.refusal(LOGIN, { type: "chatgptAuthTokens", ...tokens });
    };
    const bad = await start({ accessToken: "secret-no-token", chatgptAccountId: "a" });
    expect(bad).toMatchObject({ code: -32603, data: { code: "externalAuthInvalid" } });
    expect(bad.message).not.toContain("secret-no-token");
    expect(await start(given("ada"), "-c", "forced_chatgpt_workspace_id=other")).toMatchObject({
      data: { code: "externalAuthInvalid" },
    });
    expect(await start(given("ada"), "-c", "forced_login_method=api")).toMatchObject({
      data: { code: "externalAuthDisabled" },
    });
  });
});

describe("a login with a code", () => {
  it("[LOGIN-3] replies with the code, and notifies clients once a person has confirmed it", async () => {
    const model = await MockModel.start(say("Hi"));
    const home = await homeFor(model);
    const { client } = await stdioHost({ home, env });
    const { type, loginId, verificationUrl, userCode } = await client.call(LOGIN, DEVICE);
    expect([type, verificationUrl]).toEqual([DEVICE.type, `${authorization.issuer}/device`]);
    expect(client.told(COMPLETED)).toEqual([]);
    await confirmDevice(verificationUrl, userCode);
    expect(await completed(client, loginId)).toEqual({
      loginId,
      success: true,
      error: null,
      onboardingEntrypoint: null,
    });
    const { params } = await client.waitFor(({ method }) => method === "account/updated", "account/updated");
    expect(params).toEqual({ authMode: "chatgpt", planType: "pro" });
    expect(await client.call("account/read", {})).toMatchObject({ account: CHATGPT });
    const { accessToken } = await storedLogin(home);
    const { headers } = await turnOf(client, model);
    expect(headers).toMatchObject({ authorization: `Bearer ${accessToken}` });
  });

  it("[LOGIN-3] fails when the code has expired, and when it is cancelled", async () => {
    const { client } = await stdioHost({ home: await homeFor(await MockModel.start(say("Hi"))), env });
    const waiting = await client.call(LOGIN, DEVICE);
    expect(await client.call("account/login/cancel", { loginId: waiting.loginId })).toEqual({
      status: "canceled",
    });
    expect(await completed(client, waiting.loginId)).toMatchObject({
      success: false,
      error: "Login was not completed",
    });
    authorization.deviceCodeSecs = 1;
    const { loginId } = await client.call(LOGIN, DEVICE);
    expect(await completed(client, loginId)).toMatchObject({
      success: false,
      error: "Login timed out",
    });
    expect(client.told("account/updated")).toEqual([]);
    expect((await client.call("account/read", {})).account).toBeNull();
  });
});

describe("bobbin login", () => {
  const onTerminal = async (home: string, option: string): Promise<TerminalRun> =>
    TerminalRun.start([process.execPath, BOBBIN, "login", option], {
      cwd: home,
      env: environment(home, { ...env, TERM: "xterm" }),
    });

  it("[LOGIN-6] --device-auth shows a code, and ends when it is confirmed", async () => {
    const home = await homeFor(await MockModel.start(say("Hi")));
    const run = await onTerminal(home, "--device-auth");
    await run.shows("Waiting …");
    const [, url, code] = /on any device:\n\n {2}(\S+)\n\n.*\n\n {2}(\S+)\n/.exec(run.shown)!;
    await confirmDevice(url!, code!);
    expect(await run.ended).toMatchObject({ code: 0 });
    expect(run.shown).toContain("Logged in.");
    const { accessToken } = await storedLogin(home);
    expect(run.shown).not.toContain(accessToken);
  });

  it("[LOGIN-6] --no-browser accepts the pasted URL of a browser on another machine", async () => {
    const home = await homeFor(await MockModel.start(say("Hi")));
    const run = await onTerminal(home, "--no-browser");
    await run.shows("Paste that URL here:");
    const address = /(http:\S+\/auth\S*)/.exec(run.shown)![1]!;
    const back = await browseUntil(address, ({ pathname }) => pathname === "/auth/callback");
    await run.type(`${new URL("?code=x&state=wrong", back)}\n`);
    await run.shows("This is not the address");
    await run.type(`${back}\n`);
    expect(await run.ended).toMatchObject({ code: 0 });
    expect(run.shown).toContain("Logged in.");
    await storedLogin(home);
  });
});

it("[LOGIN-6] logs in on the command line with a browser, and prints the account", async () => {
  const home = await homeFor(await MockModel.start(say("Hi")));
  const folder = await freshFolder("browser");
  const opened = join(folder, "opened");
  const browser = join(folder, "browser");
  await writeFile(browser, `#!/bin/sh\nprintf '%s' "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`);
  await chmod(browser, 0o755);
  const run = runBobbin(["login"], { env: { ...env, BOBBIN_HOME: home, BROWSER: browser } });
  await eventually(() => existsSync(opened), "the browser was opened");
  await browse(await readFile(opened, "utf8"));
  expect(await run).toMatchObject({ code: 0, stdout: expect.stringContaining("Logged in."), stderr: "" });
  const { accessToken } = await storedLogin(home);
  const whoami = await runBobbin(["whoami"], { env: { ...env, BOBBIN_HOME: home } });
  expect(whoami).toMatchObject({ code: 0, stdout: expect.stringContaining("ada@example.com (plan: pro)") });
  expect(whoami.stdout).not.toContain(accessToken);
  const logout = await runBobbin(["logout"], { env: { ...env, BOBBIN_HOME: home } });
  expect(logout.stdout).toBe("Logged out of OpenAI.\n");
  expect(await authorization.isRevoked(accessToken)).toBe(true);
});
