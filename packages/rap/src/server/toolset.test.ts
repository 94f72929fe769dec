import { describe, expect, it } from "vitest";
import { z } from "zod";
import { RapWorld } from "../../../../test/support/rap-world.ts";
import { parseToolset } from "../wire/index.ts";
import { bearer, createToolServer, memoryData, noAuth, type Tool, type ToolServer, tool } from "./index.ts";

const ping = tool({ name: "ping", description: "Answers.", run: () => "pong" });

const named = (name: string, more: Partial<Tool> = {}): Tool =>
  tool({ name, description: "x", run: () => "", ...more });

async function discover(
  server: ToolServer,
  base = "https://tools.example.com",
): Promise<Record<string, unknown>> {
  const response = await server.fetch(new Request(`${base}/.well-known/rap-toolset`));
  expect(response.status).toBe(200);
  expect(response.headers.get("Content-Type")).toMatch(/^application\/json/);
  return (await response.json()) as Record<string, unknown>;
}

describe("discovery", () => {
  it("[RAPS-1] [RAPS-5] returns the whole toolset, and the endpoint that it names accepts calls", async () => {
    const world = new RapWorld();
    const annotations = { readOnly: true, "x-ours": 1 };
    const tools = [ping, named("other", { annotations, displayScript: '"other"' })];
    const server = world.server({ name: "two", description: "Two tools", tools });
    const told = await discover(server);
    expect(told).toEqual({
      name: "two",
      description: "Two tools",
      endpoint: "https://tools.example.com/invoke",
      tools: [
        {
          name: "ping",
          description: "Answers.",
          inputSchema: { type: "object", additionalProperties: false },
        },
        {
          name: "other",
          description: "x",
          inputSchema: { type: "object", additionalProperties: false },
          annotations,
          displayScript: '"other"',
        },
      ],
    });
    expect(parseToolset(told).ok).toBe(true);
    const body = {
      operation: "ping",
      arguments: {},
      id: "c",
      group_id: "t",
      callback_url: "https://host.example.com/",
    };
    const response = await server.fetch(
      new Request(String(told["endpoint"]), {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body),
      }),
    );
    expect(response.status).toBe(200);
    expect((await world.next("tool_result")).text).toBe("pong");
  });

  it("[RAPS-1] is served under the configured base URL, including its path", async () => {
    const server = new RapWorld().server({ url: "https://example.com/tools/ping/", tools: [ping] });
    const told = await discover(server, "https://example.com/tools/ping");
    expect(told["endpoint"]).toBe("https://example.com/tools/ping/invoke");
    const elsewhere = await server.fetch(new Request("https://example.com/.well-known/rap-toolset"));
    expect(elsewhere.status).toBe(404);
  });

  it("[RAPS-2] is served beside the two notices, and other paths and methods are refused", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [ping] });
    expect((await world.post(server, "/close_thread", { thread_id: "t" })).status).toBe(200);
    expect(
      (await world.post(server, "/cancel_tool_call", { thread_id: "t", tool_call_id: "c" })).status,
    ).toBe(200);
    expect((await world.post(server, "/other", {})).status).toBe(404);
    expect((await world.post(server, "/.well-known/rap-toolset", {})).status).toBe(405);
    const got = await server.fetch(new Request("https://tools.example.com/close_thread"));
    expect([got.status, got.headers.get("Allow")]).toEqual([405, "POST"]);
  });

  it("[RAPS-3] declares needsMigration only for a server with a migrate hook", async () => {
    const world = new RapWorld();
    const without = world.server({ tools: [ping] });
    expect(await discover(without)).not.toHaveProperty("needsMigration");
    expect((await world.post(without, "/migrate", {})).status).toBe(404);
    const having = world.server({ tools: [ping], migrate: async () => {} });
    expect(await discover(having)).toHaveProperty("needsMigration", true);
    expect((await world.post(having, "/migrate", {})).status).toBe(400);
  });

  it("[RAPS-4] waits until the store is loaded", async () => {
    const data = memoryData();
    let open = (): void => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const list = async (prefix: string) => {
      await gate;
      return data.store.list(prefix);
    };
    const server = new RapWorld().server({ tools: [ping], data: { store: { ...data.store, list } } });
    let answered = false;
    const told = discover(server).then(() => {
      answered = true;
    });
    await new RapWorld().quiet();
    expect(answered).toBe(false);
    open();
    await told;
  });

  it("[RAPS-8] converts zod schemas to JSON Schema draft 2020-12, with their descriptions", async () => {
    const input = z.object({ city: z.string().describe("Where"), days: z.int().min(1).optional() });
    const server = new RapWorld().server({ tools: [named("weather", { input })] });
    const [weather] = (await discover(server))["tools"] as { inputSchema: Record<string, unknown> }[];
    expect(weather!.inputSchema).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: { city: { type: "string", description: "Where" }, days: { type: "integer", minimum: 1 } },
      required: ["city"],
    });
  });

  it("[RAPS-9] describes a tool without a schema as one without arguments", async () => {
    const [told] = (await discover(new RapWorld().server({ tools: [ping] })))["tools"] as object[];
    expect(told).toHaveProperty("inputSchema", { type: "object", additionalProperties: false });
  });

  it("[RAPS-38] needs the credentials of the server, and so do calls", async () => {
    const world = new RapWorld();
    const server = world.server({
      tools: [ping],
      auth: bearer({ a: "token-of-a", b: ["token-of-b", "next-of-b"] }),
    });
    const asked = async (headers: Record<string, string>): Promise<number> =>
      (await server.fetch(new Request("https://x/.well-known/rap-toolset", { headers }))).status;
    expect(await asked({})).toBe(401);
    expect(await asked({ Authorization: "Bearer token-of-c" })).toBe(401);
    expect(await asked({ Authorization: "Basic token-of-a" })).toBe(401);
    for (const token of ["token-of-a", "token-of-b", "next-of-b"])
      expect(await asked({ authorization: `bearer ${token}` })).toBe(200);
    const refused = await world.call(server, "ping");
    expect([refused.status, await refused.text()]).toEqual([401, ""]);
    expect(
      (await world.call(server, "ping", {}, { headers: { Authorization: "Bearer next-of-b" } })).status,
    ).toBe(200);
    await world.next("tool_result");
    expect(world.posts).toHaveLength(1);
  });
});

describe("a server that hosts would refuse", () => {
  const make = (more: object): (() => unknown) => {
    return () => createToolServer({ name: "test", auth: noAuth, tools: [ping], ...more });
  };

  it("[RAPS-6] cannot be created", () => {
    expect(make({ name: "" })).toThrow(/name must not be empty/);
    expect(make({ name: "n".repeat(129) })).toThrow(/longer than 128/);
    expect(make({ tools: [] })).toThrow(/tools must have 1/);
    expect(make({ url: "ftp://tools.example.com" })).toThrow(/endpoint must begin with http/);
    expect(make({ tools: [named("a", { input: { type: "strange" } })] })).toThrow(/inputSchema.type/);
    expect(make({ tools: [named("a", { input: { $ref: "#/nowhere" } })] })).toThrow(/the tool "a"/);
    expect(make({ tools: [named("a", { input: z.string() })] })).toThrow(/must describe an object/);
    expect(make({ tools: [{ ...ping, description: undefined }] })).toThrow(/description must be a string/);
  });

  it("[RAPS-7] cannot be created with invalid tool names", () => {
    for (const name of ["", "a b", "ä", "a.b", "a/b", "n".repeat(129)])
      expect(make({ tools: [named(name)] }), name).toThrow(/name must/);
    expect(make({ tools: [named("a"), named("a")] })).toThrow(/another tool has the same name/);
    expect(make({ tools: [named("Deploy-2_x"), named("deploy-2_x"), named("n".repeat(128))] })).not.toThrow();
  });

  it("[RAPS-10] cannot be created with custom annotations without x-", () => {
    expect(make({ tools: [named("a", { annotations: { priority: 1 } as never })] })).toThrow(/begin with x-/);
    expect(make({ tools: [named("a", { annotations: { "x-priority": 1 } })] })).not.toThrow();
  });

  it("[RAPS-11] cannot be created with the tool name that is reserved for events", () => {
    expect(make({ tools: [named("receive_event__injected")] })).toThrow(/reserved for hosts/);
  });

  it("[RAPS-12] cannot be created with a missing or invalid OAuth provider", () => {
    const github = {
      authorizationUrl: "https://login.example.com/authorize",
      tokenUrl: "https://login.example.com/token",
      clientId: "c",
    };
    const oauth = { secret: "0123456789abcdef", providers: { github } };
    const url = "https://tools.example.com";
    const needing = named("a", { annotations: { requiresAuth: "github" } });
    expect(make({ url, oauth, tools: [needing] })).not.toThrow();
    expect(make({ url, oauth, tools: [named("a", { annotations: { requiresAuth: "gitlab" } })] })).toThrow(
      /gitlab/,
    );
    expect(make({ oauth, tools: [needing] })).toThrow(/`oauth` needs `url`/);
    const open = { ...oauth, providers: { github: { ...github, tokenUrl: "http://login.example.com" } } };
    expect(make({ url, oauth: open, tools: [needing] })).toThrow(/https/);
    expect(make({ url, oauth: { ...oauth, secret: "short" }, tools: [needing] })).toThrow(/at least 16/);
  });

  it("cannot be created without a token, or with subscriptions but no `data`", () => {
    expect(() => bearer(undefined)).toThrow(/environment variable/);
    expect(() => bearer({ a: "long-enough", b: "" })).toThrow(/8 or more/);
    expect(make({ tools: [named("a", { listen: () => {} })] })).toThrow(/needs the option `data`/);
  });
});
