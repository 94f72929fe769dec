import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { methods } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { type HostProcess, spawnHost, stdioHost } from "../support/host-process.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import type { WireClient } from "../support/wire-client.ts";

const MAX_LINE = 64 * 1024 * 1024;
const clientInfo = { name: "scenario", version: "1.0" };

async function freshClient(): Promise<{ host: HostProcess; client: WireClient }> {
  const host = await spawnHost();
  return { host, client: host.stdio() };
}

describe("initialize", () => {
  it("[INIT-1] is the first request; others are refused until it came", async () => {
    const { client } = await freshClient();
    for (const method of ["thread/start", "model/list", "server/diagnostics"]) {
      expect(await client.refusal(method, {})).toEqual({
        code: -32600,
        message: "Not initialized",
        data: { code: "notInitialized", retryable: false },
      });
    }
  });

  it("[INIT-2] is refused the second time, and what was agreed stays", async () => {
    const { client } = await freshClient();
    await client.initialize({ experimentalApi: true });
    const again = await client.refusal("initialize", {
      clientInfo,
      capabilities: { experimentalApi: false },
    });
    expect(again).toMatchObject({ code: -32600, message: "Already initialized" });
    expect((await client.refusal("initialize")).message).toBe("Already initialized");
    expect(await client.request("thread/start", { historyMode: "paginated" })).toHaveProperty("result");
  });

  it("[INIT-3] returns user agent, home and platform, and nothing else", async () => {
    const { host, client } = await freshClient();
    const result = await client.call("initialize", { clientInfo: { name: "my_ide", version: "9.8.7" } });
    expect(result).toEqual({
      userAgent: expect.stringMatching(/^my_ide\/0\.169\.0 \(.+; .+\) .+ \(my_ide; 9\.8\.7\)$/),
      codexHome: host.home,
      platformFamily: "unix",
      platformOs: { linux: "linux", darwin: "macos" }[process.platform as string],
    });
  });

  it("[INIT-3] of a client that acts for others does not make it their originator", async () => {
    for (const name of ["codex_app_server_daemon", "codex-backend"]) {
      const { client } = await freshClient();
      const { userAgent } = await client.call("initialize", { clientInfo: { name, version: "1.0.0" } });
      expect(userAgent).toMatch(/^codex_cli_rs\/0\.169\.0 /);
      expect(userAgent).toContain(`(${name}; 1.0.0)`);
      const { thread } = await client.call("thread/start", {});
      expect(thread.originator).toBe("codex_cli_rs");
    }
  });

  it("[INIT-4] is enough: a client that never says `initialized` is served", async () => {
    const { client } = await freshClient();
    await client.initialize();
    const threadId = await client.startThread();
    await client.turnCompleted(await client.say(threadId, "Hello"));
    const before = client.frames.length;
    client.notify("initialized");
    client.notify("initialized", { late: true });
    await client.call("model/list");
    expect(client.frames.length).toBe(before + 1);
  });

  it("[INIT-5] lets a client opt out of notifications by their exact names", async () => {
    const { client } = await freshClient();
    const optOutNotificationMethods = ["thread/started", "item/agentMessage/delta", "no/such", "turn"];
    await client.initialize({ optOutNotificationMethods });
    const threadId = await client.startThread();
    await client.turnCompleted(await client.say(threadId, "Hello"));
    const told = new Set(client.frames.map(({ method }) => method));
    for (const name of optOutNotificationMethods) expect(told).not.toContain(name);
    for (const name of ["turn/started", "item/completed", "turn/completed"]) expect(told).toContain(name);
  });

  it("[INIT-6] can be tried again when it was refused", async () => {
    const { client } = await freshClient();
    expect(await client.refusal("initialize", {})).toMatchObject({
      code: -32602,
      data: { code: "invalidParams", path: "clientInfo" },
    });
    expect(await client.refusal("initialize", { clientInfo: { name: "x" } })).toMatchObject({
      data: { path: "clientInfo.version" },
    });
    expect(
      (await client.refusal("initialize", { clientInfo: { name: "bad\nname", version: "1" } })).message,
    ).toBe("Invalid clientInfo.name: 'bad\nname'. Must be a valid HTTP header value.");
    await client.call("initialize", {
      clientInfo: { name: "", version: "", title: null },
      capabilities: null,
    });
    await client.call("model/list");
  });
});

describe("the experimental gate", () => {
  it("[GATE-1] [GATE-2] refuses methods and fields by their names", async () => {
    const { client } = await stdioHost();
    expect(await client.refusal("server/diagnostics", {})).toEqual({
      code: -32600,
      message: "server/diagnostics requires experimentalApi capability",
      data: { code: "experimentalRequired", retryable: false },
    });
    for (const [field, value] of Object.entries({
      historyMode: "paginated",
      environments: [],
      permissions: "x",
      experimentalRawEvents: true,
      runtimeWorkspaceRoots: [],
      dynamicTools: [],
    })) {
      expect(await client.refusal("thread/start", { [field]: value }), field).toMatchObject({
        code: -32600,
        message: `thread/start.${field} requires experimentalApi capability`,
      });
    }
    const granular = {
      sandbox_approval: true,
      rules: true,
      mcp_elicitations: true,
      request_permissions: true,
      skill_approval: true,
    };
    expect((await client.refusal("thread/start", { approvalPolicy: { granular } })).message).toBe(
      "askForApproval.granular requires experimentalApi capability",
    );
  });

  it("[GATE-3] treats null as absent", async () => {
    const { client } = await stdioHost();
    const params = {
      permissions: null,
      dynamicTools: null,
      experimentalRawEvents: null,
      cwd: null,
      model: null,
    };
    await client.call("thread/start", params);
    // What is not null but nothing else than the default is no use of it either.
    await client.call("thread/start", { experimentalRawEvents: false });
  });

  it("[GATE-4] is open with the capability", async () => {
    const { client } = await stdioHost({ capabilities: { experimentalApi: true } });
    await client.call("thread/start", { historyMode: "paginated", runtimeWorkspaceRoots: [] });
    const { error } = await client.request("server/diagnostics", {});
    if (error !== undefined) expect(error.data.code).toBe("methodNotImplemented");
  });
});

describe("a request", () => {
  it("[RPC-1] for an unknown method is refused with -32601", async () => {
    const { client } = await stdioHost();
    for (const method of [
      "no/such",
      "",
      "constructor",
      "__proto__",
      "turn/started",
      "initialized",
      "Initialize",
    ]) {
      expect(await client.refusal(method, {}), method).toEqual({
        code: -32601,
        message: `Method not found: ${method}`,
        data: { code: "methodNotFound", retryable: false },
      });
    }
    const long = await client.refusal("x".repeat(1_000_000));
    expect(long.message.length).toBeLessThan(1000);
  });

  it("[RPC-2] [RPC-6] for any method of the table is answered, served or not", async () => {
    const { client } = await stdioHost({ capabilities: { experimentalApi: true } });
    for (const method of Object.keys(methods)) {
      if (method === "initialize") continue;
      const { code, data } = await client.refusal(method, 5);
      expect(data.retryable).toBe(false);
      // A number is no params of any method, so what is served says that.
      if (data.code === "methodNotImplemented") expect(code, method).toBe(-32601);
      else expect([code, data.code, data.path], method).toEqual([-32602, "invalidParams", ""]);
    }
  });

  it("[RPC-3] [RPC-10] with bad params gets an error that names the field", async () => {
    const { client } = await stdioHost();
    const threadId = "01a1e0d3-0000-7000-8000-000000000000";
    const cases: [string, unknown, string][] = [
      ["thread/start", [], ""],
      ["thread/start", "x", ""],
      ["thread/start", { cwd: 5 }, "cwd"],
      ["thread/start", { cwd: "/tmp\0" }, "cwd"],
      ["skills/list", { cwds: ["/tmp", "\0"] }, "cwds[1]"],
      ["thread/start", { approvalPolicy: "sometimes" }, "approvalPolicy"],
      ["thread/start", { sandbox: "zzz" }, "sandbox"],
      ["thread/start", { sandbox: "READ-ONLY" }, "sandbox"],
      ["thread/start", { personality: 1 }, "personality"],
      ["turn/start", { input: [] }, "threadId"],
      ["turn/start", { threadId }, "input"],
      ["turn/start", { threadId: 5, input: [] }, "threadId"],
      ["turn/start", { threadId, input: "hi" }, "input"],
      ["turn/start", { threadId, input: [{ type: "nope" }] }, "input[0].type"],
      ["turn/start", { threadId, input: [{ type: "text", text: "a" }, { type: "text" }] }, "input[1].text"],
      ["turn/start", { threadId, input: [{}] }, "input[0].type"],
      ["turn/start", { threadId, input: [], sandboxPolicy: { type: "x" } }, "sandboxPolicy.type"],
      ["turn/interrupt", { threadId }, "turnId"],
      ["model/list", { limit: "a" }, "limit"],
      ["model/list", { limit: -1 }, "limit"],
      ["model/list", { limit: 1.5 }, "limit"],
    ];
    for (const [method, params, path] of cases) {
      const { code, data } = await client.refusal(method, params);
      expect({ code, data }, JSON.stringify(params)).toEqual({
        code: -32602,
        data: { code: "invalidParams", retryable: false, path },
      });
    }
  });

  it("[RPC-4] that is not JSON gets -32700 and the id null, and the next one is served", async () => {
    const { client } = await stdioHost();
    for (const text of ["{bad json", "hello", "   ", '{"id":1,"method":"model/list"', "{'id':1}", "\u0000"]) {
      const from = client.frames.length;
      client.sendText(text);
      await client.call("model/list");
      const [first] = client.frames.slice(from);
      expect(first, text).toMatchObject({
        id: null,
        error: { code: -32700, data: { code: "malformedJson" } },
      });
      expect(client.frames.length).toBe(from + 2);
    }
  });

  it("[RPC-5] in a batch, or that is not a message, gets one -32600", async () => {
    const { client } = await stdioHost();
    const batch = [
      { id: 900, method: "thread/start" },
      { id: 901, method: "model/list" },
    ];
    const cases: [unknown, unknown][] = [
      [batch, null],
      [[], null],
      [5, null],
      ["text", null],
      [null, null],
      [true, null],
      [{}, null],
      [{ id: 511 }, 511],
      [{ id: "a", method: 5 }, "a"],
      [{ id: {}, method: "model/list" }, null],
      [{ id: true, method: "model/list" }, null],
      [{ id: null, method: "model/list" }, null],
      [{ error: { code: 1, message: "x" } }, null],
    ];
    for (const [message, id] of cases) {
      const from = client.frames.length;
      client.sendText(JSON.stringify(message));
      const { data } = await client.call("thread/loaded/list");
      expect(data).toEqual([]);
      const [first, ...rest] = client.frames.slice(from);
      expect(first, JSON.stringify(message)).toMatchObject({
        id,
        error: { code: -32600, data: { code: "invalidFrame", retryable: false } },
      });
      expect(rest).toHaveLength(1);
    }
  });

  it("[RPC-7] gets its id back as it was written", async () => {
    const { client } = await stdioHost();
    const ids = [
      "0",
      "-7",
      "1.5",
      "-0.25e-7",
      "9007199254740993",
      "9223372036854775807",
      "18446744073709551615",
      "123456789012345678901234567890",
      "1e400",
      '""',
      '"abc"',
      '"\\u2028 \\" \\\\ é 🧵"',
      '"9223372036854775807"',
    ];
    for (const id of ids) {
      for (const method of ["thread/loaded/list", "no/such"]) {
        const from = client.frames.length;
        // An id further down belongs to someone else, and so does text that looks like one.
        client.sendText(`{"params":{"id":2.5,"x":"\\"id\\":3.5"}, "id" : ${id}, "method":"${method}"}`);
        await client.until(() => client.frames.length > from, `reply to id ${id}`);
        const { text } = client.frames[from]!;
        const wanted = id.startsWith('"') ? JSON.stringify(JSON.parse(id)) : id;
        expect(text.includes(`"id":${wanted},`) || text.endsWith(`"id":${wanted}}`), text).toBe(true);
      }
    }
  });

  it("[RPC-8] may leave its params out", async () => {
    const { client } = await stdioHost();
    for (const method of ["thread/start", "model/list", "thread/loaded/list"]) {
      expect(await client.request(method)).toHaveProperty("result");
      expect(await client.request(method, null)).toHaveProperty("result");
      expect(await client.request(method, {})).toHaveProperty("result");
    }
  });

  it("[RPC-9] [RPC-12] may contain unknown fields", async () => {
    const { client } = await stdioHost();
    client.send({
      jsonrpc: "2.0",
      id: "odd",
      method: "thread/start",
      params: { persistExtendedHistory: true, zzz: { deep: [1] } },
      trace: { traceparent: "x" },
      meta: null,
    });
    const reply = await client.waitFor(({ id }) => id === "odd", "reply");
    expect(reply).toHaveProperty("result.thread.id");
    expect(client.frames.some(({ text }) => text.includes("jsonrpc"))).toBe(false);
  });

  it("[RPC-11] may use either documented spelling of values", async () => {
    const { client } = await stdioHost();
    for (const sandbox of ["workspace-write", "workspaceWrite"]) {
      expect((await client.call("thread/start", { sandbox })).sandbox.type).toBe("workspaceWrite");
    }
    for (const approvalPolicy of ["on-request", "onRequest"]) {
      expect((await client.call("thread/start", { approvalPolicy })).approvalPolicy).toBe("on-request");
    }
    const threadId = await client.startThread();
    for (const type of ["readOnly", "read-only"]) {
      const { turn } = await client.call("turn/start", { threadId, input: [], sandboxPolicy: { type } });
      await client.turnCompleted(turn.id);
    }
  });

  it("[RPC-13] gets a reply, and nothing else does", async () => {
    const { client } = await stdioHost();
    const from = client.frames.length;
    client.notify("no/such", { x: 1 });
    client.notify("thread/start", {});
    client.send({ id: 777, result: {} });
    client.send({ id: "zz", error: { code: 1, message: "x" } });
    expect((await client.call("thread/loaded/list")).data).toEqual([]);
    expect(client.frames.length).toBe(from + 1);
  });
});

describe("lines on stdio", () => {
  it("[STDIO-1] end at LF and nowhere else", async () => {
    const { client } = await stdioHost();
    const threadId = await client.startThread();
    const said = "one\u2028two\u2029three\u0085four\rfive\u000bsix";
    const params = JSON.stringify({ threadId, input: [{ type: "text", text: said }] });
    // Raw, as JavaScript writes it: JSON.stringify escapes the CR, so it is put between the tokens too.
    client.sendText(`{"id":"u","method":"turn/start",\r"params":${params}}\r`);
    const { result } = await client.waitFor(({ id }) => id === "u", "reply");
    const completed = await client.turnCompleted(result.turn.id);
    expect(completed.params.turn.items[0].text).toContain(said);
    const user = client.told("item/completed").find(({ params }) => params.item.type === "userMessage");
    expect(user!.params.item.content[0].text).toBe(said);
  });

  it("[STDIO-1] may come in pieces, several at once, with empty ones between and none at the end", async () => {
    const { host, client } = await freshClient();
    const lines = [
      JSON.stringify({ id: 1, method: "initialize", params: { clientInfo: { name: "ü", version: "1" } } }),
      "",
      "\r",
      JSON.stringify({ id: 2, method: "thread/loaded/list" }),
      JSON.stringify({ id: 3, method: "thread/loaded/list", params: { note: "🧵" } }),
    ];
    for (const line of lines) client.remember(line);
    for (const byte of Buffer.from(lines.join("\n"))) client.sendBytes(Uint8Array.of(byte));
    client.end();
    expect(await host.exited).toEqual({ code: 0, signal: null });
    expect(client.frames.map(({ id, error }) => [id, error])).toEqual([
      [1, undefined],
      [2, undefined],
      [3, undefined],
    ]);
  });

  it("[STDIO-2] [STDIO-3] of 64 MiB work, and longer ones are skipped with an error", async () => {
    const { client } = await stdioHost();
    const line = (length: number, id: string): string => {
      const head = `{"id":"${id}","method":"thread/loaded/list","params":{"pad":"`;
      return `${head}${"x".repeat(length - head.length - 3)}"}}`;
    };
    client.sendLines([line(MAX_LINE, "fits"), line(MAX_LINE + 1, "long")]);
    client.sendText('{"id":"after","method":"model/list"}');
    await client.waitFor(({ id }) => id === "after", "reply after the long line");
    const [, fits, long] = client.frames;
    expect(fits).toMatchObject({ id: "fits", result: { data: [] } });
    expect(long).toMatchObject({ id: null, error: { code: -32600, data: { code: "messageTooLarge" } } });
    expect(client.frames).toHaveLength(4);
  });

  it("[STDIO-4] of bytes that are no text get an error, and the next one is served", async () => {
    const { client } = await stdioHost();
    const from = client.frames.length;
    client.sendBytes(Buffer.from([0x7b, 0xff, 0xfe, 0x7d, 0x0a]));
    await client.call("model/list");
    expect(client.frames[from]).toMatchObject({ id: null, error: { code: -32700 } });
  });
});

describe("the protocol as files", () => {
  it("[RPC-14] is written as JSON Schema and as TypeScript", async () => {
    const folder = await mkdtemp(join(tmpdir(), "bobbin-generate-"));
    try {
      for (const [command, flags, knows] of [
        ["generate-json-schema", [], false],
        ["generate-json-schema", ["--experimental"], true],
        ["generate-ts", [], false],
        ["generate-ts", ["--experimental"], true],
      ] as const) {
        const out = join(folder, `${command}${flags.length}`);
        const { code, stdout } = await runBobbin(["app-server", command, "--out", out, ...flags]);
        expect([code, stdout]).toEqual([0, ""]);
        const files = await readdir(out, { recursive: true });
        const texts = await Promise.all(
          files.filter((name) => /\.(json|ts)$/.test(name)).map((name) => readFile(join(out, name), "utf8")),
        );
        expect(texts.some((text) => text.includes("thread/start"))).toBe(true);
        expect(
          texts.some((text) => text.includes("server/diagnostics")),
          command,
        ).toBe(knows);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
