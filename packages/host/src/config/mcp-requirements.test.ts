import { describe, expect, it } from "vitest";
import { allowsServer, readMcpRules } from "./mcp-requirements.ts";
import { readMcpServers } from "./mcp-servers.ts";

const rules = (identity: unknown) => readMcpRules({ mcp_servers: { a: { identity } } });
const allows = (identity: unknown, server: object): boolean =>
  allowsServer(rules(identity), readMcpServers({ mcp_servers: { a: server } }).servers[0]!);

describe("the rules for MCP servers", () => {
  it("allow all where there are none, and none where the list is empty", () => {
    const [server] = readMcpServers({ mcp_servers: { a: { command: "x" } } }).servers;
    expect(allowsServer(readMcpRules({}), server!)).toBe(true);
    expect(allowsServer(readMcpRules({ mcp_servers: {} }), server!)).toBe(false);
  });

  it("allow a program with any arguments, or with those that match", () => {
    expect(allows({ command: "x" }, { command: "x", args: ["1"] })).toBe(true);
    expect(allows({ command: "x" }, { command: "/bin/x" })).toBe(false);
    const one = { command: { executable: "x", args: [{ match: "regex", expression: "a+|b" }] } };
    expect(allows(one, { command: "x", args: ["aaa"] })).toBe(true);
    expect(allows(one, { command: "x", args: ["aab"] })).toBe(false);
    expect(allows(one, { command: "x", args: ["aaa\n"] })).toBe(false);
    expect(allows(one, { command: "x" })).toBe(false);
  });

  it("allow an address, or those that match", () => {
    expect(allows({ url: "https://a.example/" }, { url: "https://a.example/" })).toBe(true);
    expect(allows({ url: "https://a.example/" }, { url: "https://a.example/b" })).toBe(false);
    const prefix = { url: { match: "prefix", value: "https://a.example/" } };
    expect(allows(prefix, { url: "https://a.example/b" })).toBe(true);
    expect(allows(prefix, { command: "https://a.example/b" })).toBe(false);
  });

  it.each([
    [undefined, "mcp_servers.a.identity is required"],
    [{}, "identity.command, or"],
    [{ command: "x", url: "y" }, "identity.command, or"],
    [{ command: { args: [] } }, "command.executable is required"],
    [{ command: { executable: "x" } }, "command.args: expected a list"],
    [{ url: { match: "like", value: "x" } }, '"like" is not one of exact, prefix, regex'],
    [{ url: { match: "exact" } }, "url.value is required"],
    [{ url: { match: "regex", expression: "(" } }, "is no regular expression"],
  ])("refuse %j", (identity, words) => {
    expect(() => rules(identity)).toThrow(words);
  });
});
