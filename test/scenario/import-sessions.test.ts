// Sessions of other agents as threads.
import { rm, utimes } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { importAll, movingIn, putTree } from "../support/agent-home.ts";
import { CLAUDE_SESSION, claudePath, claudeSession, smallSession } from "../support/claude-session.ts";
import {
  BARE_ID,
  codexTree,
  LEGACY_ID,
  legacyRollout,
  PAGED_ID,
  packedRollout,
} from "../support/codex-rollouts.ts";
import { MockModel, responses, stream } from "../support/mock-model.ts";
import type { WireClient } from "../support/wire-client.ts";

const ALL = { includeHome: true, maxSessions: 1000, maxSessionAgeDays: 36_500 };
const CODEX = { migrationSource: "codex" };

async function sessionsOf(client: WireClient, more: object = {}) {
  const { items } = await client.call("externalAgentConfig/detect", { ...ALL, ...more });
  return items.find(({ itemType }: { itemType: string }) => itemType === "SESSIONS");
}

/** What the items of a thread's turns say, a line each. */
async function talk(client: WireClient, threadId: string): Promise<string[][]> {
  const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
  return thread.turns.map(({ items, status }: { items: Record<string, never>[]; status: string }) => [
    ...items.map(said),
    status,
  ]);
}

// biome-ignore lint/suspicious/noExplicitAny: any item.
function said(item: any): string {
  switch (item.type) {
    case "userMessage":
      return `user: ${item.content.map((part: { text?: string }) => part.text ?? "[picture]").join("|")}`;
    case "agentMessage":
      return `agent: ${item.text}`;
    case "reasoning":
      return `thought: ${item.summary.join("|")}`;
    case "commandExecution":
      return `ran: ${item.command} = ${item.exitCode} ${item.status} ${item.aggregatedOutput}`;
    case "dynamicToolCall":
      return `called: ${item.tool} ${item.status} ${item.contentItems?.[0]?.text}`;
    case "fileChange":
      return `wrote: ${item.changes.map(({ path }: { path: string }) => path).join("|")} ${item.status}`;
    case "mcpToolCall":
      return `called: ${item.server} ${item.tool} ${item.status}`;
    default:
      return item.type;
  }
}

describe("sessions of the Codex CLI", () => {
  it("[IMPORT-8] become threads, whichever version wrote them", async () => {
    const { client, user } = await movingIn(codexTree);
    const item = await sessionsOf(client, CODEX);
    expect(item.details.sessions).toHaveLength(4);
    expect(item.details.sessions).toContainEqual({
      path: join(user, `.codex/sessions/2026/10/01/rollout-2026-10-01T12-00-00-${LEGACY_ID}.jsonl`),
      cwd: "/srv/shop",
      title: "Seven apples",
    });
    const { results } = await importAll(client, [item], CODEX);
    expect(results).toEqual([{ itemType: "SESSIONS", successes: expect.anything(), failures: [] }]);

    const { data } = await client.call("thread/list", { sortKey: "created_at", sortDirection: "asc" });
    expect(data.map(({ preview, name }: Record<string, unknown>) => [preview, name])).toEqual([
      ["Name a fig", null],
      ["Which cherries are ripe?", null],
      ["How many apples are there?", "Seven apples"],
      ["Plant a pear tree", null],
    ]);
    expect(data[2]).toMatchObject({
      id: LEGACY_ID,
      cwd: "/srv/shop",
      source: "cli",
      originator: "codex_cli_rs",
      cliVersion: "0.60.0",
      model: "gpt-5-codex",
      modelProvider: "openai",
      gitInfo: { branch: "main", sha: "abc", originUrl: "u" },
      createdAt: Date.UTC(2026, 9, 1, 10) / 1000,
      status: { type: "notLoaded" },
    });
    expect(data[1].createdAt).toBe(Math.floor(Date.parse("2025-05-07T17:24:21.597Z") / 1000));

    expect(await talk(client, LEGACY_ID)).toEqual([
      [
        "user: How many apples are there?",
        "thought: Counting apples",
        "ran: ls apples | wc -l = 0 completed 7\n",
        "agent: There are seven apples.",
        "completed",
      ],
    ]);
    expect(await talk(client, PAGED_ID)).toEqual([
      [
        "user: Plant a pear tree",
        "wrote: /srv/shop/pear completed",
        "agent: The pear tree is planted.",
        "completed",
      ],
      ["user: And a plum tree", "agent: The plum tree is planted.", "completed"],
    ]);
    expect(await talk(client, data[1].id)).toEqual([
      [
        "user: Which cherries are ripe?",
        "ran: ls 'cherry tree' = null failed none",
        "agent: No cherries are ripe.",
        "completed",
      ],
    ]);
    expect(await talk(client, data[0].id)).toEqual([
      ["user: Name a fig", "agent: Brown Turkey is a fig.", "completed"],
    ]);

    const found = await client.call("thread/search", { searchTerm: "plum tree" });
    expect(found.data.map(({ thread }: { thread: { id: string } }) => thread.id)).toEqual([PAGED_ID]);
  });

  it("[IMPORT-8] go on where they ended, and can be forked", async () => {
    const { client } = await movingIn(codexTree, {
      "config.toml": "model_providers.openai = { name = 'O', base_url = 'http://127.0.0.1:9/v1' }\n",
    });
    await importAll(client, [await sessionsOf(client, CODEX)], CODEX);
    // The provider that answers without a network; it shows what it was given.
    const { thread } = await client.call("thread/resume", {
      threadId: LEGACY_ID,
      modelProvider: "offline",
      model: "offline",
    });
    expect(thread.turns).toHaveLength(1);
    await client.turn(LEGACY_ID, "And now?");
    expect((await talk(client, LEGACY_ID)).map((turn) => [turn[0], turn.at(-1)])).toEqual([
      ["user: How many apples are there?", "completed"],
      ["user: And now?", "completed"],
    ]);
    const fork = await client.call("thread/fork", { threadId: PAGED_ID });
    expect(fork.thread).toMatchObject({ forkedFromId: PAGED_ID, preview: "Plant a pear tree" });
    expect(fork.thread.turns).toHaveLength(2);
    // A second import brings nothing back.
    expect(await sessionsOf(client, CODEX)).toBeUndefined();
  });

  it("[IMPORT-8] are read where they are compressed, and archived ones are archived", async () => {
    const name = `rollout-2026-10-01T12-00-01-${PAGED_ID}.jsonl.zst`;
    const { client, user } = await movingIn({
      [`.codex/sessions/2026/10/01/${name}`]: packedRollout,
      [`.codex/archived_sessions/rollout-2026-10-01T12-00-00-${LEGACY_ID}.jsonl`]: legacyRollout,
    });
    await importAll(client, [await sessionsOf(client, CODEX)], CODEX);
    expect((await talk(client, PAGED_ID))[0]![0]).toBe("user: Plant a pear tree");
    const { data } = await client.call("thread/list", { archived: true });
    expect(data.map(({ id }: { id: string }) => id)).toEqual([LEGACY_ID]);

    // One that is damaged is named, and the others come.
    await putTree(user, {
      [`.codex/sessions/2026/10/03/rollout-2026-10-03T12-00-01-${BARE_ID}.jsonl.zst`]: packedRollout.subarray(
        0,
        -40,
      ),
      ".codex/sessions/2026/10/03/rollout-2026-10-03T12-00-02-0199a000-4444-7222-8333-444455556666.jsonl":
        "no json\n",
    });
    const { results } = await importAll(client, [await sessionsOf(client, CODEX)], CODEX);
    const [{ successes, failures }] = results as unknown as [
      { successes: unknown[]; failures: { message: string }[] },
    ];
    expect(successes).toEqual([]);
    expect(failures.map(({ message }) => message).sort()).toEqual([
      expect.stringMatching(/rollout-2026-10-03T12-00-01-.*\.zst is damaged/),
      expect.stringMatching(/rollout-2026-10-03T12-00-02-.* is no session/),
    ]);
    await rm(join(user, ".codex/sessions/2026/10/03"), { recursive: true });
    expect(await sessionsOf(client, CODEX)).toBeUndefined();
  });
});

it("[IMPORT-8] [IMPORT-9] are the model's history when they go on", async () => {
  const model = await MockModel.start(
    ...[1, 2].map(() => stream(responses.stream(responses.message("Yes.")))),
  );
  const { client } = await movingIn(
    { ...codexTree, [claudePath]: claudeSession },
    {
      "config.toml": [
        'model_provider = "mock"',
        'model = "mock-model"',
        "[model_providers.mock]",
        'name = "Mock"',
        `base_url = "${model.url}"`,
        'wire_api = "responses"',
        "",
      ].join("\n"),
    },
  );
  await importAll(client, [await sessionsOf(client, CODEX)], CODEX);
  const { results } = await importAll(client, [await sessionsOf(client)]);
  const claudeId = results[0]!.successes[0]!.target;
  const given = async (threadId: string) => {
    await client.call("thread/resume", { threadId, modelProvider: "mock", model: "mock-model" });
    await client.turn(threadId, "Do you remember?");
    const { input } = model.asked.at(-1)!.body as { input: Record<string, unknown>[] };
    return input;
  };
  const legacy = await given(LEGACY_ID);
  const call = legacy.find(({ type }) => type === "function_call");
  expect(call).toMatchObject({ name: "shell", call_id: "call_1" });
  expect(legacy).toContainEqual(
    expect.objectContaining({ type: "function_call_output", call_id: "call_1", output: "7\n" }),
  );
  expect(JSON.stringify(legacy)).toContain("There are seven apples.");
  expect(JSON.stringify(legacy)).not.toContain("Eat them");
  const claude = JSON.stringify(await given(claudeId));
  expect(claude).toContain("Kale grows here; a leek was shown.");
  expect(claude).toContain("Water the leek");
  expect(claude).not.toContain("What grows here?");
});

describe("sessions of Claude Code", () => {
  it("[IMPORT-9] become threads with the turns of their main branch", async () => {
    const agent = `.claude/projects/-srv-shop/agent-1.jsonl`;
    const { client, user } = await movingIn({
      [claudePath]: claudeSession,
      [agent]: smallSession("helpers", new Date(0)),
      ".claude/projects/-srv-shop/empty.jsonl": [{ type: "summary", summary: "Nothing", leafUuid: "x" }],
      [`.claude/projects/-srv-shop/${CLAUDE_SESSION}/subagents/agent-2.jsonl`]: smallSession(
        "x",
        new Date(0),
      ),
    });
    const item = await sessionsOf(client);
    expect(item.details.sessions).toEqual([
      { path: join(user, claudePath), cwd: "/srv/shop", title: "The garden" },
    ]);
    const { results } = await importAll(client, [item]);
    const { data } = await client.call("thread/list", {});
    expect(results).toEqual([
      {
        itemType: "SESSIONS",
        successes: [
          {
            itemType: "SESSIONS",
            cwd: "/srv/shop",
            source: join(user, claudePath),
            target: data[0].id,
            title: "The garden",
          },
        ],
        failures: [],
      },
    ]);
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({
      name: "The garden",
      cwd: "/srv/shop",
      source: "cli",
      originator: "claude-code",
      cliVersion: "2.0.14",
      gitInfo: { branch: "main" },
      modelProvider: "offline",
    });
    expect(await talk(client, data[0].id)).toEqual([
      [
        "user: What grows here?",
        "thought: Look first",
        "ran: ls garden = null completed kale\n",
        "called: plants lookup failed",
        "agent: Kale grows here.",
        "completed",
      ],
      ["user: [picture]|Is this kale?", "agent: It is a leek.", "contextCompaction", "completed"],
      ["user: Water the leek", "interrupted"],
    ]);
    const found = await client.call("thread/search", { searchTerm: "leek" });
    expect(found.data).toHaveLength(1);
    expect((await client.call("thread/search", { searchTerm: "Burn it" })).data).toEqual([]);
    await client.call("thread/resume", { threadId: data[0].id });
    await client.turn(data[0].id, "Thank you");
    expect(await sessionsOf(client)).toBeUndefined();
  });

  it("[IMPORT-9] are listed latest first, up to the number and age that a client asks for", async () => {
    const { client, user } = await movingIn({});
    const now = new Date();
    for (const name of ["one", "two", "three"])
      await putTree(user, { [`.claude/projects/p/${name}.jsonl`]: smallSession(name, now) });
    const old = new Date(now.getTime() - 40 * 24 * 60 * 60 * 1000);
    await utimes(join(user, ".claude/projects/p/two.jsonl"), old, old);
    const offered = async (asked: object) => {
      const { items } = await client.call("externalAgentConfig/detect", { includeHome: true, ...asked });
      const sessions: { path: string }[] = items[0]?.details.sessions ?? [];
      return sessions.map(({ path }) => basename(path, ".jsonl")).sort();
    };
    expect(await offered({})).toEqual(["one", "three"]);
    expect(await offered({ maxSessionAgeDays: 50 })).toEqual(["one", "three", "two"]);
    expect(await offered({ maxSessions: 1 })).toHaveLength(1);
    expect(await offered({ maxSessions: 0 })).toEqual([]);
    // A file that is no session of the agent's is not read.
    const { results } = await importAll(client, [
      {
        itemType: "SESSIONS",
        description: "",
        cwd: null,
        details: { sessions: [{ path: "/etc/passwd", cwd: "/", title: null }] },
      },
    ]);
    expect(results).toEqual([
      {
        itemType: "SESSIONS",
        successes: [],
        failures: [expect.objectContaining({ failureStage: "session_missing", source: "/etc/passwd" })],
      },
    ]);
  });
});
