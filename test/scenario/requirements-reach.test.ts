// What an administrator requires of MCP servers, the network and hooks, on the real program.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { spawnHost } from "../support/host-process.ts";
import { MCP_LIGHT } from "../support/mcp-stage.ts";
import { MockModel } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import type { WireClient } from "../support/wire-client.ts";

/** A host with these files; `system` are the machine's. */
async function stage(files: {
  top?: readonly string[];
  config?: string;
  home?: string;
  system?: Record<string, string>;
}) {
  const model = await MockModel.start(say("done"));
  const top = ['sandbox_mode = "danger-full-access"', ...(files.top ?? [])];
  const { home, cwd } = await modelHome("responses", model.url, { top });
  const etc = await freshFolder("etc");
  await mkdir(join(etc, "codex"));
  const config = join(home, "config.toml");
  await writeFile(config, `${await readFile(config, "utf8")}\n${files.config ?? ""}`);
  if (files.home !== undefined) await writeFile(join(home, "requirements.toml"), files.home);
  for (const [name, text] of Object.entries(files.system ?? {}))
    await writeFile(join(etc, "codex", name), text);
  const env = { BOBBIN_ETC: etc, SHELL: "/bin/bash" };
  const host = await spawnHost({ home, args: ["--listen", "ws://127.0.0.1:0"], env });
  return { model, home, cwd, env, client: await host.join(undefined, { experimentalApi: true }) };
}

const write = (keyPath: string, value: unknown) => ({ keyPath, value, mergeStrategy: "replace" });
const required = async (client: WireClient) => (await client.call("configRequirements/read")).requirements;
const warnings = (client: WireClient): string[] =>
  client.told("configWarning").map(({ params }) => params.summary);
/** The codes of a write that is refused. */
const refused = async (client: WireClient, keyPath: string, value: unknown) => {
  const { data } = await client.refusal("config/value/write", write(keyPath, value));
  return [data.code, data.config_write_error_code];
};

describe("allowed MCP servers", () => {
  const ALLOWED = `
[mcp_servers.docs]
identity = { command = "${MCP_LIGHT}" }
[mcp_servers.exact.identity.command]
executable = "${MCP_LIGHT}"
args = [{ match = "exact", value = "--root" }, { match = "prefix", value = "/srv/" }]
[mcp_servers.far]
identity = { url = { match = "regex", expression = "https://[a-z]+\\\\.example/mcp" } }
`;
  const servers = async (client: WireClient, threadId?: string): Promise<string[]> => {
    const { data } = await client.call("mcpServerStatus/list", { threadId, detail: "toolsAndAuthOnly" });
    return data.map(({ name }: { name: string }) => name);
  };

  it("[REQ-6] are the only ones that threads get, and are shown", async () => {
    const config = `[mcp_servers.docs]\ncommand = "${MCP_LIGHT}"\n[mcp_servers.other]\ncommand = "${MCP_LIGHT}"\n[mcp_servers.exact]\ncommand = "${MCP_LIGHT}"\nargs = ["--root", "/etc"]\n[mcp_servers.off]\ncommand = "x"\nenabled = false\n`;
    const { client } = await stage({ config, system: { "requirements.toml": ALLOWED } });
    expect(await servers(client, await client.startThread({}))).toEqual(["docs", "off"]);
    await client.until(() => warnings(client).length === 2, "both warnings");
    expect(warnings(client)).toEqual([
      "An MCP server is left out: mcp_servers.exact is not allowed by requirements.toml",
      "An MCP server is left out: mcp_servers.other is not allowed by requirements.toml",
    ]);
    expect((await required(client)).mcpServers).toEqual({
      docs: { identity: { command: MCP_LIGHT } },
      exact: {
        identity: {
          command: {
            executable: MCP_LIGHT,
            args: [
              { match: "exact", value: "--root" },
              { match: "prefix", value: "/srv/" },
            ],
          },
        },
      },
      far: { identity: { url: { match: "regex", expression: "https://[a-z]+\\.example/mcp" } } },
    });
  });

  it("[REQ-6] refuse others in a request and in a write, with a specific code", async () => {
    const { client, home } = await stage({ system: { "requirements.toml": ALLOWED } });
    const before = await readFile(join(home, "config.toml"), "utf8");
    for (const [name, server] of [
      ["other", { command: MCP_LIGHT }],
      ["docs", { command: "/bin/other" }],
      ["docs", { url: "https://a.example/mcp" }],
      ["exact", { command: MCP_LIGHT, args: ["--root", "/srv/a", "more"] }],
      ["far", { url: "https://a.example/mcp/more" }],
    ] as const) {
      const { data } = await client.refusal("thread/start", { config: { mcp_servers: { [name]: server } } });
      expect([name, data.code]).toEqual([name, "mcpServerNotAllowed"]);
      expect(await refused(client, `mcp_servers.${name}`, server)).toEqual([
        "mcpServerNotAllowed",
        "configValidationError",
      ]);
    }
    expect(await readFile(join(home, "config.toml"), "utf8")).toBe(before);
    await client.call("config/value/write", write("mcp_servers.far", { url: "https://b.example/mcp" }));
    const exact = { command: MCP_LIGHT, args: ["--root", "/srv/a"] };
    const { thread } = await client.call("thread/start", { config: { mcp_servers: { exact } } });
    expect(await servers(client, thread.id)).toEqual(["exact", "far"]);
  });

  it("[REQ-6] of the machine cannot be added to by the home", async () => {
    const added = '[mcp_servers.mine]\nidentity = { command = "x" }\n';
    const { client } = await stage({ home: added, system: { "requirements.toml": ALLOWED } });
    expect(Object.keys((await required(client)).mcpServers)).toEqual(["docs", "exact", "far"]);
    expect((await refused(client, "mcp_servers.mine", { command: "x" }))[0]).toBe("mcpServerNotAllowed");
  });
});

describe("required rules for the network", () => {
  const RULES = `
[experimental_network]
enabled = true
managed_allowed_domains_only = true
http_port = 8080
domains = { "*.example.org" = "allow", "bad.example.org" = "deny" }
`;

  it("[REQ-7] are shown, and refuse writes that would widen them", async () => {
    const { client } = await stage({ home: RULES });
    expect((await required(client)).network).toMatchObject({
      enabled: true,
      managedAllowedDomainsOnly: true,
      domains: { "*.example.org": "allow", "bad.example.org": "deny" },
      allowedDomains: ["*.example.org"],
      deniedDomains: ["bad.example.org"],
      httpPort: null,
    });
    await client.until(() => warnings(client).length === 1, "the warning");
    expect(warnings(client)).toEqual([
      "requirements.toml: this host does not enforce experimental_network.http_port.",
    ]);
    const host = ["networkHostNotAllowed", "configValidationError"];
    const domains = (name: string) => ({ enabled: true, domains: { [name]: "allow" } });
    expect(await refused(client, "features.network_proxy", domains("other.org"))).toEqual(host);
    expect(await refused(client, "features.network_proxy", domains("bad.example.org"))).toEqual(host);
    expect(await refused(client, "permissions.mine.network", domains("other.org"))).toEqual(host);
    expect(await refused(client, "features.network_proxy", false)).toEqual([
      "networkByHostRequired",
      "configValidationError",
    ]);
    await client.call("config/value/write", write("features.network_proxy", domains("a.example.org")));
  });

  it("[REQ-7] decide about hosts, whatever is configured or allowed by a rule", async () => {
    const home = await freshFolder();
    await writeFile(join(home, "requirements.toml"), RULES);
    const config =
      '[features.network_proxy]\nenabled = true\ndomains = { "other.org" = "allow", "no.example.org" = "deny" }\n';
    await writeFile(join(home, "config.toml"), config);
    await mkdir(join(home, "rules"));
    const rule = 'network_rule(host = "ruled.org", protocol = "https", decision = "allow")\n';
    await writeFile(join(home, "rules", "default.rules"), rule);
    const decides = async (host: string): Promise<string> => {
      const { stdout } = await runBobbin(["rules", "check", "--json", `https://${host}`], {
        env: { BOBBIN_HOME: home },
      });
      return JSON.parse(stdout).consent.kind;
    };
    const hosts = ["a.example.org", "bad.example.org", "no.example.org", "other.org", "ruled.org", "new.org"];
    const all = async () =>
      Object.fromEntries(await Promise.all(hosts.map(async (host) => [host, await decides(host)])));
    expect(await all()).toEqual({
      "a.example.org": "sandboxed",
      "bad.example.org": "refuse",
      "no.example.org": "refuse",
      "other.org": "refuse",
      "ruled.org": "refuse",
      "new.org": "refuse",
    });
    // Where people may add to it, they are asked.
    await writeFile(join(home, "requirements.toml"), RULES.replace("_only = true", "_only = false"));
    expect(await all()).toMatchObject({
      "bad.example.org": "refuse",
      "other.org": "sandboxed",
      "ruled.org": "sandboxed",
      "new.org": "ask",
    });
  });
});

describe("required hooks", () => {
  const hook = (words: string) =>
    `[[hooks.UserPromptSubmit]]\n[[hooks.UserPromptSubmit.hooks]]\ntype = "command"\ncommand = "echo ${words}"\n`;
  const contexts = (model: MockModel): string[] =>
    model.asked
      .at(-1)!
      .body.input.flatMap((item: { role?: string; content?: { text: string }[] }) =>
        item.role === "developer" ? item.content!.map(({ text }) => text) : [],
      );
  const trust = async (client: WireClient, cwd: string) =>
    (await client.call("hooks/list", { cwds: [cwd] })).data[0].hooks.map(
      ({ command, source, trustStatus, isManaged }: Record<string, unknown>) =>
        [command, source, trustStatus, isManaged].join(" "),
    );

  it("[REQ-8] run beside the user's hooks, and cannot be disabled by the user", async () => {
    const { client, cwd, home, model } = await stage({
      top: ["features.hooks = false"],
      config: hook("mine"),
      home: hook("required"),
    });
    const key = `${join(home, "requirements.toml")}:user_prompt_submit:0:0`;
    await client.call("config/value/write", write("hooks.state", { [key]: { enabled: false } }));
    expect(await trust(client, cwd)).toEqual([
      "echo required system managed true",
      "echo mine user trusted false",
    ]);
    await client.turn(await client.startThread({ cwd }), "Hello!");
    expect(contexts(model)).toContain("required");
    // The feature is off for all others.
    expect(contexts(model)).not.toContain("mine");
    expect((await required(client)).hooks).toMatchObject({
      UserPromptSubmit: [{ matcher: null, hooks: [{ type: "command", command: "echo required" }] }],
      Stop: [],
    });
  });

  it("[REQ-8] are the only ones with allow_managed_hooks_only, and others cannot be written", async () => {
    const { client, cwd, model } = await stage({
      config: hook("mine"),
      home: hook("of the home"),
      system: {
        "requirements.toml": `allow_managed_hooks_only = true\n${hook("required")}`,
        "config.toml": hook("of the machine"),
      },
    });
    await client.until(() => warnings(client).length === 1, "the warning");
    expect(warnings(client)[0]).toContain("requirements.toml allows managed hooks only");
    expect(await trust(client, cwd)).toEqual([
      "echo required system managed true",
      "echo of the machine system managed true",
    ]);
    await client.turn(await client.startThread({ cwd }), "Hello!");
    expect(contexts(model)).toEqual(expect.arrayContaining(["required", "of the machine"]));
    expect(contexts(model)).not.toContain("mine");
    expect((await required(client)).allowManagedHooksOnly).toBe(true);
    expect(await refused(client, "hooks.Stop", [{ hooks: [] }])).toEqual([
      "hookNotManaged",
      "configValidationError",
    ]);
    await client.call("config/value/write", write("hooks.state.x", { enabled: false }));
  });
});
