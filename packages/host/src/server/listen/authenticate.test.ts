import { createHash, createHmac } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { loadAuthenticate } from "./authenticate.ts";

const SECRET = "0123456789abcdef0123456789abcdef";
const NOW_S = 1_700_000_000;
const now = () => NOW_S * 1000 + 999;

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "auth-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function file(name: string, text: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, text);
  return path;
}

const encode = (json: string): string => Buffer.from(json).toString("base64url");
const part = (value: unknown): string => encode(JSON.stringify(value));

function jwt(claims: unknown, header: object = { alg: "HS256", typ: "JWT" }, secret = SECRET): string {
  return signedJwt(JSON.stringify(claims), header, secret);
}

function signedJwt(claims: string, header: object = { alg: "HS256" }, secret = SECRET): string {
  const signed = `${part(header)}.${encode(claims)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}

describe("a capability token", () => {
  it.each([
    ["Bearer s3cret-4f9a1c07b2e8d", true],
    ["bearer s3cret-4f9a1c07b2e8d", true],
    ["BEARER   s3cret-4f9a1c07b2e8d  ", true],
    ["Bearer wrong", false],
    ["Bearer s3cret-4f9a1c07b2e8d2", false],
    ["Bearer s3cret-4f9a1c07b2e8", false],
    ["Bearer", false],
    ["Bearer ", false],
    ["Basic s3cret-4f9a1c07b2e8d", false],
    ["s3cret-4f9a1c07b2e8d", false],
    [undefined, false],
  ])("judges %j", async (header, accepted) => {
    const fromFile = await loadAuthenticate(
      { kind: "tokenFile", path: await file("t", " s3cret-4f9a1c07b2e8d\n") },
      now,
    );
    const digest = createHash("sha256").update("s3cret-4f9a1c07b2e8d").digest();
    const fromDigest = await loadAuthenticate({ kind: "tokenSha256", digest }, now);
    for (const authenticate of [fromFile, fromDigest]) {
      expect(authenticate(header)).toEqual(
        accepted
          ? { principal: { kind: "token" } }
          : expect.objectContaining({ status: 401, code: "unauthorized" }),
      );
    }
  });

  it.each([
    ["abc", "has 3 characters and must have at least 20"],
    ["0123456789abcdef012", "has 19 characters and must have at least 20"],
    ["a".repeat(64), "has only 1 different characters and must have at least 8"],
    ["passwordpasswordpassword", "has only 7 different characters"],
    ["correct horse battery staple", "white space"],
    ["pässwörter-sind-manchmal-lang", "outside ASCII"],
  ])("[AUTH-8] is refused at the start if it is %j", async (secret, why) => {
    const path = await file("weak", `${secret}\n`);
    const refused = await loadAuthenticate({ kind: "tokenFile", path }, now).catch((cause: unknown) => cause);
    expect(refused).toMatchObject({ code: "badAuthSecret" });
    const { message } = refused as Error;
    expect(message).toContain(why);
    expect(message).toContain(path);
    expect(message).toContain("openssl rand -hex 32");
    expect(message).not.toContain(secret);
  });

  it.each([
    "f47ac10b-58cc-4372-a567-0e02b2c3d479",
    "V1StGXR8Z5jdHi6BmyT1",
    "9f86d081884c7d659a2feaa0c55ad015",
  ])("[AUTH-8] is taken if it is %s", async (secret) => {
    const path = await file("strong", secret);
    const authenticate = await loadAuthenticate({ kind: "tokenFile", path }, now);
    expect(authenticate(`Bearer ${secret}`)).toEqual({ principal: { kind: "token" } });
  });

  it("says what is wrong with its file", async () => {
    const empty = await file("empty", " \n");
    await expect(loadAuthenticate({ kind: "tokenFile", path: empty }, now)).rejects.toMatchObject({
      code: "badAuthSecret",
      message: expect.stringContaining("is empty"),
    });
    const missing = join(folder, "missing");
    await expect(loadAuthenticate({ kind: "tokenFile", path: missing }, now)).rejects.toMatchObject({
      code: "badAuthSecret",
      message: expect.stringContaining(missing),
    });
  });
});

describe("a signed bearer token", () => {
  async function judge(token: string, rules: { issuer?: string; audience?: string } = {}) {
    const path = await file("secret", `${SECRET}\n`);
    const authenticate = await loadAuthenticate(
      { kind: "signed", path, maxClockSkewSeconds: 30, ...rules },
      now,
    );
    const outcome = authenticate(`Bearer ${token}`);
    return "status" in outcome ? outcome.message : outcome.principal;
  }
  const valid = { exp: NOW_S + 60 };
  const token = { kind: "token" };

  it.each<[string, object, unknown]>([
    ["no subject", valid, token],
    ["a subject", { ...valid, sub: "ada" }, { kind: "subject", subject: "ada" }],
    ["an expiry within the skew", { exp: NOW_S - 30 }, token],
    ["an expiry beyond the skew", { exp: NOW_S - 31 }, expect.stringContaining("expired")],
    ["no expiry", { iss: "me" }, expect.stringContaining("no expiry")],
    ["an expiry that is no number", { exp: "tomorrow" }, expect.stringContaining("no expiry")],
    ["a start within the skew", { ...valid, nbf: NOW_S + 30 }, token],
    ["a start beyond the skew", { ...valid, nbf: NOW_S + 31 }, expect.stringContaining("not valid yet")],
    ["a start that is no number", { ...valid, nbf: "x" }, expect.stringContaining("invalid")],
  ])("with %s", async (_, claims, expected) => {
    expect(await judge(jwt(claims))).toEqual(expected);
  });

  it("is refused if it never expires", async () => {
    expect(await judge(signedJwt('{"exp":1e999}'))).toContain("no expiry");
  });

  it.each<unknown>([
    "",
    " ",
    null,
    0,
    7,
    true,
    [],
    ["ada"],
    { name: "ada" },
    "ada\n",
    "a\u0000da",
    "\ud800",
    "a".repeat(256),
  ])("[AUTH-7] is refused if its subject is %j", async (sub) => {
    expect(await judge(jwt({ ...valid, sub }))).toContain(
      "the subject (sub) of the signed token must be text",
    );
  });

  it.each(["a", "ada@example.org", "auth0|5f7c8ec7c33c6c004bbafe82", "Ада", "a".repeat(255)])(
    "[AUTH-7] names the subject %s",
    async (sub) => {
      expect(await judge(jwt({ ...valid, sub }))).toEqual({ kind: "subject", subject: sub });
    },
  );

  it.each<[object, unknown]>([
    [{ iss: "me", aud: "you" }, token],
    [{ iss: "me", aud: ["others", "you"] }, token],
    [{ iss: "them", aud: "you" }, expect.stringContaining("issuer")],
    [{ aud: "you" }, expect.stringContaining("issuer")],
    [{ iss: "me", aud: ["others"] }, expect.stringContaining("audience")],
    [{ iss: "me" }, expect.stringContaining("audience")],
  ])("for the issuer and audience asked for: %j", async (claims, expected) => {
    const rules = { issuer: "me", audience: "you" };
    expect(await judge(jwt({ ...valid, ...claims }), rules)).toEqual(expected);
  });

  it.each<[string, string]>([
    ["another secret", jwt(valid, undefined, SECRET.replace("0", "1"))],
    ["changed claims", jwt(valid).replace(/\.[^.]+\./, `.${part({ exp: NOW_S + 99 })}.`)],
    ["no algorithm", `${part({ alg: "none" })}.${part(valid)}.`],
    ["no algorithm but a signature", jwt(valid, { alg: "none" })],
    ["another algorithm", jwt(valid, { alg: "HS512" })],
    ["a critical extension", jwt(valid, { alg: "HS256", crit: ["b64"], b64: false })],
    ["claims that are a list", jwt([valid])],
    ["two parts", "a.b"],
    ["no parts at all", "token"],
    ["four parts", `${jwt(valid)}.x`],
  ])("is refused with %s", async (_, text) => {
    expect(await judge(text)).toBe("the signed token is invalid");
  });

  it("[AUTH-8] needs a secret that does not repeat one character", async () => {
    const path = await file("same", "a".repeat(64));
    const refused = loadAuthenticate({ kind: "signed", path, maxClockSkewSeconds: 30 }, now);
    await expect(refused).rejects.toMatchObject({
      code: "badAuthSecret",
      message: expect.stringContaining("has only 1 different characters"),
    });
  });

  it("needs a secret of at least 32 bytes", async () => {
    const path = await file("short", `${SECRET.slice(1)}\n`);
    await expect(
      loadAuthenticate({ kind: "signed", path, maxClockSkewSeconds: 30 }, now),
    ).rejects.toMatchObject({
      code: "badAuthSecret",
      message: expect.stringContaining("must be at least 32 bytes"),
    });
  });
});
