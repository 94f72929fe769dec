// Events that threads of their own handle.
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { spawnHost } from "../support/host-process.ts";
import { responses, silent } from "../support/mock-model.ts";
import { answer, asked, call, EXPERIMENTAL, SOCKET, say } from "../support/rap-stage.ts";
import type { FakeToolServer } from "../support/tool-server.ts";
import { emit, watch, watching } from "../support/watching.ts";
import type { WireClient } from "../support/wire-client.ts";

/** The nth thread that a client was told of besides those that it started itself. */
async function child(client: WireClient, parentId: string, nth = 1) {
  const mine = () =>
    client.told("thread/started").filter(({ params }) => params.thread.parentThreadId === parentId);
  await client.until(() => mine().length >= nth, `child ${nth}`);
  return mine()[nth - 1]!.params.thread;
}

const closings = (server: FakeToolServer): string[] =>
  server.at("/close_thread").map(({ body }) => body.thread_id);

describe("an event for a child thread", () => {
  it("[RAPR-132] is handled by a child, with the parent's history and without changing it", async () => {
    const { client, threadId, heard, model, server } = await watching();
    model.reply(say("I saw it"));
    expect(await Promise.all([1, 2].map(() => emit(heard, "a bird", {}, "event-1")))).toEqual([200, 200]);
    const { id: childId, ephemeral, forkedFromId } = await child(client, threadId);
    expect([ephemeral, forkedFromId]).toEqual([false, null]);
    // Who follows the parent sees what the child does, and is no reason for it to stay.
    const { params } = await client.about(childId, "turn/completed");
    expect(params.turn.status).toBe("completed");
    await client.about(childId, "thread/closed");
    await eventually(() => closings(server).includes(childId), "tool servers are told of its end");
    const input = JSON.stringify(model.asked[2]!.body.input);
    expect(input).toMatch(/watch the sky/);
    expect(input).toMatch(/receive_event__injected/);
    expect(input).toMatch(/a bird/);
    expect(model.asked).toHaveLength(3);
    await client.turn(threadId, "and?");
    expect(JSON.stringify(model.asked[3]!.body.input)).not.toMatch(/a bird/);
    const { data } = await client.call("thread/list", { parentThreadId: threadId });
    expect(data.map(({ id }: { id: string }) => id)).toEqual([childId]);
    expect(closings(server)).toEqual([childId]);
  });

  it("[RAPR-45] [RAPR-25] names its ancestors in the child's calls, and has the toolsets of its parent's load", async () => {
    const { client, threadId, heard, model, server } = await watching();
    model.reply(call(watch("call_2")), say("Nested"));
    expect(await emit(heard, "one")).toBe(200);
    const first = await child(client, threadId);
    const below = await server.next("/invoke", 2);
    expect(below.body).toMatchObject({ group_id: first.id, thread_ancestors: [threadId] });
    expect(await answer(below, "Subscribed.", { subscription: true })).toBe(200);
    await client.about(first.id, "turn/completed");
    model.reply(call(watch("call_3")), say("Deeper"));
    expect(await emit(below, "two")).toBe(200);
    const third = await server.next("/invoke", 3);
    expect(third.body.thread_ancestors).toEqual([threadId, first.id]);
    expect(heard.body.thread_ancestors).toBeUndefined();
    expect(server.at("/.well-known/rap-toolset")).toHaveLength(1);
    // A fork begins anew.
    model.reply(call(watch("call_4")), say("Forked"));
    const { thread } = await client.call("thread/fork", { threadId: first.id });
    await client.say(thread.id, "watch");
    const forked = await server.next("/invoke", 4);
    expect(forked.body.thread_ancestors).toBeUndefined();
    expect(server.at("/.well-known/rap-toolset")).toHaveLength(2);
    // Descendants close before their ancestors.
    expect(await client.call("thread/unload", { threadId, interrupt: true })).toEqual({ status: "unloaded" });
    await eventually(() => closings(server).length === 3, "three closings");
    expect(closings(server)).toEqual([third.body.group_id, first.id, threadId]);
  });

  it("keeps the parent loaded while it is handled, and is ended by an unload with interrupt", async () => {
    const { client, threadId, heard, model } = await watching();
    model.reply(silent(""));
    expect(await emit(heard, "a bird", { final: true })).toBe(200);
    const { id: childId } = await child(client, threadId);
    await client.about(childId, "turn/started");
    expect(await client.call("thread/unload", { threadId })).toMatchObject({
      status: "active",
      blockedBy: { turnId: null, descendants: 1 },
    });
    const { threads } = await client.call("server/diagnostics");
    const descendants = threads.map((one: { threadId: string; descendants: number }) => [
      one.threadId,
      one.descendants,
    ]);
    expect(new Map(descendants)).toEqual(
      new Map([
        [threadId, 1],
        [childId, 0],
      ]),
    );
    const from = client.frames.length;
    expect(await client.call("thread/unload", { threadId, interrupt: true })).toEqual({ status: "unloaded" });
    await client.about(threadId, "thread/closed", from);
    const order = client.frames
      .slice(from)
      .filter(({ method }) => method === "thread/closed")
      .map(({ params }) => params.threadId);
    expect(order).toEqual([childId, threadId]);
  });

  it("may need an approval, which subscribers of the parent can give", async () => {
    const { client, threadId, heard, model, server } = await watching();
    model.reply(call(responses.call("wipe", "{}", "call_2")), say("Wiped"));
    expect(await emit(heard, "dirt")).toBe(200);
    const { id: childId } = await child(client, threadId);
    const { id, params } = await asked(client, "mcpServer/elicitation/request");
    expect(params.threadId).toBe(childId);
    client.send({ id, result: { action: "accept", content: {} } });
    expect(await answer(await server.next("/invoke", 2), "Clean.")).toBe(200);
    await client.about(childId, "thread/closed");
  });

  it("is handled once, at whatever moment the host is killed", async () => {
    const stage = await watching();
    const { threadId, heard, home, model, server } = stage;
    let { host } = stage;
    // By what the host knows: a host that is killed may have got an answer that it could not use.
    const [watches, sees] = [call(watch("call_2")), say("I saw it")];
    model.reply((response, asked) =>
      (JSON.stringify(asked.body).includes("call_2") ? sees : watches)(response, asked),
    );
    expect(await emit(heard, "a bird", {}, "event-1")).toBe(200);
    await host.kill();
    host = await spawnHost({ home, args: SOCKET });
    // The sender has not heard that it was taken, say.
    await host.logged(({ msg }) => msg === "listening for tool servers");
    expect(await emit(heard, "a bird", {}, "event-1")).toBe(200);
    const below = await server.next("/invoke", 2);
    await host.kill();
    host = await spawnHost({ home, args: SOCKET });
    await host.logged(({ msg }) => msg === "listening for tool servers");
    await answer(below, "Nothing more.");
    await eventually(() => closings(server).includes(below.body.group_id), "the child is closed");
    const client = await host.join(undefined, EXPERIMENTAL);
    const { data } = await client.call("thread/list", { parentThreadId: threadId });
    expect(data).toHaveLength(1);
    model.reply(sees);
    const asking = model.asked.length;
    expect(await emit(heard, "the last", { associative: true, final: true })).toBe(200);
    await eventually(() => model.asked.length > asking, "the parent goes on");
  });
});
