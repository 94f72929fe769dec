// What the Codex CLI sent in the recorded case with a helper, compared with what Bobbin sends.
import { describe, expect, it } from "vitest";
import { helper, helperStage, spawned } from "../support/helper-stage.ts";
import { hasSandbox } from "../support/sandbox-here.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

/** Sent at places that are free, or not compared in any recorded case. */
const UNORDERED = new Set([
  "account/rateLimits/updated",
  "item/agentMessage/delta",
  "item/commandExecution/outputDelta",
  "mcpServer/startupStatus/updated",
  "thread/readState/changed",
  "thread/settings/updated",
  "thread/started",
  "thread/status/changed",
  "thread/tokenUsage/updated",
  "warning",
]);

/** The recorded order in the thread of the client. */
const PARENT = [
  "turn/started",
  "item/started userMessage",
  "item/completed userMessage",
  "item/started spawnAgent inProgress",
  "item/completed spawnAgent completed pendingInit",
  "item/started wait inProgress",
  "item/completed wait completed completed",
  "item/started sendInput inProgress",
  "item/completed sendInput completed completed",
  "item/started closeAgent inProgress",
  "item/completed closeAgent completed running",
  "item/started agentMessage",
  "item/completed agentMessage",
  "turn/completed completed",
];

/** The recorded order in the thread of the helper. Bobbin completes the message that the close cut off. */
const CHILD = [
  "turn/started",
  "item/started userMessage",
  "item/completed userMessage",
  "item/started commandExecution",
  "item/completed commandExecution",
  "item/started agentMessage",
  "item/completed agentMessage",
  "turn/completed completed",
  "turn/started",
  "item/started userMessage",
  "item/completed userMessage",
  "turn/completed interrupted",
];

/** What came before what, from one thread to the other: parent's line, helper's line, in the recorded order. */
const ACROSS: readonly (readonly [first: string, second: string])[] = [
  ["parent item/started spawnAgent inProgress", "child thread/started"],
  ["child thread/started", "parent item/completed spawnAgent completed pendingInit"],
  ["parent item/completed spawnAgent completed pendingInit", "child turn/started"],
  ["child turn/completed completed", "parent item/completed wait completed completed"],
  ["parent item/completed sendInput completed completed", "child turn/started 2"],
  ["parent item/started closeAgent inProgress", "child turn/completed interrupted"],
  ["child turn/completed interrupted", "child thread/status/changed notLoaded"],
  ["child thread/status/changed notLoaded", "parent item/completed closeAgent completed running"],
];

function lineOf({ method, params }: Received): string {
  const { item, turn, status } = params;
  if (item?.type === "collabAgentToolCall") {
    const states = Object.values(item.agentsStates as Record<string, { status: string }>);
    return [method, item.tool, item.status, ...states.map((one) => one.status)].join(" ");
  }
  if (item !== undefined) return `${method} ${item.type}`;
  if (method === "turn/completed") return `${method} ${turn.status}`;
  return method === "thread/status/changed" ? `${method} ${status.type}` : method!;
}

const of = (client: WireClient, threadId: string): Received[] =>
  client.frames.filter(({ method, params }) => {
    return method !== undefined && (params?.threadId ?? params?.thread?.id) === threadId;
  });

const ordered = (client: WireClient, threadId: string): string[] =>
  of(client, threadId)
    .filter(({ method }) => !UNORDERED.has(method!))
    .map(lineOf);

describe.skipIf(!hasSandbox)("the recorded case with a helper", () => {
  it.each(["stdio", "ws"])("[HELPER-5] has the recorded order on %s", async (transport) => {
    let closing = (): void => {};
    const begun = new Promise<void>((resolve) => {
      closing = resolve;
    });
    const { client, threadId } = await helperStage(
      {
        parent: [
          { calls: [["spawn_agent", { message: "play child" }]] },
          (scene) => ({ calls: [["wait_agent", { targets: [spawned(scene)], timeout_ms: 20_000 }]] }),
          (scene) => ({ calls: [["send_input", { target: spawned(scene), message: "play more" }]] }),
          async (scene) => {
            await begun;
            return { calls: [["close_agent", { target: spawned(scene) }]] };
          },
          { say: "parent is done" },
        ],
        child: [
          { calls: [["exec_command", { cmd: "echo from child", login: false }]] },
          { say: "child is done" },
        ],
        more: [
          () => {
            closing();
            return { hang: true };
          },
        ],
      },
      { transport, top: ['sandbox_mode = "workspace-write"'] },
    );
    await client.turn(threadId, "play parent");
    const { id } = await helper(client);
    expect(ordered(client, threadId)).toEqual(PARENT);
    expect(ordered(client, id).filter((line) => line !== "thread/closed")).toEqual(CHILD);
    const all = client.frames.flatMap((frame) => {
      const thread = frame.params?.threadId ?? frame.params?.thread?.id;
      if (frame.method === undefined || (thread !== threadId && thread !== id)) return [];
      return [`${thread === id ? "child" : "parent"} ${lineOf(frame)}`];
    });
    const numbered = all.map((line, at) => {
      const nth = all.slice(0, at).filter((one) => one === line).length;
      return nth === 0 ? line : `${line} ${nth + 1}`;
    });
    for (const [first, second] of ACROSS) {
      expect(numbered, first).toContain(first);
      expect(numbered, second).toContain(second);
      expect(numbered.indexOf(first), `${first} before ${second}`).toBeLessThan(numbered.indexOf(second));
    }
    const { data } = await client.call("thread/list", {
      sourceKinds: ["subAgent", "subAgentThreadSpawn", "vscode"],
    });
    expect(
      data.map((thread: { id: string; parentThreadId: string | null; preview: string }) => [
        thread.id,
        thread.parentThreadId,
        thread.preview,
      ]),
    ).toEqual([
      [id, threadId, "play child"],
      [threadId, null, "play parent"],
    ]);
    expect((await client.call("thread/loaded/list", {})).data).toEqual([threadId]);
  });
});
