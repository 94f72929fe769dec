import { createHmac, timingSafeEqual } from "node:crypto";

export interface JwtRules {
  readonly secret: Buffer;
  readonly issuer?: string;
  readonly audience?: string;
  readonly maxClockSkewSeconds: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The subject that the token names, if it names one, or why the token is refused. */
export type JwtVerdict = { readonly subject: string | undefined } | { readonly refused: string };

/** Checks an HS256 token. The signature comes first: nothing else in it is believed before. */
export function verifyJwt(token: string, rules: JwtRules): JwtVerdict {
  const parts = token.split(".");
  const [header = "", claims = "", signature = ""] = parts;
  if (parts.length !== 3 || !parts.every((part) => /^[\w-]+$/.test(part))) return invalid;
  const expected = createHmac("sha256", rules.secret).update(`${header}.${claims}`).digest();
  const actual = Buffer.from(signature, "base64url");
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return invalid;
  const head = decode(header);
  // A critical extension that we do not know could change what the token means.
  if (head?.alg !== "HS256" || "crit" in head) return invalid;
  const body = decode(claims);
  return body ? checkClaims(body, rules) : invalid;
}

const invalid: JwtVerdict = { refused: "the signed token is invalid" };

function checkClaims(claims: Record<string, unknown>, rules: JwtRules): JwtVerdict {
  const { exp, nbf, iss, aud, sub } = claims;
  const now = Math.floor(rules.now() / 1000);
  const skew = rules.maxClockSkewSeconds;
  if (typeof exp !== "number" || !Number.isFinite(exp))
    return { refused: "the signed token has no expiry (exp)" };
  if (now > exp + skew) return { refused: "the signed token has expired" };
  if (nbf !== undefined && nbf !== null) {
    if (typeof nbf !== "number") return invalid;
    if (now < nbf - skew) return { refused: "the signed token is not valid yet" };
  }
  if (rules.issuer !== undefined && iss !== rules.issuer) {
    return { refused: "the signed token is from another issuer" };
  }
  if (rules.audience !== undefined && !(Array.isArray(aud) ? aud : [aud]).includes(rules.audience)) {
    return { refused: "the signed token is for another audience" };
  }
  if (!Object.hasOwn(claims, "sub")) return { subject: undefined };
  // A token that names a subject, however badly, was not made for the host's own user.
  if (!isSubject(sub)) return { refused: SUBJECT_RULE };
  return { subject: sub };
}

/** OpenID Connect allows no more characters in a subject. */
const MAX_SUBJECT = 255;
const SUBJECT_RULE = `the subject (sub) of the signed token must be text of 1 to ${MAX_SUBJECT} characters, not blank and without control characters`;

function isSubject(sub: unknown): sub is string {
  return (
    typeof sub === "string" && sub.length <= MAX_SUBJECT && sub.trim() !== "" && !/[\p{Cc}\p{Cs}]/u.test(sub)
  );
}

function decode(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
