// Credentials where the keyring refuses or hangs, as real programs find it.
import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { filesBelow, freshFolder, tracesOf } from "../support/folder.ts";
import { stdioHost } from "../support/host-process.ts";
import { runBobbin } from "../support/run-bobbin.ts";

const API_KEY = "planted-keyring-key-0031";
const OPENAI = 'model_provider = "openai"\nmodel = "gpt-5.5"\n';

/** Where programs look for a keyring, and find nobody. */
const NOBODY = { DBUS_SESSION_BUS_ADDRESS: "unix:path=/nonexistent/bus", BOBBIN_NO_KEYRING: "" };

async function homeWith(...lines: readonly string[]): Promise<string> {
  const home = await freshFolder();
  await writeFile(join(home, "config.toml"), `${OPENAI}${lines.join("\n")}\n`);
  return home;
}

const bobbin = (home: string, env: Readonly<Record<string, string>>, args: readonly string[], input = "") =>
  runBobbin(args, { env: { OPENAI_API_KEY: "", ...env, BOBBIN_HOME: home }, input });

/** A bus that takes connections and never says a word. */
async function silentBus(): Promise<{
  readonly env: Record<string, string>;
  readonly connected: Promise<void>;
}> {
  const path = join(await freshFolder("bus"), "bus");
  const sockets = new Set<Socket>();
  let came!: () => void;
  const connected = new Promise<void>((resolve) => (came = resolve));
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    came();
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { env: { DBUS_SESSION_BUS_ADDRESS: `unix:path=${path}`, BOBBIN_NO_KEYRING: "" }, connected };
}

describe("without a keyring", () => {
  it("[ACCT-10] [ACCT-14] a login is in a file for the user alone, survives a kill, and whoami and doctor say why", async () => {
    const home = await homeWith();
    const { host, client } = await stdioHost({ home, env: { OPENAI_API_KEY: "", ...NOBODY } });
    await client.call("account/login/start", { type: "apiKey", apiKey: API_KEY });
    const { why } = await host.logged(({ msg }) => String(msg).startsWith("the keyring is unavailable"));
    expect(why).toMatch(/^The keyring does not answer: \S/);
    await host.kill();
    const [file, ...others] = await tracesOf(home, API_KEY);
    expect(others).toEqual([]);
    expect((await stat(join(home, file!))).mode & 0o777).toBe(0o600);
    const whoami = await bobbin(home, NOBODY, ["whoami", "--json"]);
    expect(JSON.parse(whoami.stdout)).toMatchObject({
      account: { type: "apiKey" },
      credentials: { store: "file", problem: null },
    });
    expect((await bobbin(home, NOBODY, ["whoami"])).stdout).toMatch(
      /^Stored {3}in files that only their user can open, in .*; the keyring does not answer: \S/m,
    );
    const doctor = JSON.parse((await bobbin(home, NOBODY, ["doctor", "--json"])).stdout);
    const found = doctor.checks.find(({ name }: { name: string }) => name === "credentials");
    expect(found).toMatchObject({ status: "ok", found: expect.stringContaining("does not answer") });
  });

  it("[ACCT-10] [ACCT-14] a login is refused where only the keyring may have it", async () => {
    const home = await homeWith('cli_auth_credentials_store = "keyring"');
    const login = await bobbin(home, NOBODY, ["login", "--with-api-key"], API_KEY);
    expect(login).toMatchObject({ code: 1, stdout: "" });
    expect(login.stderr).toMatch(
      /^bobbin: The key was not stored: The keyring does not answer: .*cli_auth_credentials_store = "file"/,
    );
    const { client } = await stdioHost({ home, env: { OPENAI_API_KEY: "", ...NOBODY } });
    const refusal = await client.refusal("account/login/start", { type: "apiKey", apiKey: API_KEY });
    expect(refusal).toMatchObject({ data: { code: "keyringUnavailable", retryable: true } });
    expect(await client.call("account/read", {})).toMatchObject({ account: null });
    expect(await tracesOf(home, API_KEY)).toEqual([]);
    expect((await filesBelow(home)).filter((path) => /credentials\/.*json/.test(path))).toEqual([]);
    const doctor = JSON.parse((await bobbin(home, NOBODY, ["doctor", "--json"])).stdout);
    const found = doctor.checks.find(({ name }: { name: string }) => name === "credentials");
    expect(found).toMatchObject({ status: "warning", advice: expect.stringContaining('"auto"') });
  });

  it("[ACCT-12] an ephemeral login is gone with its host", async () => {
    const home = await homeWith('cli_auth_credentials_store = "ephemeral"');
    const { host, client } = await stdioHost({ home, env: { OPENAI_API_KEY: "" } });
    await client.call("account/login/start", { type: "apiKey", apiKey: API_KEY });
    expect(await client.call("account/read", {})).toMatchObject({ account: { type: "apiKey" } });
    expect(await tracesOf(home, API_KEY)).toEqual([]);
    await client.close();
    await host.exited;
    const next = await stdioHost({ home, env: { OPENAI_API_KEY: "" } });
    expect(await next.client.call("account/read", {})).toMatchObject({ account: null });
  });
});

it("[ACCT-10] [ACCT-14] a login that the keyring does not open is shown as locked, fails turns with the reason, and can be replaced", async () => {
  const home = await homeWith();
  await bobbin(home, {}, ["login", "--with-api-key"], API_KEY);
  const [file] = await tracesOf(home, API_KEY);
  // As a host sealed it that had another keyring.
  const sealed = { key: "account", item: "credentials elsewhere", sealed: "A".repeat(120) };
  await writeFile(join(home, file!), JSON.stringify(sealed));
  expect((await bobbin(home, NOBODY, ["whoami"])).stdout).toMatch(
    /^Account {2}stored, but cannot be read$[\s\S]*^The keyring does not answer: \S/m,
  );
  const { client } = await stdioHost({ home, env: { OPENAI_API_KEY: "", ...NOBODY } });
  expect(await client.call("account/read", {})).toMatchObject({ account: null });
  const turnId = await client.turn(await client.startThread(), "Hello");
  const { turn } = (await client.turnCompleted(turnId)).params;
  expect(turn).toMatchObject({ status: "failed", error: { codexErrorInfo: "unauthorized" } });
  expect(turn.error.message).toContain("The keyring does not answer");
  await client.call("account/login/start", { type: "apiKey", apiKey: API_KEY });
  expect(await client.call("account/read", {})).toMatchObject({ account: { type: "apiKey" } });
  await writeFile(join(home, file!), JSON.stringify(sealed));
  expect((await bobbin(home, NOBODY, ["logout"])).stdout).toBe("Logged out of OpenAI.\n");
  expect(await filesBelow(home)).not.toContain(file);
});

it("[ACCT-10] a keyring that never answers does not block anything", async () => {
  const home = await homeWith();
  const { env, connected } = await silentBus();
  const { host, client } = await stdioHost({ home, env: { OPENAI_API_KEY: "", ...env } });
  const login = client.request("account/login/start", { type: "apiKey", apiKey: API_KEY });
  // Unless the machine is so busy that it is given up before it has begun.
  await Promise.race([connected, login]);
  const threadId = await client.startThread({ modelProvider: "offline" });
  await client.turn(threadId, "Hello");
  expect((await login).result).toEqual({ type: "apiKey" });
  const { why } = await host.logged(({ msg }) => String(msg).startsWith("the keyring is unavailable"));
  expect(why).toContain("no answer within 3 s");
  const [file] = await tracesOf(home, API_KEY);
  expect(JSON.parse(await readFile(join(home, file!), "utf8"))).toMatchObject({ key: "account" });
});
