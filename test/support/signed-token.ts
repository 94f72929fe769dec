import { createHmac } from "node:crypto";

/** A shared secret for `--ws-shared-secret-file`. */
export const KEY = "0123456789abcdef0123456789abcdef";

/** The header of a connection whose signed token names a subject. */
export function signedBearer(subject: string): Record<string, string> {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const claims = { sub: subject, exp: Math.floor(Date.now() / 1000) + 3600 };
  const text = `${part({ alg: "HS256", typ: "JWT" })}.${part(claims)}`;
  return { Authorization: `Bearer ${text}.${createHmac("sha256", KEY).update(text).digest("base64url")}` };
}
