// Large pictures that tools come to: beside the journal, and whole for clients and models.
import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { stdioHost } from "../support/host-process.ts";
import { calls, mcpItems, mcpStage } from "../support/mcp-call-stage.ts";
import { responses, stream } from "../support/mock-model.ts";
import { DOT_PNG } from "../support/picture.ts";
import { answer, journalOf, outputs, rapStage, say, toolItems } from "../support/rap-stage.ts";
import { FakeToolServer } from "../support/tool-server.ts";

const PICTURE = Buffer.concat([DOT_PNG, Buffer.alloc(200_000, 1)]).toString("base64");
const URL = `data:image/png;base64,${PICTURE}`;

describe("a large picture of an MCP server", () => {
  it("[MCPCALL-5] is stored beside the journal, and complete for clients and the model", async () => {
    const stage = await mcpStage([calls(["picture", { bytes: 200_000 }]), say("Nice."), say("Still nice.")]);
    const { client, threadId, model } = stage;
    await client.turn(threadId, "Draw!");
    await client.turn(threadId, "Once more.");
    expect(mcpItems(client)[0].result.content).toEqual([
      { type: "image", data: PICTURE, mimeType: "image/png" },
    ]);
    expect(outputs(model, 2)).toEqual([[{ type: "input_image", image_url: URL }]]);
    const { text } = await journalOf(stage);
    expect(text).not.toContain(PICTURE.slice(0, 1000));
    const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
    expect(JSON.stringify(thread.turns)).toContain(PICTURE);
  });
});

describe("a large picture of a tool server", () => {
  it("[MCPCALL-5] is stored beside the journal, and complete for clients and the model, also after a restart", async () => {
    const server = await FakeToolServer.start({
      draw: { annotations: { readOnly: true } },
    });
    const stage = await rapStage(
      [stream(responses.stream(responses.call("draw", "{}", "call_1"))), say("Nice."), say("Still nice.")],
      { servers: { desk: server } },
    );
    const { client, threadId, model, host, home } = stage;
    const turnId = await client.say(threadId, "Draw!");
    const content = [{ type: "image", data: PICTURE, mediaType: "image/png" }];
    expect(await answer(await server.next("/invoke", 1), { content })).toBe(200);
    await client.turnCompleted(turnId);

    const shown = [{ type: "image", data: PICTURE, mimeType: "image/png" }];
    expect(toolItems(client, "item/completed")[0].result.content).toEqual(shown);
    expect(outputs(model, 1)).toEqual([[{ type: "input_image", image_url: URL }]]);
    const { path, text } = await journalOf(stage);
    expect(text).not.toContain(PICTURE.slice(0, 1000));
    expect(await readdir(path.replace(/\.jsonl$/, ".blobs"))).toHaveLength(1);

    const { thread } = await client.call("thread/fork", { threadId });
    await client.call("thread/delete", { threadId });
    const itemsOf = (turns: { items: { type: string; result?: { content: unknown } }[] }[]) =>
      turns.flatMap(({ items }) => items).filter(({ type }) => type === "mcpToolCall");
    expect(itemsOf(thread.turns)[0]!.result!.content).toEqual(shown);

    host.signal("SIGKILL");
    await host.exited;
    const next = (await stdioHost({ home, capabilities: { experimentalApi: true } })).client;
    const resumed = await next.call("thread/resume", { threadId: thread.id });
    expect(itemsOf(resumed.thread.turns)[0]!.result!.content).toEqual(shown);
    const page = await next.call("thread/items/list", { threadId: thread.id });
    const [entry] = page.data.filter(({ item }: { item: { type: string } }) => item.type === "mcpToolCall");
    expect(entry.item.result.content).toEqual(shown);
    await next.turn(thread.id, "And now?");
    expect(outputs(model, 2)).toEqual([[{ type: "input_image", image_url: URL }]]);
  });

  it("[MCPCALL-5] is complete for a client that catches up", async () => {
    const server = await FakeToolServer.start({
      draw: { annotations: { readOnly: true } },
    });
    const { client, host, threadId } = await rapStage(
      [stream(responses.stream(responses.call("draw", "{}", "call_1"))), say("Nice.")],
      { servers: { desk: server } },
    );
    const follower = await host.join(undefined, { experimentalApi: true, eventCursor: true });
    await follower.call("thread/resume", { threadId });
    const turnId = await client.say(threadId, "Draw!");
    const heard = await server.next("/invoke", 1);
    const started = await follower.waitFor(
      ({ method, params }) => method === "item/started" && params.item.type === "mcpToolCall",
      "the call",
    );
    await follower.close();
    expect(await answer(heard, { content: [{ type: "image", data: PICTURE, mediaType: "image/png" }] })).toBe(
      200,
    );
    await client.turnCompleted(turnId);
    const back = await host.join(undefined, { experimentalApi: true, eventCursor: true });
    await back.call("thread/resume", { threadId, afterCursor: started.params.cursor });
    await back.turnCompleted(turnId);
    expect(toolItems(back, "item/completed")[0].result.content).toEqual([
      { type: "image", data: PICTURE, mimeType: "image/png" },
    ]);
  });
});
