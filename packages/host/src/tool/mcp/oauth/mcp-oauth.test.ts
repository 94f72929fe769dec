import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventually } from "../../../../../../test/support/eventually.ts";
import { freshFolder } from "../../../../../../test/support/folder.ts";
import { AuthorizationServer } from "../../../../../../test/support/oauth/authorization-server.ts";
import { browse, browseUntil } from "../../../../../../test/support/oauth/browser.ts";
import { GuardedServer } from "../../../../../../test/support/oauth/guarded-server.ts";
import { httpServer } from "../../../../../../test/support/oauth/http-server.ts";
import type { CredentialStore } from "../../../credentials/credential-store.ts";
import { openCredentials } from "../../../credentials/open-credentials.ts";
import { nodePlatform } from "../../../platform/node.ts";
import { CredentialFiles } from "../../../store/files/credential-files.ts";
import type { McpServerSettings } from "../mcp-server-settings.ts";
import { loginTarget } from "./login-target.ts";
import { McpOAuth } from "./mcp-oauth.ts";

const AUTO = { scopes: null, registration: "auto" } as const;
const platform = nodePlatform();

let authorization: AuthorizationServer;
let server: GuardedServer;
let home: string;
let store: CredentialStore;
let oauth: McpOAuth;
const opened: McpOAuth[] = [];

beforeAll(async () => {
  authorization = await AuthorizationServer.start();
  server = await GuardedServer.start(authorization);
});
afterAll(async () => {
  await server.close();
  await authorization.close();
});
beforeEach(async () => {
  home = await freshFolder();
  store = openCredentials({
    home,
    platform,
    texts: new CredentialFiles(home, platform),
    settings: () => ({ account: "file", mcp: "file" }),
  }).mcp;
  oauth = open();
  Object.assign(authorization, { person: "agrees", isFailing: false, beforeToken: async () => {} });
  Object.assign(authorization.given, { authorization_code: 0, refresh_token: 0 });
  Object.assign(server, { challenges: true, describes: true });
});
afterEach(async () => {
  for (const one of opened.splice(0)) await one.close();
});

/** Another host on the same home. */
function open(): McpOAuth {
  const made = new McpOAuth({ platform, store });
  opened.push(made);
  return made;
}

const settings = (more: Parameters<typeof httpServer>[2] = {}) => httpServer("files", server.url, more);

async function logIn(of = oauth, given = settings()): Promise<string> {
  const { authorizationUrl, done } = await of.login(given, "local", AUTO);
  const { status, text } = await browse(authorizationUrl);
  expect(text).toContain("You are logged in to files.");
  expect(status).toBe(200);
  await done;
  return (await of.token(given, "local"))!;
}

/** Moves the login into the past by this time. */
async function age(ms: number): Promise<void> {
  const { key } = loginTarget(settings(), "local", {})!;
  const login = JSON.parse((await store.get(key))!);
  await store.set(
    key,
    JSON.stringify({ ...login, expiresAt: login.expiresAt - ms, obtainedAt: login.obtainedAt - ms }),
  );
}

const isAccepted = (token: string | undefined) => authorization.accepts(token ?? "", server.url);

describe("a login to an MCP server", () => {
  it("is found, registered, asked for with PKCE, state and resource, and stored for its user alone", async () => {
    expect(await oauth.status(settings(), "local")).toBe("notLoggedIn");
    const { authorizationUrl, done } = await oauth.login(settings(), "local", AUTO);
    const asked = new URL(authorizationUrl).searchParams;
    expect(Object.fromEntries(asked)).toMatchObject({
      response_type: "code",
      code_challenge_method: "S256",
      resource: server.url,
      scope: "files offline_access",
    });
    expect(asked.get("state")!.length).toBeGreaterThan(24);
    expect(asked.get("redirect_uri")).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback\/[\w-]{12}$/);
    expect(await oauth.token(settings(), "local")).toBeUndefined();
    await browse(authorizationUrl);
    await done;
    expect(await isAccepted(await oauth.token(settings(), "local"))).toBe(true);
    expect(await oauth.status(settings(), "local")).toBe("oAuth");
    const [file, ...others] = (await readdir(join(home, "credentials"))).filter((name) =>
      name.endsWith(".json"),
    );
    expect(others).toEqual([]);
    expect((await stat(join(home, "credentials", file!))).mode & 0o777).toBe(0o600);
  });

  it("works without a challenge, by the metadata's usual place", async () => {
    server.challenges = false;
    expect(await isAccepted(await logIn())).toBe(true);
  });

  it("goes on waiting when somebody comes with another state, and takes the right one then", async () => {
    const { authorizationUrl, done } = await oauth.login(settings(), "local", AUTO);
    const redirect = new URL(authorizationUrl).searchParams.get("redirect_uri")!;
    for (const query of ["code=stolen&state=wrong", "code=stolen", "error=access_denied&state=wrong", ""]) {
      const wrong = await browse(`${redirect}?${query}`);
      expect(wrong.status).toBe(400);
      expect(wrong.text).toContain("No login waits for this");
    }
    expect(authorization.given.authorization_code).toBe(0);
    expect((await browse(authorizationUrl)).status).toBe(200);
    await done;
  });

  it("fails when the person denies it", async () => {
    authorization.person = "denies";
    const { authorizationUrl, done } = await oauth.login(settings(), "local", AUTO);
    const denied = expect(done).rejects.toMatchObject({
      kind: "denied",
      message: "The login was denied: The person said no.",
    });
    expect((await browse(authorizationUrl)).text).toContain("The login was denied: The person said no.");
    await denied;
    expect(await oauth.status(settings(), "local")).toBe("notLoggedIn");
  });

  it("fails when a code is not the authorization server's", async () => {
    const { authorizationUrl, done } = await oauth.login(settings(), "local", AUTO);
    const asked = new URL(authorizationUrl).searchParams;
    const iss = encodeURIComponent(authorization.issuer);
    const refused = expect(done).rejects.toMatchObject({ kind: "refused" });
    const page = await browse(
      `${asked.get("redirect_uri")}?code=made-up&state=${asked.get("state")}&iss=${iss}`,
    );
    await refused;
    expect(page.status).toBe(400);
    expect(page.text).toContain("The authorization server refused the login: invalid_grant");
    expect(page.text).not.toContain("made-up");
  });

  it("fails when the browser comes back from another authorization server", async () => {
    const { authorizationUrl, done } = await oauth.login(settings(), "local", AUTO);
    const back = await browseUntil(authorizationUrl, ({ pathname }) => pathname.startsWith("/callback/"));
    const refused = expect(done).rejects.toThrow("The browser came back from another authorization server.");
    await browse(back.replace(/iss=[^&]+/, "iss=https%3A%2F%2Felsewhere.example"));
    await refused;
    expect(authorization.given.authorization_code).toBe(0);
  });

  it("takes the browser's address from a person, once", async () => {
    const login = await oauth.login(settings(), "local", AUTO);
    const back = await browseUntil(login.authorizationUrl, ({ pathname }) =>
      pathname.startsWith("/callback/"),
    );
    expect(await login.paste("http://127.0.0.1/callback?code=x&state=y")).toMatchObject({ ok: false });
    expect(await login.paste(back)).toMatchObject({ ok: true });
    await login.done;
    expect(await oauth.status(settings(), "local")).toBe("oAuth");
  });

  it("can be begun twice at once, also on one configured port: each has its own end, and the last one counts", async () => {
    const port = Number(new URL((await begin()).redirect).port);
    const fixed = settings({ oauth: { clientId: null, clientSecret: null, callbackPort: port } });
    await oauth.close();
    oauth = open();
    const [one, other] = [await begin(fixed), await begin(fixed)];
    expect(one.redirect).toBe(other.redirect);
    expect((await browse(other.url)).status).toBe(200);
    await other.done;
    const before = await oauth.token(fixed, "local");
    expect((await browse(one.url)).status).toBe(200);
    await one.done;
    const after = await oauth.token(fixed, "local");
    expect(after).not.toBe(before);
    expect(await isAccepted(after)).toBe(true);
    // The port is free again.
    await expect(begin(fixed)).resolves.toBeDefined();
  });

  it("says which port is taken", async () => {
    const { redirect } = await begin();
    const port = Number(new URL(redirect).port);
    await expect(
      begin(settings({ oauth: { clientId: null, clientSecret: null, callbackPort: port } })),
    ).rejects.toMatchObject({
      kind: "misconfigured",
      message: `Cannot listen on port ${port} (oauth.callback_port): another program uses it; is another login under way?`,
    });
  });

  it("ends when its time is over, and with the host", async () => {
    const timers = new Map<number, () => void>();
    const after = (ms: number, run: () => void) => {
      timers.set(ms, run);
      return () => void timers.delete(ms);
    };
    const timed = new McpOAuth({ platform: { ...platform, timers: { ...platform.timers, after } }, store });
    const { done } = await timed.login(settings(), "local", { ...AUTO, timeoutMs: 90_000 });
    const over = expect(done).rejects.toMatchObject({
      kind: "timedOut",
      message: "Nobody logged in to files within 90 s.",
    });
    timers.get(90_000)!();
    await over;
    expect([...timers]).toEqual([]);
    const waits = await begin();
    const cancelled = expect(waits.done).rejects.toMatchObject({ kind: "cancelled" });
    await oauth.close();
    await cancelled;
    await expect(fetch(waits.redirect)).rejects.toThrow();
    await expect(begin()).rejects.toMatchObject({ kind: "cancelled" });
  });

  it("is refused where too many wait already", async () => {
    const waiting = await Promise.all(Array.from({ length: 50 }, () => begin()));
    await expect(begin()).rejects.toMatchObject({ kind: "refused" });
    await browse(waiting[7]!.url);
    await waiting[7]!.done;
    await expect(begin()).resolves.toBeDefined();
  });

  it("fails with words when it cannot be stored", async () => {
    const full = new McpOAuth({
      platform,
      store: {
        get: (key) => store.get(key),
        delete: (key) => store.delete(key),
        exclusively: (key, work) => store.exclusively(key, work),
        set: () => Promise.reject(Object.assign(new Error("no space"), { code: "ENOSPC" })),
      },
    });
    opened.push(full);
    const { authorizationUrl, done } = await full.login(settings(), "local", AUTO);
    const failed = expect(done).rejects.toMatchObject({ code: "ENOSPC" });
    expect((await browse(authorizationUrl)).text).toContain("The login could not be stored.");
    await failed;
  });

  it("is not for programs, nor for servers with a token of their own", async () => {
    const program: McpServerSettings = {
      ...settings(),
      transport: { kind: "stdio", command: "cat", args: [], env: {}, envVars: [], cwd: null },
    };
    expect(await oauth.status(program, "local")).toBe("unsupported");
    await expect(begin(program)).rejects.toMatchObject({ kind: "unsupported" });
    const bearer = settings({ transport: { bearerTokenEnvVar: "TOKEN" } });
    expect(await oauth.status(bearer, "local")).toBe("bearerToken");
    expect(await oauth.token(bearer, "local")).toBeUndefined();
  });
});

async function begin(given = settings()) {
  const { authorizationUrl: url, done } = await oauth.login(given, "local", AUTO);
  done.catch(() => {});
  return { url, done, redirect: new URL(url).searchParams.get("redirect_uri")! };
}

describe("the token of a login", () => {
  it("is refreshed before it expires, once for all who ask at once, also in other hosts on the home", async () => {
    const first = await logIn();
    await age(3550 * 1000);
    const hosts = [oauth, open(), open()];
    const tokens = await Promise.all([...hosts, ...hosts].map((host) => host.token(settings(), "local")));
    expect(new Set(tokens).size).toBe(1);
    expect(tokens[0]).not.toBe(first);
    expect(await isAccepted(tokens[0])).toBe(true);
    expect(authorization.given.refresh_token).toBe(1);
  });

  it("is refreshed when the server refuses it, and by one who comes late is found refreshed", async () => {
    const first = await logIn();
    await authorization.revokeToken(first);
    const other = open();
    const refused = { token: first };
    const [one, two] = await Promise.all([
      oauth.refused(settings(), "local", refused),
      other.refused(settings(), "local", refused),
    ]);
    expect(one).toBe(two);
    expect(await isAccepted(one)).toBe(true);
    expect(await other.refused(settings(), "local", refused)).toBe(one);
    expect(authorization.given.refresh_token).toBe(1);
  });

  it("is gone when the authorization server does not know the login any more", async () => {
    const first = await logIn();
    await authorization.revokeGrant(first);
    expect(await oauth.refused(settings(), "local", { token: first })).toBeUndefined();
    expect(await oauth.token(settings(), "local")).toBeUndefined();
    expect(await open().status(settings(), "local")).toBe("notLoggedIn");
    const { key } = loginTarget(settings(), "local", {})!;
    expect(await store.get(key)).not.toContain(first);
  });

  it("is not refreshed for ever for a server that refuses each", async () => {
    const first = await logIn();
    const second = await oauth.refused(settings(), "local", { token: first });
    expect(second).not.toBe(first);
    expect(await oauth.refused(settings(), "local", { token: second })).toBeUndefined();
    expect(await oauth.status(settings(), "local")).toBe("notLoggedIn");
    expect(authorization.given.refresh_token).toBe(1);
  });

  it("stays as long as it is good when the authorization server fails, which is asked again after a while", async () => {
    const first = await logIn();
    authorization.isFailing = true;
    await age(3550 * 1000);
    const asked = () => authorization.requests.filter((request) => request === "POST /token").length;
    const before = asked();
    for (let round = 0; round < 3; round++) expect(await oauth.token(settings(), "local")).toBe(first);
    expect(asked()).toBe(before + 1);
    await age(60 * 1000);
    await expect(oauth.token(settings(), "local")).rejects.toMatchObject({
      kind: "unreachable",
      message: "The login cannot be refreshed: the server failed (server_error).",
    });
    // That is no reason to log in again.
    expect(await oauth.status(settings(), "local")).toBe("oAuth");
    authorization.isFailing = false;
    expect(await isAccepted(await oauth.token(settings(), "local"))).toBe(true);
  });

  it("does not replace that of a newer login", async () => {
    const first = await logIn();
    await age(3550 * 1000);
    let refreshing!: () => void;
    const begun = new Promise<void>((resolve) => {
      authorization.beforeToken = async () => {
        authorization.beforeToken = async () => {};
        resolve();
        await new Promise<void>((go) => {
          refreshing = go;
        });
      };
    });
    const refreshed = oauth.token(settings(), "local");
    await begun;
    const again = open();
    const { authorizationUrl, done } = await again.login(settings(), "local", AUTO);
    const browsed = browse(authorizationUrl);
    await eventually(() => authorization.given.authorization_code === 2, "a second code is exchanged");
    refreshing();
    await Promise.all([refreshed, browsed, done]);
    const last = await again.token(settings(), "local");
    expect([first, await refreshed]).not.toContain(last);
    expect(await isAccepted(last)).toBe(true);
  });

  it("is stored when the host ends during its refresh", async () => {
    const first = await logIn();
    await age(3550 * 1000);
    let goOn!: () => void;
    const asked = new Promise<void>((resolve) => {
      authorization.beforeToken = () => {
        resolve();
        return new Promise<void>((go) => {
          goOn = go;
        });
      };
    });
    const refreshed = oauth.token(settings(), "local");
    await asked;
    let isClosed = false;
    const closed = oauth.close().then(() => {
      isClosed = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(isClosed).toBe(false);
    goOn();
    await closed;
    expect(await open().token(settings(), "local")).toBe(await refreshed);
    expect(await refreshed).not.toBe(first);
  });

  it("is revoked and forgotten by a logout, which other hosts see at once", async () => {
    const token = await logIn();
    const other = open();
    expect(await other.token(settings(), "local")).toBe(token);
    expect(await oauth.logout(settings(), "local")).toBe("revoked");
    expect(await other.token(settings(), "local")).toBeUndefined();
    expect(await isAccepted(token)).toBe(false);
    expect(await oauth.logout(settings(), "local")).toBe("none");
  });

  it("is for one address, one name, and for servers of threads for one owner", async () => {
    const token = await logIn();
    expect(await oauth.token(settings(), "subject:ada")).toBe(token);
    expect(await oauth.token(settings({ origin: "thread" }), "local")).toBeUndefined();
    expect(await oauth.token(settings({ name: "other" }), "local")).toBeUndefined();
    const moved = settings({ transport: { url: "http://127.0.0.1:9/mcp" } });
    expect(await oauth.token(moved, "local")).toBeUndefined();
  });
});
