import { describe, expect, it } from "vitest";
import { RapWorld } from "../../../../test/support/rap-world.ts";
import { memoryData, type ToolServer, type ToolServerData, tool } from "./index.ts";

const TOKENS = "https://login.example.com/token";
const CODE = "code-0123456789";

const issues = tool({
  name: "issues",
  description: "Lists issues.",
  input: { type: "object" },
  annotations: { requiresAuth: "github" },
  async run(_, ctx) {
    const token = await ctx.requireOAuth("github");
    return `listed with a token of ${token.length} characters`;
  },
});

const options = {
  url: "https://tools.example.com/gh",
  tools: [issues],
  oauth: {
    secret: "a secret of some length",
    providers: {
      github: {
        authorizationUrl: "https://login.example.com/authorize?tenant=1",
        tokenUrl: TOKENS,
        clientId: "client-1",
        clientSecret: "client-secret",
        scopes: ["repo:read", "user"],
      },
    },
  },
};

/** A fake world whose OAuth service issues tokens and records its requests. */
function authorizing(data: ToolServerData = memoryData()) {
  const world = new RapWorld();
  const asked: URLSearchParams[] = [];
  const gives: Record<string, unknown> = {
    access_token: "access-token-1",
    refresh_token: "refresh-1",
    expires_in: 3600,
  };
  world.elsewhere = (url, init) => {
    expect(url).toBe(TOKENS);
    asked.push(new URLSearchParams(String(init.body)));
    return "error" in gives
      ? Response.json(gives, { status: (gives["status"] as number | undefined) ?? 400 })
      : Response.json(gives);
  };
  const make = (): ToolServer => world.server({ ...options, data });
  const call = (server: ToolServer, id: string, user: string | null = "user_1"): Promise<Response> =>
    world.post(server, "/gh/invoke", {
      operation: "issues",
      arguments: {},
      id,
      group_id: "thread_1",
      callback_url: "https://host.example.com/callback/secret-1",
      user_id: user,
    });
  const visit = (server: ToolServer, query: Record<string, string>): Promise<Response> =>
    server.fetch(new Request(`https://tools.example.com/gh/oauth/callback?${new URLSearchParams(query)}`));
  const stateOf = async (after = 0): Promise<string> =>
    new URL((await world.next("oauth", after)).auth_url!).searchParams.get("state")!;
  return { world, asked, gives, make, call, visit, stateOf };
}

describe("an authorization", () => {
  it("[RAPS-100] [RAPS-101] is requested with an https URL that redirects back to the server", async () => {
    const { world, make, call } = authorizing();
    await call(make(), "a");
    const message = await world.next("oauth");
    expect(message).toEqual({
      type: "oauth",
      group_id: "thread_1",
      id: "a",
      call_id: null,
      auth_url: expect.stringMatching(/^https:\/\/login\.example\.com\/authorize\?/),
    });
    const query = Object.fromEntries(new URL(message.auth_url!).searchParams);
    expect(query).toEqual({
      tenant: "1",
      response_type: "code",
      client_id: "client-1",
      redirect_uri: "https://tools.example.com/gh/oauth/callback",
      scope: "repo:read user",
      state: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    await world.quiet();
    expect(world.posts).toHaveLength(1);
  });

  it("[RAPS-102] exchanges the code for a token, and the call continues", async () => {
    const { world, asked, make, call, visit, stateOf } = authorizing();
    const server = make();
    await call(server, "a");
    const page = await visit(server, { state: await stateOf(), code: CODE });
    expect([page.status, page.headers.get("Cache-Control")]).toEqual([200, "no-store"]);
    expect(await page.text()).toContain("Done.");
    expect(await world.next("tool_result")).toMatchObject({
      id: "a",
      text: "listed with a token of 14 characters",
    });
    const [exchange] = asked;
    expect(Object.fromEntries(exchange!)).toEqual({
      grant_type: "authorization_code",
      code: CODE,
      code_verifier: expect.stringMatching(/^[\w-]{43}$/),
      redirect_uri: "https://tools.example.com/gh/oauth/callback",
      client_id: "client-1",
      client_secret: "client-secret",
    });
    const challenge = new URL((await world.next("oauth")).auth_url!).searchParams.get("code_challenge");
    const verifier = new TextEncoder().encode(exchange!.get("code_verifier")!);
    const digest = Buffer.from(await crypto.subtle.digest("SHA-256", verifier)).toString("base64url");
    expect(challenge).toBe(digest);
  });

  it("[RAPS-103] with an unknown, used or expired state is refused", async () => {
    const { world, asked, make, call, visit, stateOf } = authorizing();
    const server = make();
    await call(server, "a");
    const state = await stateOf();
    for (const query of [
      { state: "guess", code: CODE },
      { code: CODE },
      { state: "x".repeat(10_000), code: CODE },
    ]) {
      const refused = await visit(server, query as Record<string, string>);
      expect(refused.status).toBe(400);
      expect(await refused.text()).not.toContain(CODE);
    }
    expect(asked).toEqual([]);
    expect((await visit(server, { state, code: CODE })).status).toBe(200);
    expect((await visit(server, { state, code: CODE })).status).toBe(400);
    expect(asked).toHaveLength(1);
    await world.next("tool_result");

    const late = authorizing();
    const other = late.make();
    await late.call(other, "a");
    const old = await late.stateOf();
    await late.world.advance(3_600_001);
    expect((await late.visit(other, { state: old, code: CODE })).status).toBe(400);
    expect(late.asked).toEqual([]);
  });

  it("[RAPS-104] that is denied, fails or is not completed ends the call with an error", async () => {
    const { world, gives, make, call, visit, stateOf } = authorizing();
    const server = make();
    await call(server, "denied");
    await visit(server, { state: await stateOf(), error: "access_denied" });
    expect((await world.next("tool_result")).text).toBe(
      "Error: The authorization by github was denied by the user.",
    );

    gives["error"] = "invalid_grant";
    let before = world.posts.length;
    await call(server, "failed");
    expect((await visit(server, { state: await stateOf(before), code: CODE })).status).toBe(502);
    expect((await world.next("tool_result", before)).text).toMatch(
      /^Error: The authorization by github failed/,
    );

    before = world.posts.length;
    await call(server, "forgotten");
    await world.next("oauth", before);
    await world.advance(3_600_000);
    expect((await world.next("tool_result", before)).text).toMatch(/^Error: .* was not completed in time/);

    before = world.posts.length;
    await call(server, "nobody", null);
    expect((await world.next("tool_result", before)).text).toMatch(/^Error: .*does not say who the user is/);

    before = world.posts.length;
    world.answer = ({ message }) => (message.type === "oauth" ? 400 : 200);
    await call(server, "refused");
    expect((await world.next("tool_result", before)).text).toMatch(/^Error: .*the host did not accept/);
  });

  it("[RAPS-105] encrypts tokens in the store, and puts neither tokens nor codes into messages and logs", async () => {
    const data = memoryData();
    const { world, make, call, visit, stateOf } = authorizing(data);
    const server = make();
    await call(server, "a");
    const state = await stateOf();
    const during = JSON.stringify(await data.store.list(""));
    expect(during).not.toContain(state);
    await visit(server, { state, code: CODE });
    await world.next("tool_result");
    await world.quiet();
    const kept = await data.store.list("");
    expect(kept.map(([key]) => key)).toEqual(['token ["","user_1","github"]']);
    const seen = JSON.stringify([kept, world.logs, world.messages().filter(({ type }) => type !== "oauth")]);
    for (const secret of ["access-token-1", "refresh-1", CODE, "client-secret"])
      expect(seen).not.toContain(secret);
  });

  it("[RAPS-106] is requested once per user: the token survives a restart and is refreshed", async () => {
    const data = memoryData();
    const { world, asked, gives, make, call, visit, stateOf } = authorizing(data);
    const first = make();
    await call(first, "a");
    await visit(first, { state: await stateOf(), code: CODE });
    await world.next("tool_result");
    await first.close();

    const server = make();
    await call(server, "b");
    await world.next("tool_result", 2);
    expect(asked).toHaveLength(1);
    await call(server, "c", "user_2");
    await world.next("oauth", 3);

    await world.advance(3_599_000);
    Object.assign(gives, { access_token: "access-2", refresh_token: undefined });
    const before = world.posts.length;
    await Promise.all([call(server, "d"), call(server, "e")]);
    await world.arrived(before + 2);
    expect(world.texts().slice(before)).toEqual(Array(2).fill("listed with a token of 8 characters"));
    expect(asked.slice(1).map((form) => [form.get("grant_type"), form.get("refresh_token")])).toEqual([
      ["refresh_token", "refresh-1"],
    ]);
  });

  it("[RAPS-106] can be completed after a restart of the server", async () => {
    const data = memoryData();
    const { world, make, call, visit, stateOf } = authorizing(data);
    const life = world.life(data);
    await call(world.server({ ...options, ...life.options }), "a");
    const state = await stateOf();
    await world.quiet();
    life.kill();
    const server = make();
    await server.start();
    await world.quiet();
    expect(world.posts).toHaveLength(1);
    expect((await visit(server, { state, code: CODE })).status).toBe(200);
    expect(await world.next("tool_result")).toMatchObject({
      id: "a",
      text: "listed with a token of 14 characters",
    });
  });

  it("[RAPS-107] is requested again when its token cannot be refreshed", async () => {
    const { world, gives, make, call, visit, stateOf } = authorizing();
    const server = make();
    await call(server, "a");
    await visit(server, { state: await stateOf(), code: CODE });
    await world.next("tool_result");
    await world.advance(3_600_000);
    Object.assign(gives, { error: "invalid_grant", status: 400 });
    const before = world.posts.length;
    await call(server, "b");
    const state = await stateOf(before);
    delete gives["error"];
    await visit(server, { state, code: CODE });
    expect((await world.next("tool_result", before)).text).toMatch(/^listed/);
  });

  it("[RAPS-107] outlives a service that fails while its token is refreshed", async () => {
    const { world, gives, make, call, visit, stateOf } = authorizing();
    const server = make();
    await call(server, "a");
    await visit(server, { state: await stateOf(), code: CODE });
    await world.next("tool_result");
    await world.advance(3_600_000);
    Object.assign(gives, { error: "temporarily_unavailable", status: 503 });
    const before = world.posts.length;
    await call(server, "b");
    expect(await world.next("tool_result", before)).toMatchObject({
      id: "b",
      text: expect.stringContaining("could not be renewed now"),
    });
    delete gives["error"];
    await call(server, "c");
    expect((await world.next("tool_result", before + 1)).text).toMatch(/^listed/);
  });
});
