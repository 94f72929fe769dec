// Tokens for clients on a WebSocket, made on the command line and accepted by a host.
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { runBobbin } from "../support/run-bobbin.ts";

const token = (...args: readonly string[]) => runBobbin(["token", ...args]);
const bearer = (text: string) => ({ Authorization: `Bearer ${text.trim()}` });
const SOCKET = ["--listen", "ws://127.0.0.1:0"];

it("[ACCT-6] makes capability tokens that a host accepts by file and by digest", async () => {
  const file = join(await freshFolder(), "token");
  expect(await token("capability", "--out", file)).toMatchObject({ code: 0, stderr: "" });
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await token("capability", "--out", file)).toMatchObject({
    code: 1,
    stderr: `bobbin: ${file} exists already.\n`,
  });
  const host = await spawnHost({
    args: [...SOCKET, "--ws-auth", "capability-token", "--ws-token-file", file],
  });
  const client = await host.connect(undefined, bearer(await readFile(file, "utf8")));
  await client.initialize();
  const other = JSON.parse((await token("capability", "--json")).stdout);
  await expect(host.connect(undefined, bearer(other.token))).rejects.toThrow();
  const digest = ["--ws-auth", "capability-token", "--ws-token-sha256", other.sha256];
  const second = await spawnHost({ args: [...SOCKET, ...digest] });
  await (await second.connect(undefined, bearer(other.token))).initialize();
});

it("[ACCT-6] signs tokens for a subject, with an end, an issuer and an audience", async () => {
  const home = await freshFolder();
  const secret = join(home, "secret");
  expect(await token("secret", "--out", secret)).toMatchObject({ code: 0 });
  const auth = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", secret, "--ws-audience", "us"];
  const host = await spawnHost({ args: [...SOCKET, ...auth] });
  const sign = (...args: readonly string[]) => token("sign", "--secret-file", secret, ...args);
  const ann = await host.connect(undefined, bearer((await sign("--sub", "ann", "--audience", "us")).stdout));
  await ann.initialize();
  expect(await ann.refusal("account/logout")).toMatchObject({ data: { code: "notPermitted" } });
  const user = await host.connect(undefined, bearer((await sign("--host-user", "--audience", "us")).stdout));
  await user.initialize();
  expect(await user.call("account/logout")).toEqual({});
  await expect(host.connect(undefined, bearer((await sign("--sub", "ann")).stdout))).rejects.toThrow();
  const { exp, iat } = JSON.parse(
    Buffer.from(
      (await sign("--sub", "ann", "--expires-in", "2d")).stdout.split(".")[1]!,
      "base64url",
    ).toString(),
  );
  expect(exp - iat).toBe(2 * 24 * 3600);
});

it("[ACCT-6] signs nothing without a subject, without an expiry, or with a short secret", async () => {
  const short = join(await freshFolder(), "short");
  await writeFile(short, "too short");
  const sign = (...args: readonly string[]) => token("sign", "--secret-file", short, ...args);
  expect(await sign()).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("--host-user") });
  expect(await sign("--sub", "ann", "--host-user")).toMatchObject({ code: 2, stdout: "" });
  expect(await sign("--sub", "ann", "--expires-in", "soon")).toMatchObject({ code: 2, stdout: "" });
  expect(await sign("--sub", "ann")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("shorter than 32 bytes"),
  });
});
