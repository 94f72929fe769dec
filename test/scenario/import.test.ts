// Moving in from other agents: settings, instructions, MCP servers and skills.
import { chmod, mkdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { importAll, isExecutable, movingIn, treeOf } from "../support/agent-home.ts";
import { freshFolder, markRepository } from "../support/folder.ts";

const SETTINGS = {
  env: { FOO: "bar", COUNT: 3, ANTHROPIC_API_KEY: "secret", NESTED: { no: 1 } },
  sandbox: { enabled: true },
  permissions: { allow: ["Bash(rm:*)"] },
};
const SKILL = "---\nname: shop\ndescription: Knows the shop.\n---\nRead CLAUDE.md first.\n";

/** As files of Claude Code name a variable. */
const variable = (name: string): string => `\${${name}}`;

const CLAUDE = {
  ".claude/CLAUDE.md": "Use tabs. See CLAUDE.md of the project; Claude is polite.\n",
  ".claude/settings.json": SETTINGS,
  ".claude/skills/shop/SKILL.md": SKILL,
  ".claude/skills/shop/scripts/run.sh": "#!/bin/sh\necho hi\n",
  ".claude/skills/tea/SKILL.md": SKILL.replace("shop", "tea"),
  ".claude.json": {
    mcpServers: {
      files: {
        command: "mcp-files",
        args: ["--root", "/srv"],
        env: { TOKEN: variable("TOKEN"), MODE: "ro" },
      },
      web: {
        type: "http",
        url: "https://example.com/mcp",
        headers: { Authorization: `Bearer ${variable("WEB")}` },
      },
      old: { type: "sse", url: "https://example.com/sse" },
    },
  },
};

const HOME = { includeHome: true };

describe("detection", () => {
  it("[IMPORT-1] offers what is left to import, of the home and of repositories", async () => {
    const repo = await freshFolder("repo");
    markRepository(repo);
    await mkdir(join(repo, "deep"));
    await writeFile(join(repo, "CLAUDE.md"), "Build with make.\n");
    await writeFile(join(repo, ".mcp.json"), JSON.stringify({ mcpServers: { db: { command: "mcp-db" } } }));
    const { client, user, home } = await movingIn(CLAUDE);
    const { items, connectors } = await client.call("externalAgentConfig/detect", {
      ...HOME,
      cwds: [join(repo, "deep"), join(repo, "missing")],
    });
    expect(connectors).toEqual([]);
    const none = {
      plugins: [],
      skills: [],
      sessions: [],
      mcpServers: [],
      hooks: [],
      subagents: [],
      commands: [],
    };
    expect(items).toEqual([
      {
        itemType: "CONFIG",
        description: `Migrate ${user}/.claude/settings.json into ${home}/config.toml`,
        cwd: null,
        details: null,
      },
      {
        itemType: "MCP_SERVER_CONFIG",
        description: `Migrate MCP servers from ${user} into ${home}/config.toml`,
        cwd: null,
        details: { ...none, mcpServers: [{ name: "files" }, { name: "web" }] },
      },
      {
        itemType: "SKILLS",
        description: `Migrate skills from ${user}/.claude/skills to ${user}/.agents/skills`,
        cwd: null,
        details: { ...none, skills: [{ name: "shop" }, { name: "tea" }] },
      },
      {
        itemType: "AGENTS_MD",
        description: `Migrate ${user}/.claude/CLAUDE.md to ${home}/AGENTS.md`,
        cwd: null,
        details: null,
      },
      {
        itemType: "MCP_SERVER_CONFIG",
        description: `Migrate MCP servers from ${repo} into ${repo}/.codex/config.toml`,
        cwd: repo,
        details: { ...none, mcpServers: [{ name: "db" }] },
      },
      {
        itemType: "AGENTS_MD",
        description: `Migrate ${repo}/CLAUDE.md to ${repo}/AGENTS.md`,
        cwd: repo,
        details: null,
      },
    ]);
    // Without a word for the source, or with one that nobody knows, it is Claude Code.
    for (const more of [{ migrationSource: "claude-code" }, { migrationSource: "unknown" }, { source: "x" }])
      expect((await client.call("externalAgentConfig/detect", { ...HOME, ...more })).items).toEqual(
        items.slice(0, 4),
      );
    expect((await client.call("externalAgentConfig/detect", {})).items).toEqual([]);
  });
});

describe("an import", () => {
  it("[IMPORT-2] [IMPORT-3] replies, reports its progress, and changes nothing the second time", async () => {
    const { client, user, home } = await movingIn(CLAUDE, {
      "config.toml":
        '# mine\nmodel = "m" # keep\n\n[mcp_servers.web] # my own\nurl = "https://own.example/mcp"\n',
    });
    await chmod(join(user, ".claude/skills/shop/scripts/run.sh"), 0o755);
    await mkdir(join(user, ".agents/skills/tea"), { recursive: true });
    await writeFile(join(user, ".agents/skills/tea/SKILL.md"), "mine\n");
    const { items } = await client.call("externalAgentConfig/detect", HOME);
    const { importId, frames, results } = await importAll(client, items, { providerId: "p" });
    expect(frames.map(({ method }) => method?.split("/").at(-1) ?? "reply")).toEqual([
      "reply",
      ...items.map(() => "progress"),
      "completed",
    ]);
    const progress = frames.filter(({ method }) => method === "externalAgentConfig/import/progress");
    expect(progress.map(({ params }) => [params.importId, params.itemTypeResults.length])).toEqual(
      items.map(() => [importId, 1]),
    );
    const done = (itemType: string, source: string, target: string) => ({
      itemType,
      successes: [{ itemType, cwd: null, source, target, title: null }],
      failures: [],
    });
    expect(results).toEqual([
      done("CONFIG", join(user, ".claude/settings.json"), join(home, "config.toml")),
      done("SKILLS", "shop", "shop"),
      done("AGENTS_MD", join(user, ".claude/CLAUDE.md"), join(home, "AGENTS.md")),
      done("MCP_SERVER_CONFIG", "files", "files"),
    ]);

    const config = await readFile(join(home, "config.toml"), "utf8");
    expect(config).toContain('# mine\nmodel = "m" # keep\n');
    expect(config).toContain('[mcp_servers.web] # my own\nurl = "https://own.example/mcp"');
    expect(config).not.toContain("secret");
    const { config: read } = await client.call("config/read", {});
    expect(read).toMatchObject({
      model: "m",
      sandbox_mode: "workspace-write",
      shell_environment_policy: { set: { FOO: "bar", COUNT: "3" } },
      mcp_servers: {
        web: { url: "https://own.example/mcp" },
        files: { command: "mcp-files", args: ["--root", "/srv"], env_vars: ["TOKEN"], env: { MODE: "ro" } },
      },
    });
    expect(await readFile(join(home, "AGENTS.md"), "utf8")).toBe(
      "Use tabs. See AGENTS.md of the project; Claude is polite.\n",
    );
    expect(await treeOf(join(user, ".agents/skills"))).toEqual({
      "shop/SKILL.md": SKILL.replace("CLAUDE.md", "AGENTS.md"),
      "shop/scripts/run.sh": "#!/bin/sh\necho hi\n",
      "tea/SKILL.md": "mine\n",
    });
    expect(await isExecutable(join(user, ".agents/skills/shop/scripts/run.sh"))).toBe(true);

    expect((await client.call("externalAgentConfig/detect", HOME)).items).toEqual([]);
    const before = await treeOf(user);
    const again = await importAll(client, items);
    expect(again.results.map(({ successes, failures }) => [successes, failures])).toEqual(
      items.map(() => [[], []]),
    );
    const unchanged = (tree: Record<string, string>) =>
      Object.fromEntries(Object.entries(tree).filter(([path]) => !path.includes("import_histories")));
    expect(unchanged(await treeOf(user))).toEqual(unchanged(before));
  });

  it("[IMPORT-2] of no items replies, and sends no notification", async () => {
    const { client } = await movingIn({});
    const { importId } = await client.call("externalAgentConfig/import", { migrationItems: [] });
    expect(importId).toEqual(expect.any(String));
    await client.call("model/list", {});
    expect(client.told("externalAgentConfig/import/completed")).toEqual([]);
  });

  it("[IMPORT-4] lets each item fail by itself, and names what is wrong", async () => {
    const { client, user, home } = await movingIn(
      { ...CLAUDE, ".claude/settings.json": "{ broken" },
      { "config.toml": "" },
    );
    const { items } = await client.call("externalAgentConfig/detect", HOME);
    const types = items.map(({ itemType }: { itemType: string }) => itemType);
    expect(types).toEqual(["CONFIG", "MCP_SERVER_CONFIG", "HOOKS", "SKILLS", "AGENTS_MD"]);
    const { results } = await importAll(client, [
      ...items,
      { itemType: "PLUGINS", description: "", cwd: null, details: null },
    ]);
    const path = join(user, ".claude/settings.json");
    expect(results.map(({ itemType, successes, failures }) => [itemType, successes, failures])).toEqual([
      ["CONFIG", [], [expect.objectContaining({ message: expect.stringContaining(path), cwd: null })]],
      ["SKILLS", [expect.anything(), expect.anything()], []],
      ["AGENTS_MD", [expect.anything()], []],
      ["PLUGINS", [], [expect.objectContaining({ failureStage: "import_request_failed" })]],
      ["MCP_SERVER_CONFIG", [], [expect.objectContaining({ message: expect.stringContaining(path) })]],
      ["HOOKS", [], [expect.objectContaining({ message: expect.stringContaining(path) })]],
    ]);
    expect(await readFile(join(home, "config.toml"), "utf8")).toBe("");
  });

  it("[IMPORT-6] writes nothing if a repository contains symlinks in the target paths", async () => {
    const repo = await freshFolder("repo");
    markRepository(repo);
    await writeFile(join(repo, "CLAUDE.md"), "Build with make.\n");
    await writeFile(join(repo, ".mcp.json"), JSON.stringify({ mcpServers: { db: { command: "mcp-db" } } }));
    const { client, home } = await movingIn({}, { "config.toml": 'model = "m"\n' });
    const { items } = await client.call("externalAgentConfig/detect", { cwds: [repo] });
    expect(items).toHaveLength(2);
    await rm(join(repo, ".codex"), { recursive: true, force: true });
    await symlink(home, join(repo, ".codex"));
    const { results } = await importAll(client, items);
    expect(results.map(({ successes, failures }) => [successes, failures])).toEqual([
      [[], []],
      [[], []],
    ]);
    expect(await readFile(join(home, "config.toml"), "utf8")).toBe('model = "m"\n');
    expect((await client.call("externalAgentConfig/detect", { cwds: [repo] })).items).toEqual([]);
  });
});

describe("histories", () => {
  it("[IMPORT-5] are read the last one first, with those that clients record, also by the next host", async () => {
    const { client, user, host } = await movingIn(CLAUDE);
    expect(await client.call("externalAgentConfig/import/readHistories")).toEqual({
      data: [],
      connectors: [],
    });
    const { items } = await client.call("externalAgentConfig/detect", HOME);
    const first = await importAll(client, items.slice(0, 1), { providerId: "one" });
    const success = { itemType: "SESSIONS", source: "a", target: "b", title: "Old talk" };
    const failure = { itemType: "SESSIONS", failureStage: "read", message: "no" };
    const { importId } = await client.call("externalAgentConfig/import/recordHistory", {
      providerId: "other",
      itemTypeResults: [{ itemType: "SESSIONS", successes: [success], failures: [failure] }],
    });
    const { data } = await client.call("externalAgentConfig/import/readHistories");
    expect(data).toEqual([
      {
        importId,
        providerId: "other",
        completedAtMs: expect.any(Number),
        successes: [{ ...success, cwd: null }],
        failures: [failure],
      },
      {
        importId: first.importId,
        providerId: "one",
        completedAtMs: expect.any(Number),
        successes: first.results[0]!.successes,
        failures: [],
      },
    ]);
    await host.kill();
    const next = await movingIn({}, {}, user);
    expect((await next.client.call("externalAgentConfig/import/readHistories")).data).toEqual(data);
  });
});
