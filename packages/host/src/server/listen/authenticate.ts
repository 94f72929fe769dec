import { createHash, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { AuthConfig } from "./auth-flags.ts";
import { ListenError, type Principal } from "./door.ts";
import { verifyJwt } from "./jwt.ts";
import type { Refusal } from "./refusal.ts";

/** Judges an `Authorization` header. */
export type Authenticate = (authorization: string | undefined) => { principal: Principal } | Refusal;

/** A secret that can be guessed offline from one token has to be at least as long as the signature. */
const MIN_SHARED_SECRET_BYTES = 32;

/** Reads the secrets that the configuration names; they are read once, at start. */
export async function loadAuthenticate(config: AuthConfig, now: () => number): Promise<Authenticate> {
  switch (config.kind) {
    case "tokenFile":
      return byToken(sha256(await readSecret(config.path)));
    case "tokenSha256":
      return byToken(config.digest);
    case "signed": {
      const secret = await readSecret(config.path);
      if (secret.length < MIN_SHARED_SECRET_BYTES) {
        throw new ListenError(
          "badAuthSecret",
          `the shared secret in ${config.path} has ${secret.length} bytes and must be at least ` +
            `${MIN_SHARED_SECRET_BYTES} bytes long; make one with: openssl rand -hex 32`,
        );
      }
      return (authorization) => {
        const token = bearer(authorization);
        if (typeof token !== "string") return token;
        const verdict = verifyJwt(token, { ...config, secret, now });
        if ("refused" in verdict) return unauthorized(verdict.refused);
        const { subject } = verdict;
        return { principal: subject === undefined ? { kind: "token" } : { kind: "subject", subject } };
      };
    }
  }
}

function byToken(digest: Buffer): Authenticate {
  return (authorization) => {
    const token = bearer(authorization);
    if (typeof token !== "string") return token;
    // Digests have one length, so the comparison takes the same time whatever was sent.
    if (!timingSafeEqual(sha256(Buffer.from(token)), digest)) return unauthorized("the token is wrong");
    return { principal: { kind: "token" } };
  };
}

function bearer(authorization: string | undefined): string | Refusal {
  if (authorization === undefined) return unauthorized("a bearer token is needed: Authorization: Bearer …");
  const token = /^bearer +(\S+)\s*$/i.exec(authorization)?.[1];
  return token ?? unauthorized("the Authorization header must be: Bearer, a space, and the token");
}

function unauthorized(message: string): Refusal {
  return { status: 401, code: "unauthorized", message, headers: { "WWW-Authenticate": "Bearer" } };
}

function sha256(bytes: Buffer): Buffer {
  return createHash("sha256").update(bytes).digest();
}

/** Editors and `echo` put a line end behind a secret; it is no part of it. */
async function readSecret(path: string): Promise<Buffer> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw new ListenError(
      "badAuthSecret",
      `cannot read the secret file ${path}: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
  const secret = text.trim();
  if (secret === "") throw new ListenError("badAuthSecret", `the secret file ${path} is empty`);
  return Buffer.from(secret);
}
