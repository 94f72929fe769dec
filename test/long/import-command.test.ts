// `bobbin import` in a terminal, and many sessions at once.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { putTree, treeOf } from "../support/agent-home.ts";
import { smallSession } from "../support/claude-session.ts";
import { codexTree, smallRollout } from "../support/codex-rollouts.ts";
import { freshFolder } from "../support/folder.ts";
import { BOBBIN, environment, stdioHost } from "../support/host-process.ts";
import { LONG } from "../support/long-form.ts";
import { STUCK_MS } from "../support/patience.ts";
import { runBobbin } from "../support/run-bobbin.ts";
import { TerminalRun } from "../support/terminal-run.ts";

async function person() {
  const user = await freshFolder("person");
  const home = join(user, ".bobbin");
  await mkdir(home);
  const env = { HOME: user, BOBBIN_HOME: home, CODEX_HOME: "", CLAUDE_CONFIG_DIR: "", LOG_FORMAT: "text" };
  return { user, home, env, run: (...args: string[]) => runBobbin(["import", ...args], { env }) };
}

it("[IMPORT-11] shows what it would do, does it once, and names files that cannot be read", async () => {
  const { user, home, run } = await person();
  await putTree(user, {
    ...codexTree,
    ".codex/sessions/2026/10/05/rollout-2026-10-05T12-00-00-0199a000-5555-7222-8333-444455556666.jsonl":
      "??\n",
    ".claude/CLAUDE.md": "Be kind.\n",
    ".claude/projects/p/one.jsonl": smallSession("one", new Date()),
  });
  const before = await treeOf(user);
  const plan = await run("--dry-run");
  expect([plan.code, plan.stderr]).toEqual([0, ""]);
  expect(plan.stdout.split("\n")).toEqual([
    "From the Codex CLI:",
    `  SESSIONS           Migrate sessions from ${user}/.codex/sessions (5)`,
    "From Claude Code:",
    `  AGENTS_MD          Migrate ${user}/.claude/CLAUDE.md to ${home}/AGENTS.md`,
    `  SESSIONS           Migrate sessions from ${user}/.claude/projects (1)`,
    "",
  ]);
  const others = (tree: Record<string, string>) =>
    Object.fromEntries(Object.entries(tree).filter(([path]) => !path.startsWith(".bobbin/")));
  expect(await treeOf(user)).toEqual(before);

  const done = await run("--from", "codex");
  expect(done.code).toBe(0);
  expect(done.stdout.split("\n")).toEqual([
    "From the Codex CLI:",
    "  SESSIONS           4 imported, 1 failed",
    expect.stringMatching(
      /^ {4}\S*rollout-2026-10-05T12-00-00-0199a000-5555-7222-8333-444455556666\.jsonl is no session/,
    ),
    "",
  ]);
  const { stdout } = await run("--json");
  const [codex, claude] = JSON.parse(stdout);
  expect(codex.results).toEqual([{ itemType: "SESSIONS", successes: [], failures: [expect.anything()] }]);
  expect(claude.results.map(({ itemType }: { itemType: string }) => itemType)).toEqual([
    "AGENTS_MD",
    "SESSIONS",
  ]);
  expect((await run("--from", "claude")).stdout).toBe("Nothing to import from Claude Code.\n");
  expect(others(await treeOf(user))).toEqual(others(before));
});

it("[IMPORT-11] refuses an agent that it does not know", async () => {
  const { run } = await person();
  const { code, stderr } = await run("--from", "hal");
  expect([code, stderr]).toEqual([2, expect.stringContaining("Allowed choices are codex, claude")]);
});

it("[IMPORT-15] imports everything once when two run at once, and whole folders", async () => {
  const { user, run } = await person();
  const parts = Array.from({ length: 300 }, (_, nth) => [
    `.claude/skills/large/parts/${nth}.md`,
    `Part ${nth}.\n`,
  ]);
  const sessions = Array.from({ length: 20 }, (_, nth) => [
    `.claude/projects/p/${nth}.jsonl`,
    smallSession(`session ${nth}`, new Date(Date.UTC(2026, 0, 1) + nth * 60_000)),
  ]);
  await putTree(user, {
    ".claude/skills/large/SKILL.md": "---\nname: large\ndescription: Large.\n---\nRead the parts.\n",
    ".claude/settings.json": {
      env: { A: "1" },
      hooks: { Stop: [{ hooks: [{ type: "command", command: "true" }] }] },
    },
    ".claude.json": { mcpServers: { docs: { command: "docs" } } },
    ...Object.fromEntries([...parts, ...sessions]),
  });
  const runs = await Promise.all([run("--from", "claude", "--json"), run("--from", "claude", "--json")]);
  const results = runs.flatMap(({ stdout }) => JSON.parse(stdout)[0].results) as {
    itemType: string;
    successes: { source: string }[];
    failures: unknown[];
  }[];
  expect(results.flatMap(({ failures }) => failures)).toEqual([]);
  const brought = results.flatMap(({ successes }) => successes.map(({ source }) => source));
  expect(brought.length).toBe(new Set(brought).size);
  expect(brought).toHaveLength(4 + 20);
  const tree = await treeOf(user);
  const made = Object.keys(tree).filter((path) => path.startsWith(".agents/skills/large/parts/"));
  expect(made).toHaveLength(parts.length);
  expect(JSON.parse(tree[".bobbin/hooks.json"]!).hooks.Stop).toHaveLength(1);
  expect(Object.keys(tree).filter((path) => path.startsWith(".bobbin/incoming/"))).toEqual([]);
});

describe("the progress bar", () => {
  /** Every state of the line that a terminal showed, and whether it is empty at the end. */
  const bars = (raw: string): string[] =>
    raw.split("\r").flatMap((piece) => {
      const end = piece.indexOf("\x1b[K");
      return end < 0 ? [] : [piece.slice(0, end)];
    });

  const onTerminal = async (cols: number, more: Record<string, string> = {}) => {
    const { user, env } = await person();
    const sessions = Array.from({ length: 240 }, (_, nth) => [
      `.claude/projects/p/${nth}.jsonl`,
      smallSession(`session ${nth}`, new Date(Date.UTC(2026, 0, 1) + nth * 60_000)),
    ]);
    await putTree(user, { ".claude/CLAUDE.md": "Be kind.\n", ...Object.fromEntries(sessions) });
    const given = environment(env.BOBBIN_HOME, { ...env, TERM: "xterm-256color", ...more });
    const argv = [process.execPath, BOBBIN, "import", "--from", "claude"] as const;
    const run = await TerminalRun.start(argv, { cwd: user, env: given, cols });
    expect(await run.ended).toEqual({ code: 0, signal: null });
    return { run, shown: bars(run.raw) };
  };
  const SUMMARY = "From Claude Code:\n  AGENTS_MD          1 imported\n  SESSIONS           240 imported\n";

  it.each([
    [80, `[${"#".repeat(30)}] 241/241`],
    [40, `[${"#".repeat(29)}] 241/241`],
    [14, "241/241"],
  ])("[IMPORT-14] fits into %i columns, grows, and is gone at the end", async (cols, last) => {
    const { run, shown } = await onTerminal(cols);
    for (const bar of shown) expect(bar.length, bar).toBeLessThan(cols);
    const counts = shown.slice(0, -1).map((bar) => Number(/(\d+)\/241$/.exec(bar)![1]));
    expect(counts[0]).toBe(0);
    expect(counts).toEqual([...new Set(counts)].sort((a, b) => a - b));
    expect(shown.slice(-2)).toEqual([last, ""]);
    expect(run.raw.slice(run.raw.lastIndexOf("\x1b[K") + 3).replaceAll("\r", "")).toBe(SUMMARY);
  });

  it("[IMPORT-14] has no colours, and none are in the summary with NO_COLOR", async () => {
    const { run } = await onTerminal(80, { NO_COLOR: "1" });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
    expect(run.raw.match(/\x1b\[(?!K)/g)).toBeNull();
  });

  it("[IMPORT-14] is not shown where a line cannot be written again", async () => {
    const { run, shown } = await onTerminal(80, { TERM: "dumb" });
    expect([shown, run.shown]).toEqual([[], SUMMARY]);
  });
});

const MANY = LONG ? 10_000 : 300;

/** Of all sessions together: more than the heap of the program may hold. */
const TEXT = "Here is a long story about apples and pears. ".repeat(Math.ceil(150e6 / 45 / MANY));

/** The path and the lines of a session. */
const SESSIONS = {
  claude: (nth: number) => {
    const when = new Date(Date.UTC(2026, 0, 1) + nth * 60_000);
    const lines = [...smallSession(`session-${nth}`, when), { type: "note", words: TEXT }];
    return [`.claude/projects/p${nth % 10}/session-${nth}.jsonl`, lines] as const;
  },
  codex: (nth: number) => {
    const id = `01a0f6e8-1500-7111-8333-${String(nth).padStart(12, "0")}`;
    const path = `.codex/sessions/2026/10/01/rollout-2026-10-01T12-00-00-${id}.jsonl`;
    return [path, smallRollout(id, `session-${nth}`, TEXT)] as const;
  },
};

it.each([
  ["claude", "Claude Code"],
  ["codex", "the Codex CLI"],
] as const)(
  `[IMPORT-13] imports ${MANY} sessions of %s at once with bounded memory`,
  {
    timeout: STUCK_MS,
  },
  async (from, name) => {
    const { user, home, env } = await person();
    for (let at = 0; at < MANY; at += 100) {
      const some = Array.from({ length: Math.min(100, MANY - at) }, (_, nth) => SESSIONS[from](at + nth));
      await putTree(user, Object.fromEntries(some));
    }
    const bounded = { ...env, NODE_OPTIONS: "--max-old-space-size=96" };
    const begun = performance.now();
    const { code, stdout, stderr } = await runBobbin(["import", "--from", from], { env: bounded });
    expect([code, stdout, stderr]).toEqual([0, `From ${name}:\n  SESSIONS           ${MANY} imported\n`, ""]);
    if (LONG)
      process.stderr.write(`imported ${MANY} sessions in ${Math.round(performance.now() - begun)} ms\n`);
    const { client } = await stdioHost({ home, env, capabilities: { experimentalApi: true } });
    const { data } = await client.call("thread/search", { searchTerm: `session-${MANY - 7}` });
    expect(data.map(({ thread }: { thread: { preview: string } }) => thread.preview)).toEqual([
      `Tell me about session-${MANY - 7}`,
    ]);
    let count = 0;
    let cursor: string | null = null;
    do {
      const page: { data: unknown[]; nextCursor: string | null } = await client.call("thread/list", {
        limit: 100,
        cursor,
      });
      count += page.data.length;
      cursor = page.nextCursor;
    } while (cursor !== null);
    expect(count).toBe(MANY);
  },
);
