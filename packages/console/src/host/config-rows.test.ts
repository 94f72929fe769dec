import type { ConfigReadResponse } from "@bobbin/protocol";
import { expect, it } from "vitest";
import { configRows } from "./config-rows.ts";

it("shows the keys that are set with their origins, also of keys in tables", () => {
  const user = { name: { type: "user", file: "/home/me/config.toml", profile: null }, version: "1" };
  const flags = { name: { type: "sessionFlags" }, version: "1" };
  const read = {
    config: {
      model: "m",
      sandbox_mode: null,
      mcp_servers: { docs: { command: "x", args: ["a"] } },
      notify: ["say", "done"],
      web: false,
    },
    layers: null,
    // The entries of a list have origins, and the list itself has none.
    origins: { "mcp_servers.docs": user, "notify.0": flags, "notify.1": flags, web: flags },
  };
  expect(configRows(read as unknown as ConfigReadResponse)).toEqual([
    { key: "mcp_servers.docs.args", value: '["a"]', origin: "/home/me/config.toml" },
    { key: "mcp_servers.docs.command", value: "x", origin: "/home/me/config.toml" },
    { key: "model", value: "m", origin: "default" },
    { key: "notify", value: '["say","done"]', origin: "flags of the command line" },
    { key: "web", value: "false", origin: "flags of the command line" },
  ]);
});
