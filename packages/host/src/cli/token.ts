import { createHash, createHmac, randomBytes } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { isSubject } from "../server/listen/jwt.ts";
import { printError } from "./account-context.ts";
import { Output } from "./terminal-output.ts";
import type { NewSecretOptions, SignOptions } from "./token-command.ts";

/** The minimum that listeners require. */
const MIN_SECRET_BYTES = 32;
const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;

/** Creates a capability token. Resolves with the exit code. */
export async function makeCapability({ out, json }: NewSecretOptions): Promise<number> {
  const token = randomBytes(32).toString("hex");
  const sha256 = createHash("sha256").update(token).digest("hex");
  if (out !== undefined && !(await writeNew(out, token))) return 1;
  if (json === true)
    await print(JSON.stringify({ ...(out === undefined ? { token } : { file: out }), sha256 }));
  else await print(out === undefined ? token : `Wrote a capability token to ${out}.`);
  return 0;
}

/** Creates a secret that signs tokens. Resolves with the exit code. */
export async function makeSecret({ out }: NewSecretOptions): Promise<number> {
  const secret = randomBytes(32).toString("hex");
  if (out !== undefined && !(await writeNew(out, secret))) return 1;
  await print(out === undefined ? secret : `Wrote a secret to ${out}.`);
  return 0;
}

/** Creates a signed token (JWT, HS256). Resolves with the exit code. */
export async function signToken(options: SignOptions): Promise<number> {
  const { secretFile, sub, hostUser = false, issuer, audience } = options;
  if ((sub === undefined) !== hostUser) {
    printError(
      "Name the user of the token: --sub NAME for a subject, or --host-user for the host's own user.",
    );
    return 2;
  }
  if (sub !== undefined && !isSubject(sub)) {
    printError(
      "--sub must be 1 to 255 characters, not blank and without control characters: no host accepts it.",
    );
    return 2;
  }
  const seconds = secondsOf(options.expiresIn);
  if (seconds === undefined) {
    printError(`--expires-in is "${options.expiresIn}"; use a time such as 90s, 30m, 12h or 7d.`);
    return 2;
  }
  const secret = await readFile(secretFile, "utf8").catch((cause: NodeJS.ErrnoException) => {
    printError(`${secretFile} cannot be read: ${cause.code ?? cause.message}.`);
    return undefined;
  });
  if (secret === undefined) return 1;
  if (Buffer.byteLength(secret.trim()) < MIN_SECRET_BYTES) {
    printError(`The secret in ${secretFile} is shorter than ${MIN_SECRET_BYTES} bytes: no host accepts it.`);
    return 1;
  }
  const now = Math.floor(Date.now() / 1000);
  const claims = {
    ...(sub !== undefined && { sub }),
    ...(issuer !== undefined && { iss: issuer }),
    ...(audience !== undefined && { aud: audience }),
    iat: now,
    exp: now + seconds,
  };
  const text = `${encoded({ alg: "HS256", typ: "JWT" })}.${encoded(claims)}`;
  await print(`${text}.${createHmac("sha256", secret.trim()).update(text).digest("base64url")}`);
  return 0;
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function secondsOf(time: string): number | undefined {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(time.trim()) ?? [];
  if (count === undefined) return undefined;
  const seconds = Number(count) * SECONDS[unit as keyof typeof SECONDS];
  return seconds > 0 ? seconds : undefined;
}

/** Writes a new file. If it exists or cannot be written, prints an error and resolves with false. */
async function writeNew(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, `${text}\n`, { mode: 0o600, flag: "wx" });
    return true;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    printError(code === "EEXIST" ? `${path} exists already.` : `${path} cannot be written: ${message}`);
    return false;
  }
}

async function print(text: string): Promise<void> {
  const stdout = new Output(process.stdout);
  stdout.line(text);
  await stdout.flushed();
}
