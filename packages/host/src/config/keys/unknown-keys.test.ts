import { describe, expect, it } from "vitest";
import { nearestName } from "./nearest-name.ts";
import { unknownKeys } from "./unknown-keys.ts";

const found = (table: object) =>
  unknownKeys(table as never).map(({ path, likely }) => [path.join("."), likely]);

describe("keys that nobody knows", () => {
  it("[KEYS-1] are found at every depth, each with the key that was probably meant", () => {
    expect(
      found({
        model_provder: "x",
        model: "y",
        sandbox_workspace_write: { network_acces: true },
        model_providers: { mine: { base_ulr: "x", http_headers: { anything: "goes" } } },
        mcp_servers: { one: { comand: "x", tools: { any: { aproval_mode: "auto" } } } },
        approval_policy: { granular: { rule: true } },
        skills: { config: [{ path: "/a" }, { nmae: "b" }] },
        features: { network_proxi: true },
      }),
    ).toEqual([
      ["model_provder", "model_provider"],
      ["sandbox_workspace_write.network_acces", "sandbox_workspace_write.network_access"],
      ["model_providers.mine.base_ulr", "model_providers.mine.base_url"],
      ["mcp_servers.one.comand", "mcp_servers.one.command"],
      ["mcp_servers.one.tools.any.aproval_mode", "mcp_servers.one.tools.any.approval_mode"],
      ["approval_policy.granular.rule", "approval_policy.granular.rules"],
      ["skills.config.1.nmae", "skills.config.name"],
      ["features.network_proxi", "features.network_proxy"],
    ]);
  });

  it("[KEYS-1] may stand in the wrong table: above their header, or below one", () => {
    expect(found({ network_access: true, desk: { url: "x" } })).toEqual([
      ["network_access", "sandbox_workspace_write.network_access"],
      ["desk", null],
    ]);
    expect(found({ mcp_servers: { one: { command: "x", sandbox_mode: "read-only" } } })).toEqual([
      ["mcp_servers.one.sandbox_mode", "sandbox_mode"],
    ]);
  });

  it("[KEYS-2] are none of those that people name, nor those of the Codex CLI that mean nothing here", () => {
    expect(
      found({
        tui: { notifications: true, whatever: { is: "below" } },
        otel: { exporter: "none" },
        disable_response_storage: true,
        features: { unified_exec: true, multi_agent_v2: { enabled: true } },
        model_providers: { x: { aws: { profile: "y" } } },
        projects: { "/a/b": { trust_level: "trusted" } },
        subjects: { roots: ["/x"], ann: { roots: ["/y"] } },
        agents: { max_threads: 2, reader: { description: "reads" } },
        permissions: { dev: { filesystem: { ":root": "read", "/x": { ".": "write" } } } },
        shell_environment_policy: { set: { A: "b" } },
      }),
    ).toEqual([]);
  });

  it("are found in objects with any key", () => {
    expect(found(JSON.parse('{"__proto__": 1, "constructor": 2, "hasOwnProperty": {}}'))).toEqual([
      ["__proto__", null],
      ["constructor", null],
      ["hasOwnProperty", null],
    ]);
  });
});

it.each([
  ["model_provder", "model_provider"],
  ["modelProvider", "model_provider"],
  ["model-provider", "model_provider"],
  ["MODEL", "model"],
  ["modle", "model"],
  ["sandbox", null],
  ["x", null],
  ["", null],
])("[KEYS-1] %s is taken for %s", (given, name) => {
  expect(nearestName(given, ["model", "model_provider", "sandbox_mode", "personality"])).toBe(name);
});
