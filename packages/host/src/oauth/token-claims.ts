/**
 * The claims of a JSON Web Token; undefined for anything else. The signature is not checked here: the server that the
 * token is sent to checks it.
 */
export function claimsIn(token: string): Readonly<Record<string, unknown>> | undefined {
  const [header, payload, signature, ...more] = token.split(".");
  if (!header || !payload || !signature || more.length > 0) return undefined;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    if (typeof claims !== "object" || claims === null || Array.isArray(claims)) return undefined;
    return claims as Record<string, unknown>;
  } catch {
    return undefined;
  }
}
