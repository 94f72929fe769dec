// Homes as people have them, in the layouts that the agents write. `repo/` stands for a repository beside the home.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Tree } from "../support/agent-home.ts";
import {
  claudeIdle,
  claudePath,
  claudeSession,
  claudeWork,
  smallSession,
} from "../support/claude-session.ts";
import {
  BARE_ID,
  bareRollout,
  firstRollout,
  LEGACY_ID,
  legacyRollout,
  PAGED_ID,
  packedRollout,
  pagedRollout,
  REVERTED_ROLLOUT,
  revertedRollout,
} from "../support/codex-rollouts.ts";

export interface AgentHome {
  readonly from: "claude" | "codex";
  readonly tree: Tree;
  /** What is in Bobbin's home already. */
  readonly own?: Tree;
}

const WHEN = new Date(Date.UTC(2026, 9, 3, 9));
const skill = (name: string, text = "Do it.") =>
  `---\nname: ${name}\ndescription: About ${name}.\n---\n\n${text}\n`;
const command = (line: string, more: object = {}) => ({ type: "command", command: line, ...more });

const responseItem = (payload: object) => ({
  timestamp: "2026-10-01T10:00:12.000Z",
  type: "response_item",
  payload,
});

/** What the real program wrote, without its instructions. */
function recorded(): Tree {
  const folder = join(import.meta.dirname, "codex-0.166");
  return Object.fromEntries(
    readdirSync(folder).map((name) => [
      name === "session_index.jsonl" ? `.codex/${name}` : `.codex/sessions/2026/11/17/${name}`,
      readFileSync(join(folder, name), "utf8"),
    ]),
  );
}

export const HOMES: Readonly<Record<string, AgentHome>> = {
  "claude-fresh": {
    from: "claude",
    tree: {
      ".claude.json": { numStartups: 1, projects: {} },
      ".claude/settings.json": { model: "opus", permissions: { allow: ["Bash(npm:*)"] } },
      ".claude/todos/x.json": "[]",
    },
  },
  "claude-typical": {
    from: "claude",
    tree: {
      ".claude.json": {
        mcpServers: {
          github: { type: "http", url: "https://mcp.example.com/", headers: { "X-Team": "shop" } },
        },
      },
      ".claude/CLAUDE.md": "# Me\n\nI like short answers.\n",
      ".claude/settings.json": { env: { EDITOR: "vi", NODE_ENV: "development", CLAUDE_CODE_X: "1" } },
      ".claude/skills/pdf/SKILL.md": skill("pdf", "As CLAUDE.md says."),
      ".claude/skills/pdf/reference/forms.md": "CLAUDE.md stays here.\n",
      ".claude/projects/-srv-shop/aaaa.jsonl": smallSession("invoices", WHEN),
      ".claude/projects/-srv-other/bbbb.jsonl": smallSession("letters", WHEN, "/srv/other"),
    },
  },
  "claude-local-settings": {
    from: "claude",
    tree: {
      ".claude/settings.json": {
        env: { A: "shared", B: "shared" },
        hooks: { Stop: [{ hooks: [command("say done")] }] },
        disableAllHooks: false,
        disabledMcpjsonServers: ["off"],
      },
      ".claude/settings.local.json": {
        env: { A: "local" },
        disableAllHooks: true,
        sandbox: { enabled: true },
      },
      ".mcp.json": { mcpServers: { on: { command: "on" }, off: { command: "off" } } },
    },
  },
  "claude-hooks": {
    from: "claude",
    tree: {
      ".claude/settings.json": {
        hooks: {
          PreToolUse: [
            { matcher: "Bash", hooks: [command("$HOME/.claude/hooks/guard.py", { timeout: 10 })] },
            { matcher: "Write|Edit", hooks: [command("jq . > /dev/null", { statusMessage: "Checking" })] },
            { matcher: "Task", hooks: [command("true", { async: true })] },
          ],
          SessionStart: [{ matcher: "startup", hooks: [command("cat notes.txt")] }],
          Notification: [{ hooks: [command("notify-send hi")] }],
        },
      },
      ".claude/hooks/guard.py": "#!/usr/bin/env python3\n",
      ".claude/hooks/lib/rules.txt": "none\n",
    },
    own: {
      "hooks.json":
        '{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"cat notes.txt"}]}]}}',
    },
  },
  "claude-commands-and-agents": {
    from: "claude",
    tree: {
      ".claude/commands/fix-issue.md":
        "---\ndescription: Fix an issue\nargument-hint: [number]\n---\n\nFix issue $ARGUMENTS.\n",
      ".claude/commands/frontend/component.md": "Make a component named $1.\n",
      ".claude/commands/README.md": "Not a command.\n",
      ".claude/agents/tester.md":
        "---\nname: tester\ndescription: >\n  Writes tests\n  for everything\nmodel: sonnet\neffort: low\n---\n\nWrite tests first. See CLAUDE.md.\n",
    },
  },
  "claude-repository": {
    from: "claude",
    tree: {
      ".claude.json": {
        projects: { "{repo}": { mcpServers: { mine: { command: "mine" }, shared: { command: "no" } } } },
      },
      "repo/.git/HEAD": "ref: refs/heads/main\n",
      "repo/.claude/CLAUDE.md": "Run the tests.\n",
      "repo/.claude/settings.json": { env: { CI: true } },
      "repo/.claude/skills/deploy/SKILL.md": skill("deploy"),
      "repo/.claude/commands/ship.md": "Ship it.\n",
      "repo/.claude/agents/local.md": "---\nname: local\ndescription: Stays\n---\nHere.\n",
      "repo/.mcp.json": { mcpServers: { shared: { command: "npx", args: ["-y", "shared"] } } },
    },
  },
  "claude-moved-before": {
    from: "claude",
    tree: {
      ".claude.json": { mcpServers: { github: { command: "new" } } },
      ".claude/CLAUDE.md": "New words.\n",
      ".claude/settings.json": { env: { A: "new" }, sandbox: { enabled: true } },
      ".claude/skills/pdf/SKILL.md": skill("pdf"),
      ".agents/skills/pdf/SKILL.md": "Mine.\n",
    },
    own: {
      "AGENTS.md": "Old words.\n",
      "config.toml":
        '# Mine.\nsandbox_mode = "read-only"\n\n[shell_environment_policy.set]\nA = "old"\n\n[mcp_servers.github]\ncommand = "old"\n',
    },
  },
  "claude-sessions": {
    from: "claude",
    tree: {
      [claudePath]: claudeSession,
      ".claude/projects/-srv-shop/agent-a1b2.jsonl": smallSession("helpers", WHEN),
      ".claude/projects/-srv-shop/nothing.jsonl": [{ type: "summary", summary: "Old", leafUuid: "z" }],
      ".claude/projects/-srv-shop/broken.jsonl": "\u0000\u0001 not JSON\n",
      ".claude/projects/-srv-shop/empty.jsonl": "",
      ".claude/projects/-srv-shop/idle.jsonl": claudeIdle,
      ".claude/projects/-srv-shop/work.jsonl": claudeWork,
      ".claude/projects/-srv-shop/no-end.jsonl": smallSession("the last line", WHEN)
        .map((line) => JSON.stringify(line))
        .join("\n"),
    },
  },
  "claude-broken": {
    from: "claude",
    tree: {
      ".claude.json": "{",
      ".claude/CLAUDE.md": "Still here.\n",
      ".claude/settings.json": "[]",
      ".claude/agents/odd.md": "---\nname: odd\n---\n",
      ".claude/skills/hollow/deep/.keep": "",
    },
    own: { "config.toml": "model = " },
  },
  "claude-windows": {
    from: "claude",
    tree: {
      ".claude/CLAUDE.md": "\uFEFFÜmlaute\r\nund Zeilen.\r\n",
      ".claude/settings.json": '\uFEFF{\r\n "env": { "NAME": "Jürgen \\"J\\" O\'Neil" }\r\n}\r\n',
      ".claude/skills/mit leer/SKILL.md": skill("mit leer").replaceAll("\n", "\r\n"),
      ".claude/commands/挨拶.md": "Say hello.\r\n",
      ".claude/commands/別れ.md": "Say goodbye.\r\n",
      ".claude/commands/schön grüßen.md": "---\r\ndescription: Grüßt\r\n---\r\nHallo.\r\n",
      ".claude/projects/C--Users-x/cccc.jsonl": smallSession("fenster", WHEN, "C:\\Users\\x")
        .map((line) => `${JSON.stringify(line)}\r\n`)
        .join(""),
    },
  },
  "codex-2025": {
    from: "codex",
    tree: {
      [`.codex/sessions/2025/05/07/rollout-2025-05-07T17-24-21-${BARE_ID}.jsonl`]: bareRollout,
      ".codex/sessions/rollout-2025-04-20-4d2f5f5e-0000-4000-8000-000000000001.json": firstRollout,
      ".codex/sessions/rollout-2025-04-21-4d2f5f5e-0000-4000-8000-000000000002.json": {
        session: { timestamp: "2025-04-21T08:00:00.000Z", id: "4d2f5f5e-0000-4000-8000-000000000002" },
        items: [
          {
            type: "message",
            role: "user",
            content: [
              {
                type: "input_text",
                text: "<environment_context>\nCurrent working directory: /srv/figs\nApproval policy: never\n</environment_context>",
              },
            ],
          },
          ...firstRollout.items,
        ],
      },
      ".codex/history.jsonl": [{ session_id: BARE_ID, ts: 1, text: "x" }],
    },
  },
  "codex-legacy": {
    from: "codex",
    tree: {
      [`.codex/archived_sessions/rollout-2026-10-01T12-00-00-${LEGACY_ID}.jsonl`]: legacyRollout,
      ".codex/session_index.jsonl": [{ id: LEGACY_ID, thread_name: "Apples", updated_at: "" }],
      ".codex/sessions/2026/10/04/rollout-2026-10-04T12-00-00-0199a000-7777-7222-8333-444455556666.jsonl": [
        {
          timestamp: "2026-10-04T10:00:00.000Z",
          type: "session_meta",
          payload: {
            id: "0199a000-7777-7222-8333-444455556666",
            timestamp: "2026-10-04T10:00:00.000Z",
            cwd: "/srv/shop",
            originator: "codex_cli_rs",
            cli_version: "0.90.0",
            source: { subagent: { thread_spawn: { parent_thread_id: LEGACY_ID, depth: 1 } } },
          },
        },
        {
          timestamp: "2026-10-04T10:00:01.000Z",
          type: "event_msg",
          payload: { type: "user_message", message: "Help" },
        },
      ],
    },
  },
  "codex-compacted": {
    from: "codex",
    tree: {
      [`.codex/sessions/2026/10/01/rollout-2026-10-01T12-00-00-${LEGACY_ID}.jsonl`]: [
        ...legacyRollout.slice(0, 15),
        {
          timestamp: "2026-10-01T10:00:20.000Z",
          type: "compacted",
          payload: { message: "Seven apples were counted." },
        },
        {
          timestamp: "2026-10-01T10:00:21.000Z",
          type: "compacted",
          payload: { message: "", replacement_history: [{ type: "compaction", encrypted_content: "x" }] },
        },
        {
          timestamp: "2026-10-01T10:00:22.000Z",
          type: "event_msg",
          payload: { type: "task_started", turn_id: "t" },
        },
        {
          timestamp: "2026-10-01T10:00:22.000Z",
          type: "event_msg",
          payload: { type: "user_message", message: "Go on" },
        },
      ],
    },
  },
  "codex-packed": {
    from: "codex",
    tree: {
      [`.codex/sessions/2026/10/01/rollout-2026-10-01T12-00-01-${PAGED_ID}.jsonl.zst`]: packedRollout,
      [`.codex/sessions/2026/10/01/rollout-2026-10-01T12-00-01-${PAGED_ID}_${REVERTED_ROLLOUT}.jsonl`]:
        revertedRollout,
      ".codex/sessions/2026/10/02/rollout-2026-10-02T12-00-01-0199a000-3333-7222-8333-444455556666.jsonl":
        pagedRollout.slice(0, 1).map((line) => ({
          ...line,
          payload: {
            ...line.payload,
            history_base: { thread_id: "0199a000-0000-7222-8333-444455556666", end_byte_offset: 9 },
          },
        })),
    },
  },
  "codex-tools": {
    from: "codex",
    tree: {
      [`.codex/sessions/2026/10/01/rollout-2026-10-01T12-00-00-${LEGACY_ID}.jsonl`]: [
        ...legacyRollout.slice(0, 7),
        responseItem({
          type: "web_search_call",
          status: "completed",
          action: { type: "search", query: "pears" },
        }),
        responseItem({
          type: "function_call",
          name: "apply_patch",
          call_id: "p",
          arguments: JSON.stringify({
            input:
              "*** Begin Patch\n*** Update File: a.txt\n*** Move to: b.txt\n@@\n one\n-two\n+three\n*** Delete File: c.txt\n*** End Patch",
          }),
        }),
        responseItem({
          type: "function_call_output",
          call_id: "p",
          output: "Exit code: 1\nOutput:\nno such file",
        }),
        responseItem({ type: "function_call", name: "apply_patch", call_id: "q", arguments: "{}" }),
        responseItem({ type: "function_call", name: "update_plan", call_id: "r", arguments: '{"plan":[]}' }),
        responseItem({ type: "function_call_output", call_id: "r", output: "Plan updated" }),
        responseItem({
          type: "function_call",
          name: "exec_command",
          call_id: "s",
          arguments: '{"cmd":"make","workdir":"/srv/shop/deep"}',
        }),
        responseItem({
          type: "function_call_output",
          call_id: "s",
          output: "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nmake: no rule\n",
        }),
      ],
    },
  },
  "codex-broken": {
    from: "codex",
    tree: {
      [`.codex/sessions/2026/10/01/rollout-2026-10-01T12-00-00-${LEGACY_ID}.jsonl`]: legacyRollout,
      [`.codex/sessions/2026/10/01/rollout-2026-10-01T12-00-01-${PAGED_ID}.jsonl.zst`]:
        packedRollout.subarray(0, 300),
      ".codex/sessions/2026/10/02/rollout-2026-10-02T12-00-01-0199a000-4444-7222-8333-444455556666.jsonl":
        pagedRollout.map((line) => ({
          ...line,
          payload: {
            ...line.payload,
            id: "0199a000-4444-7222-8333-444455556666",
            history_base: { thread_id: "0199a000-4444-7222-8333-444455556666", end_byte_offset: 900 },
          },
        })),
      ".codex/sessions/2026/10/03/rollout-2026-10-03T12-00-01-0199a000-5555-7222-8333-444455556666.jsonl":
        Uint8Array.from([0xff, 0xfe, 0, 10, 0x7b, 0xc3, 0x28, 10]),
      ".codex/sessions/2026/10/04/rollout-2026-10-04T12-00-01-0199a000-6666-7222-8333-444455556666.jsonl/x":
        "",
      ".codex/sessions/2026/10/05/rollout-2026-10-05-4d2f5f5e-0000-4000-8000-000000000003.json": "[]",
      ".codex/config.toml": "model = \n",
      ".codex/hooks.json": "[]",
      ".codex/session_index.jsonl": "{\n\u0000\n",
    },
  },
  "codex-0.166": { from: "codex", tree: recorded() },
  "codex-settings": {
    from: "codex",
    tree: {
      ".codex/config.toml": [
        '# A comment of theirs.\nmodel = "gpt-5"',
        'approval_policy = "on-request"',
        '[model_providers.local]\nname = "Local"\nbase_url = "http://127.0.0.1:1234/v1"\nwire_api = "chat"',
        '[mcp_servers.docs]\ncommand = "docs"\nargs = ["--all"]',
        "[tui]\ntheme = 'dark'",
        '[projects."/srv"]\ntrust_level = "trusted"',
        "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = 'command'\ncommand = 'true'",
        "",
      ].join("\n\n"),
      ".codex/AGENTS.md": "Codex words.\n",
      ".codex/prompts/review.md": "---\ndescription: Reviews\n---\nReview $1.\n",
      ".codex/skills/.system/own/SKILL.md": skill("own"),
      ".codex/skills/plan/SKILL.md": skill("plan"),
      ".codex/agents/worker.toml": 'name = "worker"\ndescription = "Works"\n',
      ".codex/auth.json": { OPENAI_API_KEY: "sk-not-taken" },
    },
    own: { "config.toml": '# Mine.\napproval_policy = "never" # as it was\n' },
  },
};
