import { describe, expect, it } from "vitest";
import { mergeMcpServers, readMcpServers } from "./mcp-servers.ts";

describe("[mcp_servers] in config.toml", () => {
  it("[MCP-10] is read with the keys of the Codex CLI, and the usual values", () => {
    const { servers, problems } = readMcpServers({
      mcp_servers: {
        files: {
          command: "npx",
          args: ["-y", "server"],
          env: { A: "1", N: 2 },
          env_vars: ["TOKEN", { name: "OTHER" }, { name: "THIRD", source: "local" }],
          cwd: "sub",
          startup_timeout_sec: 1.5,
          tool_timeout_sec: 60,
          required: true,
          enabled_tools: ["a"],
          disabled_tools: ["b"],
          default_tools_approval_mode: "prompt",
          tools: { a: { approval_mode: "approve" }, b: {} },
          supports_parallel_tool_calls: true,
          isolation: "thread",
        },
        web: {
          url: "https://mcp.example/mcp?x=1",
          bearer_token_env_var: "TOKEN",
          http_headers: { "X-A": "1" },
          env_http_headers: { "X-B": "B" },
          http_headers_helper: "print-headers",
          startup_timeout_ms: 100n,
          enabled: false,
          scopes: ["read"],
          oauth: { client_id: "me", callback_port: 1234 },
          oauth_resource: "https://mcp.example",
        },
      },
    });
    expect(problems).toEqual([]);
    expect(servers).toEqual([
      {
        name: "files",
        transport: {
          kind: "stdio",
          command: "npx",
          args: ["-y", "server"],
          env: { A: "1", N: "2" },
          envVars: ["TOKEN", "OTHER", "THIRD"],
          cwd: "sub",
        },
        startupTimeoutMs: 1500,
        toolTimeoutMs: 60_000,
        enabled: true,
        required: true,
        enabledTools: ["a"],
        disabledTools: ["b"],
        defaultApprovalMode: "prompt",
        approvalModes: { a: "approve" },
        supportsParallelToolCalls: true,
        scopes: null,
        oauth: { clientId: null, clientSecret: null, callbackPort: null },
        oauthResource: null,
        isolation: "thread",
        origin: "host",
      },
      {
        name: "web",
        transport: {
          kind: "http",
          url: "https://mcp.example/mcp?x=1",
          bearerTokenEnvVar: "TOKEN",
          headers: { "x-a": "1" },
          envHeaders: { "x-b": "B" },
          headersHelper: "print-headers",
        },
        startupTimeoutMs: 100,
        toolTimeoutMs: 300_000,
        enabled: false,
        required: false,
        enabledTools: null,
        disabledTools: [],
        defaultApprovalMode: null,
        approvalModes: {},
        supportsParallelToolCalls: false,
        scopes: ["read"],
        oauth: { clientId: "me", clientSecret: null, callbackPort: 1234 },
        oauthResource: "https://mcp.example",
        isolation: null,
        origin: "host",
      },
    ]);
  });

  it.each([
    [{ a: 7 }, "mcp_servers.a: expected a table"],
    [{ a: {} }, "mcp_servers.a.command, or mcp_servers.a.url, is required"],
    [
      { a: { command: "x", url: "http://x" } },
      "mcp_servers.a.url cannot be set beside mcp_servers.a.command",
    ],
    [{ a: { command: 1 } }, "mcp_servers.a.command: expected a string"],
    [{ a: { command: " " } }, "mcp_servers.a.command is empty"],
    [{ a: { command: "x", args: "y" } }, "mcp_servers.a.args: expected a list of strings"],
    [{ a: { command: "x", env: { "A=": "1" } } }, "mcp_servers.a.env.A=: expected a variable's name"],
    [{ a: { command: "x", env_vars: [1] } }, "mcp_servers.a.env_vars: expected a list"],
    [
      { a: { command: "x", env_vars: [{ name: "A", source: "remote" }] } },
      "mcp_servers.a.env_vars: expected a list",
    ],
    [{ a: { command: "x", http_headers: {} } }, "mcp_servers.a.http_headers is for servers with a url"],
    [{ a: { url: "ftp://x" } }, "mcp_servers.a.url: expected an http:// or https:// address"],
    [{ a: { url: "http://me:pw@x" } }, "mcp_servers.a.url: credentials do not belong"],
    [{ a: { url: "http://x", cwd: "/" } }, "mcp_servers.a.cwd is for servers with a command"],
    [{ a: { url: "http://x", bearer_token: "y" } }, "mcp_servers.a.bearer_token cannot be set"],
    [{ a: { url: "http://x", http_headers: { "a b": "c" } } }, "mcp_servers.a.http_headers.a b"],
    [{ a: { url: "http://x", http_headers_helper: "" } }, "mcp_servers.a.http_headers_helper is empty"],
    [{ a: { url: "http://x", oauth: { callback_port: 0 } } }, "mcp_servers.a.oauth.callback_port"],
    [{ a: { command: "x", startup_timeout_sec: 0 } }, "mcp_servers.a.startup_timeout_sec: expected seconds"],
    [{ a: { command: "x", tool_timeout_sec: "1" } }, "mcp_servers.a.tool_timeout_sec: expected seconds"],
    [{ a: { command: "x", required: "yes" } }, "mcp_servers.a.required: expected true or false"],
    [
      { a: { command: "x", default_tools_approval_mode: "ask" } },
      'mcp_servers.a.default_tools_approval_mode: "ask"',
    ],
    [
      { a: { command: "x", tools: { t: { approval_mode: "no" } } } },
      'mcp_servers.a.tools.t.approval_mode: "no"',
    ],
    [{ a: { command: "x", isolation: "process" } }, 'mcp_servers.a.isolation: "process"'],
    [{ "a b": { command: "x" } }, "the name of an MCP server"],
  ])("[MCP-10] leaves out a server that is wrong, names the key, and keeps the others: %j", (wrong, why) => {
    const { servers, problems } = readMcpServers({ mcp_servers: { ...wrong, good: { command: "x" } } });
    expect(problems.length).toBe(1);
    expect(problems[0]).toContain(why);
    expect(servers.map(({ name }) => name)).toEqual(["good"]);
  });

  it("[MCP-10] is nothing if it is no table", () => {
    expect(readMcpServers({ mcp_servers: [] })).toMatchObject({ servers: [] });
    expect(readMcpServers({}).problems).toEqual([]);
  });
});

describe("layers of [mcp_servers]", () => {
  const host = {
    files: { command: "server", env: { TOKEN: "secret" }, tools: { a: { approval_mode: "prompt" } } },
    web: { url: "http://x", http_headers: { authorization: "secret" } },
  };
  const merged = (own: object) =>
    mergeMcpServers([
      { table: host, origin: "host" },
      { table: own as never, origin: "thread" },
    ]);

  it("[MCP-11] add servers, leave some out and change single keys of others", () => {
    const { servers, problems } = merged({
      files: { enabled: false, tools: { b: { approval_mode: "approve" } } },
      web: false,
      more: { command: "x" },
    });
    expect(problems).toEqual([]);
    expect(servers).toMatchObject([
      {
        name: "files",
        enabled: false,
        approvalModes: { a: "prompt", b: "approve" },
        transport: { env: { TOKEN: "secret" } },
        origin: "host",
      },
      { name: "more", origin: "thread" },
    ]);
  });

  it("[MCP-11] never send the environment or the headers of a server to another one of its name", () => {
    const { servers } = merged({ files: { command: "other" }, web: { url: "http://elsewhere" } });
    expect(JSON.stringify(servers)).not.toContain("secret");
    expect(servers.map(({ origin }) => origin)).toEqual(["thread", "thread"]);
  });

  it("[MCP-11] may disable what is not there", () => {
    expect(merged({ nobody: { enabled: false } }).problems).toEqual([]);
    expect(merged({ nobody: { required: true } }).problems).toEqual([
      "mcp_servers.nobody.command, or mcp_servers.nobody.url, is required",
    ]);
  });
});
