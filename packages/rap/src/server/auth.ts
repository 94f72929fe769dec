/**
 * The tenant that sent a request, or undefined if the request is not authenticated. A tenant can reach only its own
 * threads, calls and subscriptions.
 */
export type Authenticated = { readonly tenant: string } | undefined;

/** Authenticates a request, usually by its headers. */
export type Auth = (request: Request) => Authenticated | Promise<Authenticated>;

/**
 * Accepts requests with a bearer token. Give hosts that must not reach each other's threads a tenant name and a token
 * each. A tenant may have two tokens while one replaces the other.
 *
 * @example
 * bearer(process.env.TOOLS_TOKEN);
 * bearer({ blue: process.env.BLUE_TOKEN, green: [process.env.GREEN_TOKEN, process.env.GREEN_TOKEN_NEXT] });
 */
export function bearer(tokens: string | undefined | { readonly [tenant: string]: Tokens }): Auth {
  const named = typeof tokens === "object" ? tokens : { "": tokens };
  const known = Object.entries(named).flatMap(([tenant, value]) =>
    [value].flat().map((token) => ({ tenant, token })),
  );
  for (const { token } of known)
    if (typeof token !== "string" || token.length < 8)
      throw new TypeError("a bearer token must have 8 or more characters; is its environment variable set?");
  const hashes = Promise.all(known.map(async ({ tenant, token }) => ({ tenant, hash: await hash(token!) })));
  return async (request) => {
    const [, token] = /^bearer +(.+)$/i.exec(request.headers.get("Authorization") ?? "") ?? [];
    if (token === undefined) return undefined;
    const digest = await hash(token);
    // Compares every token in full, so that timing reveals nothing.
    let found: Authenticated;
    for (const { tenant, hash: wanted } of await hashes) if (same(digest, wanted)) found = { tenant };
    return found;
  };
}

type Tokens = string | undefined | readonly (string | undefined)[];

/**
 * Accepts every request. For servers that only their own machine or network can reach.
 *
 * @example
 * const server = createToolServer({ name: "dice", auth: noAuth, tools: [roll] });
 */
export const noAuth: Auth = () => ({ tenant: "" });

async function hash(text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  let difference = 0;
  for (const [index, byte] of a.entries()) difference |= byte ^ b[index]!;
  return difference === 0;
}
