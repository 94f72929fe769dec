// Helpers of a thread that has MCP servers.
import { expect, it } from "vitest";
import { helper, helperStage, type Scene, spawned } from "../support/helper-stage.ts";
import { elicitation, mcpItems, textsOf } from "../support/mcp-call-stage.ts";
import { MCP_PROGRAM } from "../support/mcp-stage.ts";

const own = { command: process.execPath, args: [MCP_PROGRAM], required: true };
const spawn = (message: string) => ({ calls: [["spawn_agent", { message }]] as const });
const wait = (scene: Scene) => ({ calls: [["wait_agent", { targets: [spawned(scene)] }]] as const });
const pid = { calls: [["mcp__own.pid", {}]] as const };
const ask = { calls: [["mcp__own.ask", {}]] as const };

it("[HELPER-24] a helper shares its parent's MCP servers, asks for its own approvals, and has its parent's grants", async () => {
  const { client, threadId } = await helperStage(
    {
      parent: [spawn("play child"), wait, { say: "done" }],
      child: [pid, { say: "child is done" }],
      own: [pid, { say: "own is done" }],
      asking: [spawn("play question"), wait, { say: "done" }],
      question: [ask, { say: "asked" }],
    },
    {
      params: { config: { mcp_servers: { own: { ...own, tools: { ask: { approval_mode: "approve" } } } } } },
    },
  );
  const answered = async (text: string, result: object): Promise<string> => {
    const from = client.frames.length;
    const turnId = await client.say(threadId, text);
    const { id, params } = await elicitation(client, from);
    client.send({ id, result });
    await client.turnCompleted(turnId);
    return params.threadId;
  };
  const accept = { action: "accept", content: null };
  // What a user allows a helper for the session is not its parent's.
  const inHelper = await answered("play parent", { ...accept, _meta: { persist: "session" } });
  expect(inHelper).toBe((await helper(client)).id);
  expect(await answered("play own", { ...accept, _meta: { persist: "session" } })).toBe(threadId);
  // Its parent's grant counts for the next helper.
  const before = client.count("mcpServer/elicitation/request");
  await client.turn(threadId, "play parent");
  expect(client.count("mcpServer/elicitation/request")).toBe(before);
  const items = mcpItems(client);
  expect(items.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
  expect(new Set(items.map(textsOf)).size, "one process for all of them").toBe(1);
  // A question of the server goes to the parent's clients, under the helper's id.
  const asking = await answered("play asking", { ...accept, content: { color: "red" }, _meta: null });
  expect(asking).toBe((await helper(client, 3)).id);
  expect(textsOf(mcpItems(client).at(-1))).toContain("red");
});
