import { createHash, timingSafeEqual } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { ConsoleLogin } from "../site/console-login.ts";
import type { AuthConfig } from "./auth-flags.ts";
import type { Refusal } from "./http-refusal.ts";
import { verifyJwt } from "./jwt.ts";
import { ListenError, type Principal } from "./listener.ts";

/** Checks an `Authorization` header. */
export type Authenticate = (authorization: string | undefined) => { principal: Principal } | Refusal;

/**
 * Minimum length of a shared secret. With one token, an attacker can guess the secret offline, so it must be as long
 * as the signature.
 */
const MIN_SHARED_SECRET_BYTES = 32;
/**
 * Minimum length of a capability token. It can be guessed only over the network, against which 20 random letters and
 * digits are enough.
 */
const MIN_TOKEN_CHARACTERS = 20;
/** Minimum number of different characters in a secret. A random hex text of this length has more. */
const MIN_DIFFERENT_CHARACTERS = 8;
const MAKE_ONE = "make one with: openssl rand -hex 32";

/** Reads the configured secrets once, at the start. Throws if one of them is easy to guess. */
export async function loadAuthenticate(config: AuthConfig, now: () => number): Promise<Authenticate> {
  switch (config.kind) {
    case "tokenFile":
      return byToken(sha256(await readToken(config.path)));
    case "tokenSha256":
      return byToken(config.digest);
    case "signed": {
      const secret = await readSharedSecret(config.path);
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

/** A digest of the configured secret. It changes when the secret changes. */
export async function secretDigest(config: AuthConfig): Promise<Buffer> {
  switch (config.kind) {
    case "tokenFile":
      return sha256(await readToken(config.path));
    case "tokenSha256":
      return config.digest;
    case "signed":
      return sha256(await readSharedSecret(config.path));
  }
}

/** Accepts session keys of the console, in addition to the listener's own tokens. */
export function withSessions(authenticate: Authenticate, consoleLogin: ConsoleLogin): Authenticate {
  return (authorization) => {
    const token = bearer(authorization);
    return typeof token === "string" && consoleLogin.isKey(token)
      ? consoleLogin.verifyKey(token)
      : authenticate(authorization);
  };
}

function byToken(digest: Buffer): Authenticate {
  return (authorization) => {
    const token = bearer(authorization);
    if (typeof token !== "string") return token;
    // Digests of equal length are compared, so that the comparison takes constant time.
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

async function readToken(path: string): Promise<Buffer> {
  const token = await readSecret(path);
  // A client could not send such a token: a header has only visible ASCII characters, and white space ends the token.
  if (!/^[!-~]+$/.test(token))
    throw badSecret(`the token in ${path} has white space or characters outside ASCII in it; ${MAKE_ONE}`);
  if (token.length < MIN_TOKEN_CHARACTERS)
    throw badSecret(
      `the token in ${path} has ${token.length} characters and must have at least ` +
        `${MIN_TOKEN_CHARACTERS}, or it can be guessed; ${MAKE_ONE}`,
    );
  checkVariety(token, `the token in ${path}`);
  return Buffer.from(token);
}

async function readSharedSecret(path: string): Promise<Buffer> {
  const text = await readSecret(path);
  const secret = Buffer.from(text);
  if (secret.length < MIN_SHARED_SECRET_BYTES)
    throw badSecret(
      `the shared secret in ${path} has ${secret.length} bytes and must be at least ` +
        `${MIN_SHARED_SECRET_BYTES} bytes long; ${MAKE_ONE}`,
    );
  checkVariety(text, `the shared secret in ${path}`);
  return secret;
}

function checkVariety(secret: string, name: string): void {
  const different = new Set(secret).size;
  if (different < MIN_DIFFERENT_CHARACTERS)
    throw badSecret(
      `${name} has only ${different} different characters and must have at least ` +
        `${MIN_DIFFERENT_CHARACTERS}, or it can be guessed; ${MAKE_ONE}`,
    );
}

/** Reads a secret from a file, without the line end that editors and `echo` add. */
async function readSecret(path: string): Promise<string> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw badSecret(`cannot read the secret file ${path}: ${(error as Error).message}`, { cause: error });
  }
  const secret = text.trim();
  if (secret === "") throw badSecret(`the secret file ${path} is empty; ${MAKE_ONE}`);
  return secret;
}

function badSecret(message: string, options?: ErrorOptions): ListenError {
  return new ListenError("badAuthSecret", message, options);
}
