// Keys of model providers: how they are stored, who gets them, and where they never show up.
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { filesBelow, freshFolder, tracesOf } from "../support/folder.ts";
import { spawnHost, stdioHost } from "../support/host-process.ts";
import { MockModel, refuse } from "../support/mock-model.ts";
import { say } from "../support/model-replies.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import { KEY, signedBearer } from "../support/signed-token.ts";
import { unzipped } from "../support/unzipped.ts";

const LOGIN = "account/login/start";
const API_KEY = "planted-account-key-0001";
const OWN_KEY = "planted-provider-key-0002";
const MODE = 0o777;

/** A home whose threads ask a mock model, which stands in for OpenAI, or for a provider of its own. */
async function homeFor(model: MockModel, ...more: readonly string[]): Promise<string> {
  const home = await freshFolder();
  const config = [
    'model_provider = "openai"',
    'model = "gpt-5.5"',
    "[model_providers.openai]",
    `base_url = "${model.url}"`,
    "[model_providers.own]",
    'name = "Own"',
    `base_url = "${model.url}"`,
    ...more,
  ];
  await writeFile(join(home, "config.toml"), config.join("\n"));
  return home;
}

const env = { OPENAI_API_KEY: "", LOG_LEVEL: "debug" };

function bobbin(home: string, args: readonly string[], input?: string) {
  return runBobbin(args, { env: { ...env, BOBBIN_HOME: home }, ...(input !== undefined && { input }) });
}

describe("account/login/start with an API key", () => {
  it("[ACCT-1] replies, then notifies every connection, and account/read shows it until the logout", async () => {
    const home = await homeFor(await MockModel.start(say("Hi")));
    const host = await spawnHost({ home, env, args: ["--listen", "ws://127.0.0.1:0", "--stdio"] });
    const client = host.stdio();
    await client.initialize();
    const other = await host.join();
    expect(await client.call("account/read", {})).toMatchObject({ account: null, requiresOpenaiAuth: true });
    expect(await client.call("getAuthStatus", {})).toEqual({
      authMethod: null,
      authToken: null,
      requiresOpenaiAuth: true,
    });
    expect(await client.call(LOGIN, { type: "apiKey", apiKey: ` ${API_KEY}\n` })).toEqual({ type: "apiKey" });
    const completed = { loginId: null, success: true, error: null, onboardingEntrypoint: null };
    const updated = { authMode: "apikey", planType: null };
    for (const one of [client, other]) {
      const { params } = await one.waitFor(({ method }) => method === "account/updated", "account/updated");
      expect(params).toEqual(updated);
      expect(one.told("account/login/completed").map((told) => told.params)).toEqual([completed]);
      const account = await one.call("account/read", { refreshToken: true });
      expect(account).toMatchObject({ account: { type: "apiKey" }, requiresOpenaiAuth: true });
    }
    const methods = client.frames.map(({ method }) => method ?? "reply").slice(3, 6);
    expect(methods).toEqual(["reply", "account/login/completed", "account/updated"]);
    expect(await client.call("account/securitySetup/read")).toEqual({ notice: null });
    expect(await client.call("getAuthStatus", { includeToken: true })).toEqual({
      authMethod: "apikey",
      authToken: API_KEY,
      requiresOpenaiAuth: true,
    });
    expect(await client.call("getAuthStatus", {})).toMatchObject({ authToken: null });

    expect(await client.call("account/logout")).toEqual({});
    await other.waitFor(
      ({ method, params }) => method === "account/updated" && params.authMode === null,
      "the logout",
    );
    expect(await client.call("account/read", {})).toMatchObject({ account: null, requiresOpenaiAuth: true });
    expect(await tracesOf(home, API_KEY)).toEqual([]);
  });

  it("[ACCT-1] refuses an invalid key, a disabled login method, and an unsupported one", async () => {
    const home = await homeFor(await MockModel.start(say("Hi")));
    const { client } = await stdioHost({ home, env, args: ["-c", "forced_login_method=chatgpt"] });
    expect(await client.refusal(LOGIN, { type: "apiKey", apiKey: API_KEY })).toMatchObject({
      code: -32600,
      message: "API key login is disabled. Use ChatGPT login instead.",
      data: { code: "apiKeyLoginDisabled" },
    });
    const bedrock = { type: "amazonBedrock", apiKey: API_KEY, region: "us-east-1" };
    expect(await client.refusal(LOGIN, bedrock)).toMatchObject({ data: { code: "loginUnsupported" } });
    const { client: free } = await stdioHost({ home, env });
    for (const apiKey of ["", " ", "two words", "ké", "x".repeat(9000)])
      expect(await free.refusal(LOGIN, { type: "apiKey", apiKey })).toMatchObject({
        data: { code: "invalidParams" },
      });
    expect(await free.call("account/read", {})).toMatchObject({ account: null });
  });

  it("[ACCT-1] is not required if the environment has a key, nor if the provider needs none", async () => {
    const home = await homeFor(await MockModel.start(say("Hi")));
    const needed = async (args: readonly string[], more: Record<string, string> = {}) => {
      const { client } = await stdioHost({ home, env: { ...env, ...more }, args });
      return (await client.call("account/read", {})).requiresOpenaiAuth;
    };
    expect(await needed([], { OPENAI_API_KEY: "from-the-environment" })).toBe(false);
    expect(await needed(["-c", "model_provider=own"])).toBe(false);
  });
});

describe("a stored key", () => {
  it("[ACCT-2] is used by hosts that run, for the account and for each provider", async () => {
    const model = await MockModel.start(say("Hi"));
    const home = await homeFor(model);
    const { client } = await stdioHost({ home, env });
    const ask = async (modelProvider: string) => {
      const turnId = await client.turn(await client.startThread({ modelProvider }), "Hello");
      const { turn } = (await client.turnCompleted(turnId)).params;
      return { turn, sent: model.asked.at(-1)?.headers.authorization };
    };
    const { turn } = await ask("openai");
    expect(turn).toMatchObject({ status: "failed", error: { codexErrorInfo: "unauthorized" } });
    expect(turn.error.message).toContain("bobbin login --with-api-key");
    expect(model.asked).toEqual([]);
    expect((await ask("own")).sent).toBeUndefined();

    await bobbin(home, ["login", "--with-api-key", "--provider", "own"], OWN_KEY);
    await client.call(LOGIN, { type: "apiKey", apiKey: API_KEY });
    expect((await ask("openai")).sent).toBe(`Bearer ${API_KEY}`);
    expect((await ask("own")).sent).toBe(`Bearer ${OWN_KEY}`);
    await bobbin(home, ["logout", "--provider", "own"]);
    expect((await ask("own")).sent).toBeUndefined();
  });

  it("[ACCT-2] has less precedence than the variable of env_key, and more than the account's default variable", async () => {
    const model = await MockModel.start(say("Hi"));
    const home = await homeFor(model, 'env_key = "OWN_VARIABLE"');
    await bobbin(home, ["login", "--with-api-key"], API_KEY);
    await bobbin(home, ["login", "--with-api-key", "--provider", "own"], OWN_KEY);
    const sent = async (modelProvider: string, more: Record<string, string>) => {
      const { client } = await stdioHost({ home, env: { ...env, ...more } });
      await client.turn(await client.startThread({ modelProvider }), "Hello");
      return model.asked.at(-1)?.headers.authorization;
    };
    const both = { OPENAI_API_KEY: "usual-variable", OWN_VARIABLE: "named-variable" };
    expect(await sent("openai", both)).toBe(`Bearer ${API_KEY}`);
    expect(await sent("own", both)).toBe("Bearer named-variable");
    expect(await sent("own", {})).toBe(`Bearer ${OWN_KEY}`);
  });

  it("[ACCT-3] is in one file that only the user can read, and nowhere else, even if a provider repeats it", async () => {
    const complaint = (key: string) => ({ error: { message: `Incorrect API key provided: ${key}.` } });
    const model = await MockModel.start(refuse(401, complaint(API_KEY)));
    const home = await homeFor(model);
    const host = await spawnHost({ home, env, args: ["--listen", "ws://127.0.0.1:0", "--stdio"] });
    const client = host.stdio();
    await client.initialize({ experimentalApi: true });
    await client.call(LOGIN, { type: "apiKey", apiKey: API_KEY });
    await bobbin(home, ["login", "--with-api-key", "--provider", "own"], OWN_KEY);
    const threadId = await client.startThread();
    await client.turn(threadId, "Hello");
    model.reply(refuse(400, complaint(OWN_KEY)));
    const other = await client.startThread({ modelProvider: "own" });
    await client.turn(other, "Hello");
    const messages = client.told("turn/completed").map(({ params }) => params.turn.error.message);
    for (const message of messages) expect(message).toContain("Incorrect API key provided: [redacted]");
    await client.call("config/read", { includeLayers: true });
    await client.call("server/diagnostics");
    const savePath = join(await freshFolder("report"), "report.zip");
    await client.call("feedback/save", {
      classification: "bug",
      reason: `${API_KEY} ${OWN_KEY}`,
      threadId,
      includeLogs: true,
      savePath,
    });
    const report = [...unzipped(await readFile(savePath)).values()].join("\n");
    const metrics = await (await fetch(`${await host.site()}/metrics`)).text();
    const whoami = await bobbin(home, ["whoami"]);
    const said = [host.stderr, ...client.frames.map(({ text }) => text), report, metrics, whoami.stdout];
    for (const secret of [API_KEY, OWN_KEY]) {
      expect(said.join("\n")).not.toContain(secret);
      const [file, ...others] = await tracesOf(home, secret);
      expect(others).toEqual([]);
      expect(file).toMatch(/^credentials\/[0-9a-f]+\.json$/);
      expect((await stat(join(home, file!))).mode & MODE).toBe(0o600);
    }
    expect((await filesBelow(home)).length).toBeGreaterThan(3);
  });
});

describe("bobbin login", () => {
  it("[ACCT-4] stores keys from stdin, whoami names where each comes from, and logout forgets them", async () => {
    const home = await homeFor(await MockModel.start(say("Hi")));
    const none = await bobbin(home, ["whoami"]);
    expect(none).toMatchObject({ code: 1, stderr: "" });
    expect(none.stdout).toMatch(
      /^Model {4}gpt-5\.5 \(openai\)\nAccount {2}not logged in\nStored {3}in files .*\n\n.*OPENAI_API_KEY/,
    );
    expect(await bobbin(home, ["login", "--with-api-key"], `${API_KEY}\n`)).toEqual({
      code: 0,
      stdout: "Stored the key for OpenAI.\n",
      stderr: "",
    });
    const mine = await bobbin(home, ["whoami", "--json"]);
    expect(mine.code).toBe(0);
    const shown = JSON.parse(mine.stdout);
    expect(shown).toMatchObject({ modelProvider: "openai", account: { type: "apiKey" } });
    expect(shown.providers).toContainEqual({ id: "openai", key: "stored" });
    expect(shown.providers).toContainEqual({ id: "own", key: null });
    expect((await bobbin(home, ["whoami"])).stdout).toContain("openai: stored by bobbin login");
    expect((await bobbin(home, ["logout"])).stdout).toBe("Logged out of OpenAI.\n");
    expect((await bobbin(home, ["logout"])).stdout).toBe("Nothing was stored for OpenAI.\n");
    expect((await bobbin(home, ["whoami"])).code).toBe(1);
  });

  it("[ACCT-4] names a stored key that cannot be read, without a stack trace", async () => {
    const home = await homeFor(await MockModel.start(say("Hi")));
    expect((await bobbin(home, ["login", "--with-api-key"], API_KEY)).code).toBe(0);
    const [key] = (await filesBelow(home)).filter((file) => /^credentials.*\.json$/.test(file));
    await rm(join(home, key!));
    await mkdir(join(home, key!));
    for (const command of ["whoami", "logout"])
      expect(await bobbin(home, [command])).toEqual({
        code: 1,
        stdout: "",
        stderr: `bobbin: EISDIR: illegal operation on a folder, open '${join(home, key!)}'\n`,
      });
  });

  it("[ACCT-4] refuses an unknown provider, an empty key and a key with spaces, and says why", async () => {
    const home = await homeFor(await MockModel.start(say("Hi")));
    const login = (input: string, ...args: readonly string[]) =>
      bobbin(home, ["login", "--with-api-key", ...args], input);
    expect(await login(API_KEY, "--provider", "nobody")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^bobbin: No model provider named 'nobody'\. There are: openai, /),
    });
    expect(await login("\n")).toMatchObject({
      code: 1,
      stderr: "bobbin: The key was not stored: it is empty.\n",
    });
    expect((await login("a key")).stderr).toMatch(/has a space/);
    const file = join(home, "config.toml");
    expect(await bobbin(file, ["login", "--with-api-key"], API_KEY)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^bobbin: The key was not stored: .*\. Is \S+ a folder that you can write to\?\n$/,
      ),
    });
    await mkdir(join(home, "credentials"), { recursive: true });
    expect(await filesBelow(join(home, "credentials"))).toEqual([]);
  });
});

it("[ACCT-5] shows a subject no account, and lets none log in or out", async () => {
  const home = await homeFor(await MockModel.start(say("Hi")), "[subjects.ann]");
  await bobbin(home, ["login", "--with-api-key"], API_KEY);
  await writeFile(join(home, "key"), KEY);
  const auth = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", join(home, "key")];
  const host = await spawnHost({ home, env, args: ["--listen", "ws://127.0.0.1:0", "--stdio", ...auth] });
  const user = host.stdio();
  const ann = await host.connect(undefined, signedBearer("ann"));
  for (const client of [user, ann]) await client.initialize();
  expect(await ann.call("account/read", {})).toMatchObject({ account: null, requiresOpenaiAuth: false });
  const refused = { data: { code: "notPermitted" } };
  expect(await ann.refusal(LOGIN, { type: "apiKey", apiKey: OWN_KEY })).toMatchObject(refused);
  expect(await ann.refusal("account/logout")).toMatchObject(refused);
  expect(await ann.refusal("getAuthStatus", { includeToken: true })).toMatchObject(refused);
  await user.call("account/logout");
  // Behind this reply it would have come.
  await ann.call("thread/list", {});
  expect(ann.count("account/updated")).toBe(0);
  expect(user.count("account/updated")).toBe(1);
});
