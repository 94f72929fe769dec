import { describe, expect, it } from "vitest";
import { mergeMcpServers } from "../../config/mcp-servers.ts";
import { digestOf, type McpTarget, targetOf } from "./connection-target.ts";
import type { McpServerSettings } from "./mcp-server-settings.ts";
import { keepsState } from "./stateful-server-check.ts";

const settings = (entry: object): McpServerSettings => {
  const { servers, problems } = mergeMcpServers([{ table: { own: entry }, origin: "host" }]);
  expect(problems).toEqual([]);
  return servers[0]!;
};
const env = {
  PATH: "/bin",
  HOME: "/home/x",
  OPENAI_API_KEY: "secret",
  LD_PRELOAD: "evil",
  TOKEN: "t",
  EMPTY: "",
};
const target = (entry: object): McpTarget =>
  targetOf(settings(entry), { cwd: "/work", roots: ["/work"], env });

describe("the environment of a server", () => {
  it("[MCP-12] has a few variables of the host, and what is configured", () => {
    const { transport } = target({
      command: "x",
      env: { A: "1", HOME: "/elsewhere" },
      env_vars: ["TOKEN", "MISSING"],
    });
    expect(transport).toMatchObject({ env: { PATH: "/bin", HOME: "/elsewhere", A: "1", TOKEN: "t" } });
    expect(Object.keys((transport as { env: object }).env).sort()).toEqual(["A", "HOME", "PATH", "TOKEN"]);
  });

  it("[MCP-12] is that of its headers' helper, too", () => {
    const { transport } = target({ url: "http://x", http_headers_helper: "print" });
    expect(transport).toMatchObject({
      helper: { argv: ["/bin/sh", "-c", "print"], env: { PATH: "/bin", HOME: "/home/x" } },
    });
    expect(JSON.stringify(transport)).not.toContain("secret");
  });
});

describe("a target", () => {
  it("has a folder of its own, or the thread's", () => {
    expect(target({ command: "x" }).transport).toMatchObject({ cwd: "/work" });
    expect(target({ command: "x", cwd: "sub" }).transport).toMatchObject({ cwd: "/work/sub" });
    expect(target({ command: "x", cwd: "/srv" }).transport).toMatchObject({ cwd: "/srv" });
  });

  it("is missing if the variable with its token is", () => {
    expect(() => target({ url: "http://x", bearer_token_env_var: "MISSING" })).toThrow("MISSING");
    expect(() => target({ url: "http://x", bearer_token_env_var: "EMPTY" })).toThrow("EMPTY");
  });

  it("has the same digest whatever the order of its keys", () => {
    expect(digestOf({ a: 1, b: [{ c: 2, d: 3 }] })).toBe(digestOf({ b: [{ d: 3, c: 2 }], a: 1 }));
    expect(digestOf({ a: 1 })).not.toBe(digestOf({ a: 2 }));
    expect(digestOf(["ab", "c"])).not.toBe(digestOf(["a", "bc"]));
  });
});

describe("isolation", () => {
  it.each([
    [{ command: "npx", args: ["-y", "@playwright/mcp@latest"] }, true],
    [{ command: "npx", args: ["chrome-devtools-mcp@1.2.3"] }, true],
    [{ command: "node", args: ["/opt/node_modules/@playwright/mcp/cli.js"] }, true],
    [{ command: "npx", args: ["@playwright/mcp@latest"], isolation: "shared" }, false],
    [{ command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", "/playwright"] }, false],
    [{ command: "own", isolation: "thread" }, true],
    [{ url: "http://x" }, false],
  ])("[MCP-7] is usual for browsers, and else as it is configured: %j", (entry, expected) => {
    expect(keepsState(settings(entry))).toBe(expected);
  });
});
