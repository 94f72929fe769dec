import type { ConfigLayer } from "@bobbin/protocol";
import { expect, it } from "vitest";
import { mcpApprovals } from "./mcp-approvals.ts";

function layer(name: ConfigLayer["name"], config: unknown): ConfigLayer {
  return { name, config, version: "1", disabledReason: null };
}

it("lists the tools that the user's own config.toml allows, with keys that can be written", () => {
  const approve = { approval_mode: "approve" };
  const config = {
    mcp_servers: {
      own: { command: "x", tools: { look: approve, send: { approval_mode: "prompt" }, other: {} } },
      'a "b".c': { tools: { "d\\e": approve } },
      plain: { command: "y" },
    },
  };
  const layers = [
    layer({ type: "sessionFlags" }, { mcp_servers: { flag: { tools: { look: approve } } } }),
    layer(
      { type: "user", file: "/h/p.toml", profile: "p" },
      { mcp_servers: { p: { tools: { t: approve } } } },
    ),
    layer({ type: "user", file: "/h/config.toml", profile: null }, config),
  ];
  expect(mcpApprovals(layers)).toEqual([
    { server: "own", tool: "look", keyPath: '"mcp_servers"."own"."tools"."look"."approval_mode"' },
    {
      server: 'a "b".c',
      tool: "d\\e",
      keyPath: '"mcp_servers"."a \\"b\\".c"."tools"."d\\\\e"."approval_mode"',
    },
  ]);
});

it.each([[[]], [[layer({ type: "user", file: "/h/config.toml", profile: null }, { mcp_servers: "x" })]]])(
  "lists nothing without such tools",
  (layers) => {
    expect(mcpApprovals(layers)).toEqual([]);
  },
);
