import { createHmac, timingSafeEqual } from "node:crypto";

export interface JwtRules {
  readonly secret: Buffer;
  readonly issuer?: string;
  readonly audience?: string;
  readonly maxClockSkewSeconds: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** The token's subject, if it has one, or why the token is refused. */
export type JwtVerdict = { readonly subject: string | undefined } | { readonly refused: string };

/** Verifies an HS256 token. The signature is checked before anything else is trusted. */
export function verifyJwt(token: string, rules: JwtRules): JwtVerdict {
  const parts = token.split(".");
  const [header = "", claims = "", signature = ""] = parts;
  if (parts.length !== 3 || !parts.every((part) => /^[\w-]+$/.test(part))) return invalid;
  const expected = createHmac("sha256", rules.secret).update(`${header}.${claims}`).digest();
  const actual = Buffer.from(signature, "base64url");
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return invalid;
  const head = decode(header);
  // Tokens with `crit` are refused: a critical extension that is not known could change the token's meaning.
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
  // A token with a subject, even an invalid one, was not issued for the host's own user.
  if (!isSubject(sub)) return { refused: SUBJECT_RULE };
  return { subject: sub };
}

/** Limit of OpenID Connect on the characters of a subject. */
const MAX_SUBJECT = 255;
const SUBJECT_RULE = `the subject (sub) of the signed token must be text of 1 to ${MAX_SUBJECT} characters, not blank and without control characters`;

/** Whether a value is acceptable as the name of a subject. */
export function isSubject(sub: unknown): sub is string {
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
