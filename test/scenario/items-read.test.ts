// thread/items/read: some items of one turn, by their ids.
import { describe, expect, it } from "vitest";
import { commandStage } from "../support/command-stage.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { calls, mcpStage } from "../support/mcp-call-stage.ts";
import { run, say } from "../support/model-replies.ts";
import type { WireClient } from "../support/wire-client.ts";

const EXPERIMENTAL = { experimentalApi: true };
const NOBODY = "01a1e0d3-0000-7000-8000-000000000000";

describe.each(["stdio", "websocket"] as const)("items of a turn, on %s", (transport) => {
  async function clients(): Promise<{
    host: HostProcess;
    client: WireClient;
    other: WireClient;
  }> {
    const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0", "--stdio"] });
    const [socket, stdio] = [await host.join(undefined, EXPERIMENTAL), host.stdio()];
    await stdio.initialize(EXPERIMENTAL);
    return transport === "stdio"
      ? { host, client: stdio, other: socket }
      : { host, client: socket, other: stdio };
  }

  const listed = async (client: WireClient, threadId: string, turnId: string) =>
    (await client.call("thread/items/list", { threadId, turnId })).data;

  it("[LIST-14] come in the turn's order, each once, for every client that may see the thread", async () => {
    const { client, other } = await clients();
    const threadId = await client.startThread();
    const first = await client.turn(threadId, "Hello");
    const second = await client.turn(threadId, "Hello again");
    const all = await listed(client, threadId, first);
    const ids: string[] = all.map(({ item }: { item: { id: string } }) => item.id);
    expect(ids).toHaveLength(2);
    const read = async (who: WireClient, turnId: string, itemIds: readonly string[]) =>
      (await who.call("thread/items/read", { threadId, turnId, itemIds })).data;
    expect(await read(client, first, ids)).toEqual(all);
    expect(await read(other, first, ids.toReversed())).toEqual(all);
    expect(await read(other, first, [ids[1]!, ids[1]!])).toEqual([all[1]]);
    // What is not there is left out.
    expect(await read(client, first, ["nothing", ids[0]!])).toEqual([all[0]]);
    expect(await read(client, second, ids)).toEqual([]);
    for (const turnId of [NOBODY, threadId, "", "type", `${first}"`])
      expect(await read(client, turnId, ids), turnId).toEqual([]);
  });

  it("[LIST-14] are found in a thread that is not loaded, and not in a turn that was dropped", async () => {
    const { client, other } = await clients();
    const threadId = await client.startThread();
    const kept = await client.turn(threadId, "Stay");
    const gone = await client.turn(threadId, "Go");
    const [stays, goes] = [await listed(client, threadId, kept), await listed(client, threadId, gone)];
    const read = async (who: WireClient, turnId: string, entries: typeof stays) => {
      const itemIds = entries.map(({ item }: { item: { id: string } }) => item.id);
      return (await who.call("thread/items/read", { threadId, turnId, itemIds })).data;
    };
    expect(await read(client, gone, goes)).toEqual(goes);
    await client.call("thread/revert", { threadId, beforeTurnId: gone });
    expect(await read(client, gone, goes)).toEqual([]);
    expect(await read(client, kept, stays)).toEqual(stays);
    await client.call("thread/unload", { threadId });
    expect(await read(other, kept, stays)).toEqual(stays);
    expect(await read(other, gone, goes)).toEqual([]);
    const { data: loaded } = await other.call("thread/loaded/list");
    expect(loaded).toEqual([]);
    // All turns may go.
    await other.call("thread/resume", { threadId });
    await other.call("thread/revert", { threadId, beforeTurnId: kept });
    expect(await read(other, kept, stays)).toEqual([]);
  });

  it("[LIST-14] are 1 to 100 in a request", async () => {
    const { client } = await clients();
    const threadId = await client.startThread();
    const turnId = await client.turn(threadId, "Hello");
    const names = (count: number) => Array.from({ length: count }, (_, at) => `item ${at}`);
    for (const itemIds of [[], names(101)]) {
      expect(await client.refusal("thread/items/read", { threadId, turnId, itemIds })).toEqual({
        code: -32600,
        message: "itemIds must contain 1 to 100 IDs",
        data: { code: "tooManyItemIds", retryable: false },
      });
    }
    expect(await client.call("thread/items/read", { threadId, turnId, itemIds: names(100) })).toEqual({
      data: [],
    });
    const missing = { threadId: NOBODY, turnId, itemIds: ["x"] };
    expect(await client.refusal("thread/items/read", missing)).toMatchObject({
      data: { code: "threadNotLoaded" },
    });
    expect(await client.refusal("thread/items/read", { ...missing, threadId: "bad" })).toMatchObject({
      code: -32600,
      data: { code: "invalidThreadId" },
    });
  });
});

it("[LIST-19] leaves out the outputs that the client defers, and reads them by their ids", async () => {
  const replies = [run({ cmd: "echo out" }, "c1"), run({ cmd: "echo bad; exit 3" }, "c2"), say("ok")];
  const { client, threadId } = await commandStage(replies, ['sandbox_mode = "danger-full-access"']);
  const turnId = await client.turn(threadId, "Run");
  const outputs = async (params: object) => {
    const { data } = await client.call("thread/items/list", { threadId, ...params });
    return data
      .filter(({ item }: { item: { type: string } }) => item.type === "commandExecution")
      .map((entry: { item: { aggregatedOutput: string | null }; outputDeferred?: boolean }) => [
        entry.item.aggregatedOutput,
        entry.outputDeferred,
      ]);
  };
  const whole = [
    ["out\n", undefined],
    ["bad\n", undefined],
  ];
  const deferOutput = { commandExecution: true };
  expect(await outputs({ turnId, deferOutput })).toEqual([[null, true], whole[1]]);
  // Only for a single turn, and only the kinds that are named.
  expect(await outputs({ deferOutput })).toEqual(whole);
  expect(await outputs({ turnId, deferOutput: { mcpToolCall: true } })).toEqual(whole);
  const { data } = await client.call("thread/items/read", { threadId, turnId, itemIds: ["c1"] });
  expect(data[0].item.aggregatedOutput).toBe("out\n");
});

it("[LIST-19] leaves out the texts of tools of MCP servers", async () => {
  const { client, threadId } = await mcpStage([calls(["echo", { message: "said" }]), say("ok")]);
  const turnId = await client.turn(threadId, "Call");
  const deferOutput = { mcpToolCall: true };
  const { data } = await client.call("thread/items/list", { threadId, turnId, deferOutput });
  const entry = data.find(({ item }: { item: { type: string } }) => item.type === "mcpToolCall");
  expect(entry).toMatchObject({ outputDeferred: true, item: { result: { content: [] } } });
  const { data: read } = await client.call("thread/items/read", {
    threadId,
    turnId,
    itemIds: [entry.item.id],
  });
  expect(read[0].item.result.content).toMatchObject([{ type: "text", text: expect.stringMatching(/said/) }]);
});
