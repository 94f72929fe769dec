// Moving in from other agents: hooks, commands, sub-agents, and the settings of the Codex CLI.
import { chmod, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { importAll, isExecutable, movingIn, treeOf } from "../support/agent-home.ts";

const HOME = { includeHome: true };
const HOOK = { type: "command", command: '"$CLAUDE_PROJECT_DIR"/.claude/hooks/check.sh --fast', timeout: 5 };

it("[IMPORT-7] imports hooks with their scripts, commands as skills, and sub-agents as roles", async () => {
  const { client, user, home } = await movingIn(
    {
      ".claude/settings.json": {
        hooks: {
          PreToolUse: [
            { matcher: "Bash", hooks: [HOOK, { type: "prompt", prompt: "no" }] },
            { matcher: "Edit", hooks: [{ type: "command", command: "echo $CLAUDE_TOOL_INPUT" }] },
          ],
          Stop: [{ hooks: [{ command: "~/.claude/hooks/done.sh" }] }],
          Notification: [{ hooks: [{ type: "command", command: "true" }] }],
        },
      },
      ".claude/hooks/check.sh": "#!/bin/sh\n",
      ".claude/commands/git/commit.md":
        "---\ndescription: Commit as CLAUDE.md says\n---\nCommit $ARGUMENTS\n",
      ".claude/commands/plain.md": "# Say hello\n\nHello.\n",
      ".claude/agents/reviewer.md":
        "---\nname: reviewer\ndescription: Reviews code\neffort: max\ntools: Read\n---\nBe strict.\n",
      ".claude/agents/broken.md": "no head\n",
    },
    {
      "hooks.json": JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: "command", command: "mine" }] }] } }),
    },
  );
  await chmod(join(user, ".claude/hooks/check.sh"), 0o755);
  const { items } = await client.call("externalAgentConfig/detect", HOME);
  expect(items.map(({ itemType, details }: Record<string, unknown>) => [itemType, details])).toEqual([
    ["HOOKS", expect.objectContaining({ hooks: [{ name: "PreToolUse" }, { name: "Stop" }] })],
    [
      "COMMANDS",
      expect.objectContaining({
        commands: [{ name: "source-command-git-commit" }, { name: "source-command-plain" }],
      }),
    ],
    ["SUBAGENTS", expect.objectContaining({ subagents: [{ name: "broken" }, { name: "reviewer" }] })],
  ]);
  const { results } = await importAll(client, items);
  expect(results.map(({ itemType, successes, failures }) => [itemType, successes.length, failures])).toEqual([
    ["SUBAGENTS", 1, [expect.objectContaining({ source: "broken" })]],
    ["HOOKS", 2, []],
    ["COMMANDS", 2, []],
  ]);
  expect(JSON.parse(await readFile(join(home, "hooks.json"), "utf8"))).toEqual({
    hooks: {
      Stop: [
        { hooks: [{ type: "command", command: "mine" }] },
        { hooks: [{ type: "command", command: join(home, "hooks/done.sh") }] },
      ],
      PreToolUse: [
        {
          matcher: "Bash",
          hooks: [{ type: "command", command: `${join(home, "hooks/check.sh")} --fast`, timeout: 5 }],
        },
      ],
    },
  });
  expect(await isExecutable(join(home, "hooks/check.sh"))).toBe(true);
  const skills = await treeOf(join(user, ".agents/skills"));
  expect(Object.keys(skills)).toEqual([
    "source-command-git-commit/SKILL.md",
    "source-command-plain/SKILL.md",
  ]);
  expect(skills["source-command-git-commit/SKILL.md"]).toBe(
    '---\nname: source-command-git-commit\ndescription: "Commit as AGENTS.md says"\n---\n\nWhat the user says with this command stands for `$ARGUMENTS` (`$1`, `$2`) below.\n\nCommit $ARGUMENTS\n',
  );
  // They are skills of this host.
  const { data } = await client.call("skills/list", { cwds: [user] });
  expect(data[0].skills.map(({ name, description }: Record<string, string>) => [name, description])).toEqual([
    ["source-command-git-commit", "Commit as AGENTS.md says"],
    ["source-command-plain", "Say hello"],
  ]);
  expect(await readFile(join(home, "agents/reviewer.toml"), "utf8")).toBe(
    'name = "reviewer"\ndescription = "Reviews code"\nmodel_reasoning_effort = "xhigh"\ndeveloper_instructions = "Be strict."\n',
  );
  // Only what cannot be read is left.
  const left = await client.call("externalAgentConfig/detect", HOME);
  expect(
    left.items.map(({ itemType, details }: Record<string, { subagents: unknown }>) => [
      itemType,
      details!.subagents,
    ]),
  ).toEqual([["SUBAGENTS", [{ name: "broken" }]]]);
});

it("[IMPORT-3] adds missing settings of the Codex CLI, and keeps existing ones", async () => {
  const { client, user, home } = await movingIn(
    {
      ".codex/config.toml": [
        'model = "gpt-5"',
        'model_reasoning_effort = "high"',
        'sandbox_mode = "workspace-write"',
        "[tui]",
        "notifications = true",
        '[projects."/srv"]',
        'trust_level = "trusted"',
        "[mcp_servers.docs]",
        'command = "docs"',
        "[shell_environment_policy.set]",
        'A = "1"',
        'B = "2"',
        "",
      ].join("\n"),
      ".codex/AGENTS.md": "Be brief.\n",
      ".codex/skills/one/SKILL.md": "---\nname: one\ndescription: One.\n---\n",
      ".codex/prompts/ask.md": "Ask me.\n",
      ".codex/agents/helper.toml": 'name = "helper"\ndescription = "Helps"\n',
      ".codex/hooks.json": { hooks: { Stop: [{ hooks: [{ type: "command", command: "true" }] }] } },
    },
    { "config.toml": '# mine\nmodel = "m"\n\n[shell_environment_policy.set]\nA = "mine" # keep\n' },
  );
  const asked = { ...HOME, migrationSource: "codex" };
  const { items } = await client.call("externalAgentConfig/detect", asked);
  expect(items.map(({ itemType }: { itemType: string }) => itemType)).toEqual([
    "CONFIG",
    "MCP_SERVER_CONFIG",
    "HOOKS",
    "SKILLS",
    "COMMANDS",
    "SUBAGENTS",
    "AGENTS_MD",
  ]);
  const { results } = await importAll(client, items, { migrationSource: "codex" });
  expect(results.flatMap(({ failures }) => failures)).toEqual([]);
  const config = await readFile(join(home, "config.toml"), "utf8");
  expect(config).toContain('# mine\nmodel = "m"\n');
  expect(config).toContain('A = "mine" # keep\n');
  const { config: read } = await client.call("config/read", {});
  expect(read).toMatchObject({
    model: "m",
    model_reasoning_effort: "high",
    sandbox_mode: "workspace-write",
    shell_environment_policy: { set: { A: "mine", B: "2" } },
    mcp_servers: { docs: { command: "docs" } },
  });
  expect([read.tui, read.projects]).toEqual([undefined, undefined]);
  for (const path of [
    "AGENTS.md",
    "skills/one/SKILL.md",
    "skills/source-command-ask/SKILL.md",
    "agents/helper.toml",
    "hooks.json",
  ])
    expect((await stat(join(home, path))).isFile(), path).toBe(true);
  expect((await client.call("externalAgentConfig/detect", asked)).items).toEqual([]);
  expect(await readFile(join(user, ".codex/AGENTS.md"), "utf8")).toBe("Be brief.\n");
});
