import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { filesBelow, tracesOf } from "../support/folder.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import { MCP_PROGRAM, mcpServer } from "../support/mcp-stage.ts";
import { browse, browseUntil } from "../support/oauth/browser.ts";
import { ageLogin, oauthStage, storedLogin } from "../support/oauth/stage.ts";
import { KEY, signedBearer } from "../support/signed-token.ts";
import type { WireClient } from "../support/wire-client.ts";

const stage = oauthStage();
const LOGIN = "mcpServer/oauth/login";
const COMPLETED = "mcpServer/oauthLogin/completed";
const STATUS = "mcpServer/startupStatus/updated";

/** The end of a login, by its id. */
async function completed(client: WireClient, loginId: string) {
  const fits = ({ params }: { params?: { loginId?: string } }): boolean => params?.loginId === loginId;
  await client.until(() => client.told(COMPLETED).some(fits), "the login has ended");
  return client.told(COMPLETED).find(fits)!.params;
}

async function logIn(client: WireClient): Promise<void> {
  const { authorizationUrl, loginId } = await client.call(LOGIN, { name: "files" });
  expect((await browse(authorizationUrl)).status).toBe(200);
  expect(await completed(client, loginId)).toMatchObject({ success: true });
}

async function listed(client: WireClient) {
  const { data } = await client.call("mcpServerStatus/list", { serverName: "files" });
  return data[0];
}

/** Calls a tool, and gives what it says. */
async function echo(client: WireClient, threadId: string, message: string): Promise<string> {
  const params = { threadId, server: "files", tool: "echo", arguments: { message } };
  const { content } = await client.call("mcpServer/tool/call", params);
  return content[0].text;
}

it("[MCPAUTH-1] logs in, notifies all clients of the outcome, and connects the server of loaded threads", async () => {
  const host = await spawnHost({ home: await stage.home(), args: ["--listen", "ws://127.0.0.1:0"] });
  const client = await host.join();
  const other = await host.join();
  const threadId = await client.startThread();
  await client.until(() => client.told(STATUS).some(({ params }) => params.status === "failed"), "it failed");
  expect(client.told(STATUS).at(-1)!.params).toEqual({
    threadId,
    name: "files",
    status: "failed",
    failureReason: "reauthenticationRequired",
    error: "Log in with: bobbin mcp login files",
  });
  expect(await listed(client)).toMatchObject({
    authStatus: "notLoggedIn",
    runtimeStatus: "authenticationRequired",
    toolsError: expect.stringContaining("bobbin mcp login files"),
    tools: {},
  });
  const { authorizationUrl, loginId, ...rest } = await client.call(LOGIN, { name: "files", threadId });
  expect(rest).toEqual({});
  expect(new URL(authorizationUrl).origin).toBe(stage.authorization.issuer);
  expect((await browse(authorizationUrl)).text).toContain("You are logged in to files.");
  const end = { name: "files", threadId, loginId, success: true };
  expect(await completed(client, loginId)).toEqual(end);
  expect(await completed(other, loginId)).toEqual(end);
  await client.until(() => client.told(STATUS).at(-1)!.params.status === "ready", "it is ready");
  const { authStatus, tools, runtimeStatus } = await listed(client);
  expect({ authStatus, runtimeStatus }).toEqual({ authStatus: "oAuth", runtimeStatus: "connected" });
  expect(Object.keys(tools)).toContain("echo");
  expect(await echo(client, threadId, "in")).toBe("Echo: in");
});

it("[MCPAUTH-2] refreshes a token before it expires, once for two hosts on one home", async () => {
  const home = await stage.home();
  const one = await stdioHost({ home });
  const other = await stdioHost({ home });
  await logIn(one.client);
  const before = await storedLogin(home);
  const threads = [await one.client.startThread(), await other.client.startThread()] as const;
  for (const [client, threadId] of [
    [one.client, threads[0]],
    [other.client, threads[1]],
  ] as const)
    expect(await echo(client, threadId, "before")).toBe("Echo: before");
  await ageLogin(home, 3590 * 1000);
  const said = await Promise.all([
    echo(one.client, threads[0], "here"),
    echo(one.client, threads[0], "here, too"),
    echo(other.client, threads[1], "there"),
  ]);
  expect(said).toEqual(["Echo: here", "Echo: here, too", "Echo: there"]);
  expect(stage.authorization.given.refresh_token).toBe(1);
  const after = await storedLogin(home);
  expect(after.accessToken).not.toBe(before.accessToken);
  expect(after.refreshToken).not.toBe(before.refreshToken);
});

it("[MCPAUTH-2] retries with a new token after one was refused", async () => {
  const home = await stage.home();
  const { client } = await stdioHost({ home });
  await logIn(client);
  await stage.authorization.revokeToken((await storedLogin(home)).accessToken);
  expect(await listed(client)).toMatchObject({ authStatus: "oAuth", runtimeStatus: "connected" });
  expect(stage.authorization.given.refresh_token).toBe(1);
});

it("[MCPAUTH-2] refreshes a token after a host that was about to is killed", async () => {
  const home = await stage.home();
  const one = await stdioHost({ home });
  const other = await stdioHost({ home });
  await logIn(one.client);
  const threadId = await other.client.startThread();
  await ageLogin(home, 3590 * 1000);
  // The request arrives, and is never answered.
  const asked = new Promise<void>((resolve) => {
    stage.authorization.beforeToken = () => {
      stage.authorization.beforeToken = async () => {};
      resolve();
      return new Promise(() => {});
    };
  });
  one.client.send({ id: "lost", method: "mcpServerStatus/list", params: {} });
  await asked;
  const waiting = echo(other.client, threadId, "on");
  await one.host.kill();
  expect(await waiting).toBe("Echo: on");
  expect(stage.authorization.given.refresh_token).toBe(1);
});

it("[MCPAUTH-2] says that a token could not be refreshed, and keeps the login", async () => {
  const home = await stage.home();
  const { client } = await stdioHost({ home });
  await logIn(client);
  const threadId = await client.startThread();
  expect(await echo(client, threadId, "in")).toBe("Echo: in");
  await ageLogin(home, 3601 * 1000);
  stage.authorization.isFailing = true;
  const call = { threadId, server: "files", tool: "echo", arguments: { message: "x" } };
  const { message } = await client.refusal("mcpServer/tool/call", call);
  expect(message).toContain("The login cannot be refreshed: the server failed");
  expect(message).not.toContain("cannot be reached");
  stage.authorization.isFailing = false;
  expect(await echo(client, threadId, "in")).toBe("Echo: in");
});

it("[MCPAUTH-3] says that a login was revoked, and what to do", async () => {
  const home = await stage.home();
  const { client } = await stdioHost({ home });
  await logIn(client);
  const threadId = await client.startThread();
  await client.until(
    () => client.told(STATUS).some(({ params }) => params.status === "ready"),
    "it is ready",
  );
  expect(await echo(client, threadId, "in")).toBe("Echo: in");
  await stage.authorization.revokeGrant((await storedLogin(home)).accessToken);
  const call = { threadId, server: "files", tool: "echo", arguments: { message: "out" } };
  expect((await client.refusal("mcpServer/tool/call", call)).message).toContain("bobbin mcp login files");
  expect(await listed(client)).toMatchObject({
    authStatus: "notLoggedIn",
    runtimeStatus: "authenticationRequired",
    toolsError: expect.stringContaining("bobbin mcp login files"),
  });
  await client.until(
    () => client.told(STATUS).some(({ params }) => params.failureReason === "reauthenticationRequired"),
    "its threads hear of it",
  );
  expect((await storedLogin(home)).kind).toBe("ended");
  await logIn(client);
  await client.until(() => client.told(STATUS).at(-1)!.params.status === "ready", "it is ready again");
  expect(client.told(STATUS).at(-1)!.params.threadId).toBe(threadId);
  expect(await echo(client, threadId, "in again")).toBe("Echo: in again");
});

it("[MCPAUTH-4] ignores a wrong state, and ends with the reason of a login that was denied", async () => {
  const { client } = await stdioHost({ home: await stage.home() });
  const first = await client.call(LOGIN, { name: "files" });
  const redirect = new URL(first.authorizationUrl).searchParams.get("redirect_uri")!;
  expect((await browse(`${redirect}?code=stolen&state=wrong`)).status).toBe(400);
  expect(client.told(COMPLETED)).toEqual([]);
  stage.authorization.person = "denies";
  expect((await browse(first.authorizationUrl)).status).toBe(400);
  expect(await completed(client, first.loginId)).toEqual({
    name: "files",
    threadId: null,
    loginId: first.loginId,
    success: false,
    error: "The login was denied: The person said no.",
  });
  expect(stage.authorization.given.authorization_code).toBe(0);
  expect((await listed(client)).authStatus).toBe("notLoggedIn");
});

it("[MCPAUTH-4] keeps two logins at once apart", async () => {
  const home = await stage.home();
  const { client } = await stdioHost({ home });
  const [one, other] = await Promise.all([
    client.call(LOGIN, { name: "files" }),
    client.call(LOGIN, { name: "files", scopes: ["files"], clientRegistration: "dcr" }),
  ]);
  expect(one.loginId).not.toBe(other.loginId);
  await Promise.all([browse(other.authorizationUrl), browse(one.authorizationUrl)]);
  for (const { loginId } of [one, other])
    expect(await completed(client, loginId)).toMatchObject({ success: true });
  expect(client.told(COMPLETED)).toHaveLength(2);
  const { accessToken } = await storedLogin(home);
  expect(await stage.authorization.accepts(accessToken, stage.server.url)).toBe(true);
});

it("[MCPAUTH-4] ends a login when its time is over, and when the host ends", async () => {
  const host = await spawnHost({ home: await stage.home(), args: ["--listen", "ws://127.0.0.1:0"] });
  const client = await host.join();
  const short = await client.call(LOGIN, { name: "files", timeoutSecs: 1 });
  expect(await completed(client, short.loginId)).toMatchObject({
    success: false,
    error: "Nobody logged in to files within 1 s.",
  });
  const { loginId, authorizationUrl } = await client.call(LOGIN, { name: "files" });
  const back = await browseUntil(authorizationUrl, ({ pathname }) => pathname.startsWith("/callback/"));
  host.signal("SIGTERM");
  expect(await completed(client, loginId)).toMatchObject({
    success: false,
    error: "The login to files was cancelled.",
  });
  expect((await host.exited).code).toBe(0);
  await expect(fetch(back)).rejects.toThrow();
});

it("[MCPAUTH-5] stores secrets in one file that only the user can read, and nowhere else", async () => {
  const wiki = '[mcp_servers.wiki]\nurl = "http://127.0.0.1:1/mcp"\nbearer_token_env_var = "WIKI_WORD"';
  const header = 'env_http_headers = { "X-Door" = "DOOR_WORD" }';
  const home = await stage.home(wiki, header, mcpServer("own", MCP_PROGRAM));
  const env = { LOG_LEVEL: "debug", WIKI_WORD: "planted-wiki", DOOR_WORD: "planted-door" };
  const { client, host } = await stdioHost({ home, env });
  const { authorizationUrl, loginId } = await client.call(LOGIN, { name: "files" });
  const back = await browseUntil(authorizationUrl, ({ pathname }) => pathname.startsWith("/callback/"));
  await browse(back);
  expect(await completed(client, loginId)).toMatchObject({ success: true });
  const first = await storedLogin(home);
  await ageLogin(home, 3590 * 1000);
  const threadId = await client.startThread();
  await client.turnCompleted(await client.say(threadId, "Hello!"));
  await listed(client);
  const config = await client.call("config/read", { includeLayers: true });
  const environment = await client.call("command/exec", { command: ["env"] });
  expect(environment.stdout).toContain("LOG_LEVEL=debug");
  await stage.authorization.revokeGrant((await storedLogin(home)).accessToken);
  const last = await storedLogin(home);
  await listed(client);
  await client.call("thread/unload", { threadId });
  const code = new URL(back).searchParams.get("code")!;
  const secrets = [code, first.accessToken, first.refreshToken, last.accessToken, last.refreshToken];
  expect(new Set(secrets).size).toBe(5);
  secrets.push("planted-wiki", "planted-door");
  const said = `${host.stderr}${client.frames.map(({ text }) => text).join("\n")}`;
  for (const secret of secrets) {
    expect(said).not.toContain(secret);
    expect(JSON.stringify([config, environment])).not.toContain(secret);
    // The login is over by now, so it is not even there.
    expect(await tracesOf(home, secret)).toEqual([]);
  }
  const folder = join(home, "credentials");
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  for (const name of (await readdir(folder)).filter((one) => !one.endsWith(".lock")))
    expect((await stat(join(folder, name))).mode & 0o777).toBe(0o600);
  expect((await filesBelow(home)).length).toBeGreaterThan(3);
});

it("[MCPAUTH-6] refuses a login to a server without a URL", async () => {
  const { client } = await stdioHost({ home: await stage.home(mcpServer("own", MCP_PROGRAM)) });
  expect(await client.refusal(LOGIN, { name: "nobody" })).toMatchObject({
    code: -32600,
    message: "No MCP server named 'nobody' found.",
    data: { code: "mcpLoginServerNotFound" },
  });
  expect(await client.refusal(LOGIN, { name: "own" })).toMatchObject({
    code: -32600,
    message: "OAuth login is only supported for streamable HTTP servers.",
    data: { code: "mcpLoginUnsupported" },
  });
  expect(await client.refusal(LOGIN, { name: "files", clientRegistration: "cimd" })).toMatchObject({
    code: -32603,
    message: expect.stringMatching(/^failed to login to MCP server 'files': Bobbin has no client metadata/),
    data: { code: "mcpLoginFailed" },
  });
});

it("[MCPAUTH-6] lets a subject log in to servers of its own threads, with the grant, and for itself alone", async () => {
  const home = await stage.home(
    '[subjects.ann]\nmcp_servers = ["files"]\nallow = ["mcp-servers"]',
    "[subjects.bob]",
  );
  await writeFile(join(home, "key"), KEY);
  const auth = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", join(home, "key")];
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0", "--stdio", ...auth] });
  const user = host.stdio();
  const ann = await host.connect(undefined, signedBearer("ann"));
  const bob = await host.connect(undefined, signedBearer("bob"));
  for (const client of [user, ann, bob]) await client.initialize();
  expect(await bob.refusal(LOGIN, { name: "files" })).toMatchObject({ data: { code: "notGranted" } });
  expect(await ann.refusal(LOGIN, { name: "files" })).toMatchObject({ data: { code: "notPermitted" } });
  const own = { mcp_servers: { mine: { url: stage.server.url } } };
  const threadId = await ann.startThread({ config: own });
  const { authorizationUrl, loginId } = await ann.call(LOGIN, { name: "mine", threadId });
  expect((await browse(authorizationUrl)).status).toBe(200);
  expect(await completed(ann, loginId)).toMatchObject({ success: true, threadId });
  expect(await completed(user, loginId)).toMatchObject({ success: true, threadId });
  // Behind this reply it would have come.
  await bob.call("thread/list", {});
  expect(bob.told(COMPLETED)).toEqual([]);
  const statuses = async (client: WireClient, params: object) => {
    const { data } = await client.call("mcpServerStatus/list", params);
    return Object.fromEntries(data.map(({ name, authStatus }: Record<string, string>) => [name, authStatus]));
  };
  expect(await statuses(ann, { threadId })).toEqual({ files: "notLoggedIn", mine: "oAuth" });
  // The same server, as the host's own user brings it along.
  const elsewhere = await user.startThread({ config: own });
  expect(await statuses(user, { threadId: elsewhere })).toEqual({
    files: "notLoggedIn",
    mine: "notLoggedIn",
  });
});
