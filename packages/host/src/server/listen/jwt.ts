import { createHmac, timingSafeEqual } from "node:crypto";

export interface JwtRules {
  readonly secret: Buffer;
  readonly issuer?: string;
  readonly audience?: string;
  readonly maxClockSkewSeconds: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Whom the token names, if anybody, or why it does not count. */
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
  if (typeof exp !== "number") return { refused: "the signed token has no expiry (exp)" };
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
  return { subject: typeof sub === "string" && sub !== "" ? sub : undefined };
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
