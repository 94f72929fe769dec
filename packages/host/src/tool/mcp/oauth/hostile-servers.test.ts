import { describe, expect, it } from "vitest";
import { httpServer } from "../../../../../../test/support/oauth/http-server.ts";
import { MemoryCredentials } from "../../../../../../test/support/oauth/memory-credentials.ts";
import { nodePlatform } from "../../../platform/node.ts";
import { McpOAuth } from "./mcp-oauth.ts";

const URL_OF_SERVER = "https://mcp.example/v1/mcp";
const ISSUER = "https://login.example";
const RESOURCE_METADATA = "https://mcp.example/.well-known/oauth-protected-resource/v1/mcp";
const SERVER_METADATA = `${ISSUER}/.well-known/oauth-authorization-server`;
const OPENID_METADATA = `${ISSUER}/.well-known/openid-configuration`;

const METADATA = {
  issuer: ISSUER,
  authorization_endpoint: `${ISSUER}/authorize`,
  token_endpoint: `${ISSUER}/token`,
  registration_endpoint: `${ISSUER}/register`,
  response_types_supported: ["code"],
  code_challenge_methods_supported: ["S256"],
};

type Reply = (request: Request) => Response | Promise<Response>;
const json = (body: unknown, status = 200): Response => Response.json(body, { status });

/** The replies by URL; everything else is 404. */
function world(more: Record<string, Reply | undefined> = {}) {
  const places: Record<string, Reply | undefined> = {
    [URL_OF_SERVER]: () => new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } }),
    [RESOURCE_METADATA]: () => json({ resource: URL_OF_SERVER, authorization_servers: [ISSUER] }),
    [SERVER_METADATA]: () => json(METADATA),
    [`${ISSUER}/register`]: async (request) =>
      json({ ...((await request.json()) as object), client_id: "c1" }, 201),
    [`${ISSUER}/token`]: () => json({ access_token: "at-1", token_type: "Bearer", expires_in: 3600 }),
    ...more,
  };
  const requests: Request[] = [];
  const fetch = (async (input: string | URL, init?: RequestInit) => {
    const request = new Request(input, { ...init, duplex: "half" } as RequestInit);
    requests.push(request.clone());
    const reply = places[`${new URL(request.url).origin}${new URL(request.url).pathname}`];
    return reply === undefined ? new Response("nothing here", { status: 404 }) : reply(request);
  }) as typeof globalThis.fetch;
  const oauth = new McpOAuth({ platform: { ...nodePlatform(), fetch }, store: new MemoryCredentials() });
  const asked = async (settings = httpServer("files", URL_OF_SERVER)) => {
    const login = await oauth.login(settings, "local", { scopes: null, registration: "auto" });
    login.done.catch(() => {});
    return { login, params: new URL(login.authorizationUrl).searchParams };
  };
  /** The page that a browser shows after it returned with a code. */
  const finished = async (query = "code=code-1") => {
    const { params, login } = await asked();
    const { says } = await login.paste(`x?${query}&state=${params.get("state")}`);
    await oauth.close();
    return says;
  };
  return { oauth, requests, asked, finished };
}

describe("discovery", () => {
  it("falls back to OpenID Connect, and to the server itself", async () => {
    const openId = {
      ...METADATA,
      jwks_uri: `${ISSUER}/jwks`,
      subject_types_supported: ["public"],
      id_token_signing_alg_values_supported: ["RS256"],
    };
    const one = world({ [SERVER_METADATA]: undefined, [OPENID_METADATA]: () => json(openId) });
    expect((await one.asked()).login.authorizationUrl).toContain(`${ISSUER}/authorize?`);
    const own = { ...METADATA, issuer: "https://mcp.example" };
    const other = world({
      [RESOURCE_METADATA]: undefined,
      "https://mcp.example/.well-known/oauth-authorization-server": () => json(own),
    });
    const { params } = await other.asked();
    expect(params.has("resource")).toBe(false);
    await one.oauth.close();
    await other.oauth.close();
  });

  it("asks for the scopes of the challenge first, and refresh tokens where there are some", async () => {
    const challenge = { "www-authenticate": 'Bearer scope="read write"' };
    const { asked, oauth } = world({
      [URL_OF_SERVER]: () => new Response(null, { status: 401, headers: challenge }),
      [RESOURCE_METADATA]: () =>
        json({ resource: URL_OF_SERVER, authorization_servers: [ISSUER], scopes_supported: ["all"] }),
      [SERVER_METADATA]: () => json({ ...METADATA, scopes_supported: ["all", "offline_access"] }),
    });
    expect((await asked()).params.get("scope")).toBe("read write offline_access");
    const configured = httpServer("files", URL_OF_SERVER, { scopes: ["mine"], oauthResource: "urn:mine" });
    const { params } = await asked(configured);
    expect([params.get("scope"), params.get("resource")]).toEqual(["mine offline_access", "urn:mine"]);
    await oauth.close();
  });

  it("uses the configured client with its secret, and registers none", async () => {
    const { asked, requests, oauth } = world();
    const client = { clientId: "mine", clientSecret: "planted", callbackPort: null };
    const { login, params } = await asked(httpServer("files", URL_OF_SERVER, { oauth: client }));
    expect(params.get("client_id")).toBe("mine");
    await login.paste(`x?code=code-1&state=${params.get("state")}`);
    await login.done;
    await oauth.close();
    expect(requests.filter(({ url }) => url === `${ISSUER}/register`)).toEqual([]);
    const [exchange] = requests.filter(({ url }) => url === `${ISSUER}/token`);
    expect(exchange!.headers.get("authorization")).toBe(`Basic ${btoa("mine:planted")}`);
  });

  it("sends the server's headers to the server, and to nobody else", async () => {
    const { asked, requests, oauth } = world();
    await asked(httpServer("files", URL_OF_SERVER, { transport: { headers: { "x-key": "planted" } } }));
    await oauth.close();
    const withKey = requests
      .filter(({ headers }) => headers.has("x-key"))
      .map(({ url }) => new URL(url).origin);
    expect(new Set(withKey)).toEqual(new Set(["https://mcp.example"]));
    expect(requests.some(({ url }) => url.startsWith(ISSUER))).toBe(true);
  });

  it.each([
    ["no login", { [RESOURCE_METADATA]: undefined }, "unsupported", "does not say where to log in"],
    ["no metadata", { [SERVER_METADATA]: undefined }, "unsupported", "has no metadata"],
    [
      "another issuer",
      { [SERVER_METADATA]: () => json({ ...METADATA, issuer: "https://evil.example" }) },
      "unreachable",
      "is for another issuer",
    ],
    [
      "metadata that is none",
      { [SERVER_METADATA]: () => new Response("<html>") },
      "unreachable",
      "cannot be read",
    ],
    [
      "metadata without end",
      { [SERVER_METADATA]: () => new Response(endless()) },
      "unreachable",
      "sent more than",
    ],
    [
      "another resource",
      {
        [RESOURCE_METADATA]: () =>
          json({ resource: "https://other.example/", authorization_servers: [ISSUER] }),
      },
      "misconfigured",
      "another resource",
    ],
    [
      "an open wire",
      { [SERVER_METADATA]: () => json({ ...METADATA, authorization_endpoint: "http://login.example/a" }) },
      "misconfigured",
      "without https",
    ],
    [
      "no registration",
      { [SERVER_METADATA]: () => json({ ...METADATA, registration_endpoint: undefined }) },
      "misconfigured",
      "registers no clients",
    ],
    [
      "registration that is refused",
      {
        [`${ISSUER}/register`]: () =>
          json({ error: "invalid_client_metadata", error_description: "no\u001b[31m" }, 400),
      },
      "refused",
      "HTTP 400 (invalid_client_metadata: no [31m)",
    ],
    [
      "no PKCE",
      { [SERVER_METADATA]: () => json({ ...METADATA, code_challenge_methods_supported: ["plain"] }) },
      "unsupported",
      "does not know PKCE",
    ],
    [
      "a broken wire",
      {
        [URL_OF_SERVER]: () =>
          Promise.reject(new TypeError("fetch failed", { cause: new Error("ECONNREFUSED") })),
      },
      "unreachable",
      "https://mcp.example/v1/mcp cannot be reached: ECONNREFUSED",
    ],
  ] as const)("says what is wrong with a server that has %s", async (_what, places, kind, words) => {
    const { asked, oauth } = world(places as Record<string, Reply | undefined>);
    const error: Error & { kind?: string } = await asked().then(
      () => expect.fail("it worked"),
      (cause) => cause,
    );
    expect(error).toMatchObject({ name: "LoginError", kind });
    expect(error.message).toContain(words);
    await oauth.close();
  });

  it("never opens what is no web address", async () => {
    const { asked, oauth } = world({
      [SERVER_METADATA]: () => json({ ...METADATA, authorization_endpoint: "javascript:alert(1)" }),
    });
    await expect(asked()).rejects.toMatchObject({ name: "LoginError" });
    await oauth.close();
  });
});

describe("a token reply", () => {
  it.each([
    ["another type", { access_token: "at", token_type: "DPoP" }, "a type other than Bearer"],
    ["a header in it", { access_token: "at\r\nx: y", token_type: "Bearer" }, "cannot be sent"],
    ["no token", { token_type: "Bearer" }, "cannot be read"],
  ])("with %s is no login", async (_what, reply, words) => {
    const says = await world({ [`${ISSUER}/token`]: () => json(reply) }).finished();
    expect(says).toContain(words);
  });

  it("that repeats secrets in its words is shown without them", async () => {
    const { finished } = world({
      [`${ISSUER}/token`]: async (request) => {
        const sent = new URLSearchParams(await request.text());
        const words = `bad ${sent.get("code")} and ${sent.get("code_verifier")}`;
        return json({ error: "invalid_grant", error_description: words }, 400);
      },
    });
    expect(await finished("code=code-secret")).toBe(
      "The authorization server refused the login: invalid_grant (bad … and …).",
    );
  });

  it("that is no OAuth reply is not shown", async () => {
    const reply = () => new Response("trace: at-secret", { status: 500 });
    const says = await world({ [`${ISSUER}/token`]: reply }).finished();
    expect(says).toBe("The authorization server refused the login: the server failed (server_error).");
  });
});

function endless(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(64 * 1024));
    },
  });
}
