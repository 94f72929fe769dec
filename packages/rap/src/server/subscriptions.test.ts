import { stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { eventually } from "../../../../test/support/eventually.ts";
import { filesBelow, freshFolder, tracesOf } from "../../../../test/support/folder.ts";
import { CALLBACK, RapWorld } from "../../../../test/support/rap-world.ts";
import { LIMITS } from "../wire/index.ts";
import { memoryData, type Subscription, type Tool, type ToolServer, tool } from "./index.ts";
import { folderData } from "./node/index.ts";

const watch = tool({
  name: "watch",
  description: "Watches.",
  input: z.object({ topic: z.string() }),
  async run({ topic }, ctx) {
    await ctx.subscribe({ topic });
    return `Watching ${topic}.`;
  },
});

/** A tool that reminds at a time. */
const remind = tool({
  name: "remind",
  description: "Reminds.",
  input: z.object({ at: z.number() }),
  async run({ at }, ctx) {
    const { id } = await ctx.subscribe({ at });
    return `I will, as ${id}.`;
  },
  async listen(subscription) {
    if (await subscription.sleepUntil(Number(subscription.state["at"])))
      await subscription.emit("It is time.", { final: true, associative: true });
  },
});

async function watching(
  world: RapWorld,
  server: ToolServer,
  id = "call_1",
  thread = "thread_1",
): Promise<Subscription> {
  await world.result(server, "watch", { topic: "builds" }, { id, thread });
  await eventually(() => server.subscriptions("watch").some((one) => one.id === id), "it is confirmed");
  return server.subscriptions("watch").find((one) => one.id === id)!;
}

describe("a subscription", () => {
  it("[RAPS-80] is stored before it is confirmed, with all that its events need", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const server = world.server({ tools: [watch], data });
    let kept: readonly (readonly [string, string])[] = [];
    world.answer = async () => {
      kept = await data.store.list("subscription ");
      return 200;
    };
    await world.result(server, "watch", { topic: "builds" }, { call_id: "second", user_id: "u" });
    expect(kept).toHaveLength(1);
    expect(JSON.parse(kept[0]![1])).toMatchObject({
      address: { callback_url: CALLBACK, group_id: "thread_1", id: "call_1", call_id: "second" },
      tool: "watch",
      userId: "u",
      state: { topic: "builds" },
    });
  });

  it("[RAPS-81] is announced by a result with its id, which is sent before its events", async () => {
    const world = new RapWorld();
    const eager = tool({
      ...watch,
      name: "eager",
      input: { type: "object" },
      async run(_, ctx) {
        const subscription = await ctx.subscribe();
        await subscription.emit("early");
        await world.quiet();
        return { subscribed: true };
      },
    } as Tool);
    const server = world.server({ tools: [watch, eager] });
    expect(await world.result(server, "watch", { topic: "builds" })).toMatchObject({
      subscription: true,
      text: "Watching builds.\nSubscription ID: call_1",
    });
    expect(await world.result(server, "eager", {}, { id: "call_2" })).toMatchObject({
      subscription: true,
      text: '{"subscribed":true}\nSubscription ID: call_2',
    });
    await world.arrived(3);
    expect(world.messages().map(({ type }) => type)).toEqual([
      "tool_result",
      "tool_result",
      "subscription_event",
    ]);
  });

  it("[RAPS-81] whose call fails does not start", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const failing = tool({
      name: "failing",
      description: "Fails.",
      async run(_, ctx) {
        const subscription = await ctx.subscribe();
        await subscription.emit("early");
        throw new Error("no");
      },
    });
    const server = world.server({ tools: [failing], data });
    expect(await world.result(server, "failing")).toMatchObject({ subscription: false });
    await world.quiet();
    expect(server.subscriptions()).toEqual([]);
    expect(world.posts).toHaveLength(1);
    expect(await data.store.list("")).toEqual([]);
  });

  it("[RAPS-82] [RAPS-88] sends events with its ids, text as it is and other things as JSON, each with a key", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [watch] });
    const subscription = await watching(world, server);
    expect(subscription).toMatchObject({
      id: "call_1",
      tool: "watch",
      threadId: "thread_1",
      state: { topic: "builds" },
    });
    expect(await subscription.emit("plain")).toBe(true);
    expect(await subscription.emit({ number: 42 }, { associative: true })).toBe(true);
    await world.arrived(3);
    const event = { type: "subscription_event", group_id: "thread_1", tool_call_id: "call_1", final: false };
    expect(world.messages().slice(1)).toEqual([
      { ...event, text: "plain", associative: false },
      { ...event, text: '{"number":42}', associative: true },
    ]);
    const [, first, second] = world.posts;
    expect([first!.url, second!.url]).toEqual([CALLBACK, CALLBACK]);
    const keys = world.posts.map(({ headers }) => headers.get("Idempotency-Key"));
    expect(keys[1]).toMatch(/^[\w-]{20,}$/);
    expect(new Set(keys).size).toBe(3);
  });

  it("[RAPS-88] sends an event again with the same key, and the next ones after it", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [watch] });
    const subscription = await watching(world, server);
    let failures = 0;
    world.answer = () => (++failures <= 3 ? 503 : 200);
    await subscription.emit("one");
    await subscription.emit("two");
    await world.advance(10_000);
    expect(world.texts().slice(1)).toEqual(["one", "one", "one", "one", "two"]);
    const keys = world.posts.slice(1).map(({ headers }) => headers.get("Idempotency-Key"));
    expect(new Set(keys.slice(0, 4)).size).toBe(1);
    expect(keys[4]).not.toBe(keys[0]);
  });

  it("[RAPS-83] ends after its final event", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const server = world.server({ tools: [watch], data });
    const subscription = await watching(world, server);
    const [last, after] = await Promise.all([
      subscription.emit("last", { final: true }),
      subscription.emit("after"),
    ]);
    expect([last, after]).toEqual([true, false]);
    await world.arrived(2);
    await world.quiet();
    expect(await subscription.emit("later")).toBe(false);
    expect(subscription.signal.aborted).toBe(true);
    expect(world.messages().slice(1)).toMatchObject([{ text: "last", final: true }]);
    expect(server.subscriptions()).toEqual([]);
    expect(await data.store.list("")).toEqual([]);
  });

  it.each([
    ["/cancel_tool_call", { thread_id: "thread_1", tool_call_id: "call_1" }],
    ["/close_thread", { thread_id: "thread_1" }],
  ])("[RAPS-84] is over after %s, with the events that wait, and no other is", async (path, body) => {
    const world = new RapWorld();
    const data = memoryData();
    const server = world.server({ tools: [watch], data });
    const subscription = await watching(world, server);
    const other = await watching(world, server, "call_2", "thread_2");
    world.answer = () => 503;
    await subscription.emit("waits");
    await world.quiet();
    expect((await world.post(server, path, body)).status).toBe(200);
    const before = world.posts.length;
    await world.advance(60_000);
    expect(world.posts.length).toBe(before);
    expect(subscription.signal.aborted).toBe(true);
    expect(await subscription.emit("more")).toBe(false);
    world.answer = () => 200;
    expect(await other.emit("still here")).toBe(true);
    await world.next("subscription_event", before);
    expect(world.texts().at(-1)).toBe("still here");
    await world.quiet();
    expect((await data.store.list("")).map(([key]) => key.split(" ")[0])).toEqual(["subscription"]);
  });

  it("[RAPS-86] limits the rate of its events; the rest wait in order", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [watch], limits: { events: { perSecond: 10, burst: 5 } } });
    const subscription = await watching(world, server);
    for (let number = 0; number < 25; number++) await subscription.emit(String(number));
    await world.quiet();
    expect(world.posts).toHaveLength(6);
    await world.advance(1000);
    expect(world.posts).toHaveLength(16);
    await world.advance(1000);
    expect(world.texts().slice(1)).toEqual(Array.from({ length: 25 }, (_, number) => String(number)));
  });

  it("refuses events beyond the limit of its queue", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [watch] });
    const subscription = await watching(world, server);
    world.answer = () => 503;
    for (let number = 0; number < 1000; number++) await subscription.emit(number);
    await expect(subscription.emit("too many")).rejects.toThrow(/1000 events wait/);
  });

  it("[RAPS-89] that fails sends a final event with the error", async () => {
    const world = new RapWorld();
    const failing = tool({
      ...watch,
      name: "failing",
      listen: async () => {
        throw new Error("the password is hunter2");
      },
    } as Tool);
    const server = world.server({ tools: [failing] });
    await world.result(server, "failing", { topic: "x" });
    const event = await world.next("subscription_event");
    expect(event).toMatchObject({
      final: true,
      text: expect.stringMatching(/^Error: The subscription failed/),
    });
    expect(JSON.stringify(world.messages())).not.toContain("hunter2");
    expect(world.logs).toMatchObject([
      { says: "a subscription failed", error: expect.stringContaining("hunter2") },
    ]);
  });

  it.each([404, 410])("[RAPS-90] ends when its host answers %i", async (status) => {
    const world = new RapWorld();
    const data = memoryData();
    const server = world.server({ tools: [watch], data });
    const subscription = await watching(world, server);
    world.answer = () => status;
    await subscription.emit("one");
    await eventually(() => subscription.signal.aborted, "it is over");
    await world.quiet();
    expect(await subscription.emit("two")).toBe(false);
    expect(await data.store.list("")).toEqual([]);
  });

  it("drops an event that its host refuses, and sends the next", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [watch] });
    const subscription = await watching(world, server);
    world.answer = ({ message }) => ((message as { text?: string }).text === "bad" ? 400 : 200);
    await subscription.emit("bad");
    await subscription.emit("good");
    await world.arrived(3);
    expect(world.texts().slice(1)).toEqual(["bad", "good"]);
    expect(world.logs).toMatchObject([
      { says: "an event was refused by its host, and dropped", status: 400 },
    ]);
  });

  it("[RAPS-46] throws on an event over the size limit, and continues", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [watch] });
    const subscription = await watching(world, server);
    const long = "x".repeat(LIMITS.callbackBytes);
    await expect(subscription.emit(long, { final: true })).rejects.toThrow("cannot be sent");
    expect(await subscription.emit("short")).toBe(true);
    expect((await world.arrived(2)).at(-1)).toMatchObject({ text: "short" });
  });

  it("ends with a final event when it had no event for too long", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [watch], limits: { subscriptionTtlMs: 3_600_000 } });
    const subscription = await watching(world, server);
    await world.advance(3_000_000);
    await subscription.emit("alive");
    await world.advance(3_000_000);
    expect(subscription.signal.aborted).toBe(false);
    await world.advance(700_000);
    expect(world.messages().at(-1)).toMatchObject({
      final: true,
      text: expect.stringContaining("has expired"),
    });
    expect(server.subscriptions()).toEqual([]);
  });
});

describe("after the server was killed", () => {
  it("[RAPS-85] a subscription continues, and can sleep for months", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const first = world.life(data);
    const limits = { sweepMs: 1e10, subscriptionTtlMs: 1e12 };
    const at = world.time + 60 * 24 * 3_600_000;
    const before = world.server({ tools: [remind], limits, ...first.options });
    await world.result(before, "remind", { at });
    await eventually(() => before.subscriptions().length === 1, "it is confirmed");
    await world.advance(20 * 24 * 3_600_000);
    first.kill();
    await world.advance(20 * 24 * 3_600_000);
    const server = world.server({ tools: [remind], limits, ...world.life(data).options });
    await server.start();
    await world.advance(20 * 24 * 3_600_000 - 1);
    expect(world.posts).toHaveLength(1);
    await world.advance(1);
    expect(world.messages()[1]).toMatchObject({ text: "It is time.", final: true, associative: true });
    await world.quiet();
    expect(await data.store.list("")).toEqual([]);
  });

  it("[RAPS-85] [RAPS-88] undelivered events are delivered in order, with the same keys", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const first = world.life(data);
    const subscription = await watching(world, world.server({ tools: [watch], ...first.options }));
    world.answer = () => 503;
    for (const text of ["one", "two", "three"]) await subscription.emit(text);
    await world.quiet();
    first.kill();
    const key = world.posts[1]!.headers.get("Idempotency-Key");
    const before = world.posts.length;
    world.answer = () => 200;
    const server = world.server({ tools: [watch], ...world.life(data).options });
    await server.start();
    await world.arrived(before + 3);
    expect(world.texts().slice(before)).toEqual(["one", "two", "three"]);
    expect(world.posts[before]!.headers.get("Idempotency-Key")).toBe(key);
    await world.quiet();
    await server.subscriptions()[0]!.emit("four");
    await world.arrived(before + 4);
    expect(world.texts().at(-1)).toBe("four");
  });

  it("[RAPS-85] each subscription gets its own events back, with one query for all of them", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const first = world.life(data);
    const before = world.server({ tools: [watch], ...first.options });
    const ids = Array.from({ length: 20 }, (_, number) => `call ${number}`);
    for (const id of ids) await watching(world, before, id);
    world.answer = () => 503;
    for (const one of before.subscriptions()) await one.emit(`of ${one.id}`);
    await world.quiet();
    first.kill();
    // An event of a subscription that ended just before the process did.
    await data.store.set('event ["t","gone","call 1","u"] 1', "{}");
    const already = world.posts.length;
    world.answer = () => 200;
    let lists = 0;
    const list = data.store.list.bind(data.store);
    data.store.list = (prefix) => {
      lists++;
      return list(prefix);
    };
    const server = world.server({ tools: [watch], ...world.life(data).options });
    await server.start();
    expect(lists).toBeLessThan(ids.length);
    await world.arrived(already + ids.length);
    await world.quiet();
    const sent = world.messages().slice(already);
    expect(sent).toHaveLength(ids.length);
    expect(new Set(sent.map(({ text }) => text))).toEqual(new Set(ids.map((id) => `of ${id}`)));
    for (const { text, tool_call_id } of sent) expect(text).toBe(`of ${tool_call_id}`);
    expect(await list("event ")).toEqual([]);
  });

  it("[RAPS-85] an undelivered final event is delivered, and nothing after it", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const first = world.life(data);
    const subscription = await watching(world, world.server({ tools: [watch], ...first.options }));
    world.answer = () => 503;
    await subscription.emit("last", { final: true });
    first.kill();
    world.answer = () => 200;
    const before = world.posts.length;
    const server = world.server({ tools: [watch], ...world.life(data).options });
    await server.start();
    expect(await server.subscriptions()[0]?.emit("more")).not.toBe(true);
    await world.next("subscription_event", before);
    await world.quiet();
    expect(world.texts().slice(before)).toEqual(["last"]);
    expect(await data.store.list("")).toEqual([]);
  });

  it("[RAPS-85] an unconfirmed subscription is confirmed with its call's result, or deleted", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const first = world.life(data);
    const stuck = tool({
      ...watch,
      name: "stuck",
      input: { type: "object" },
      async run(_: unknown, ctx) {
        await ctx.subscribe();
        return new Promise<string>(() => {});
      },
    } as Tool);
    const tools = [watch, stuck];
    world.answer = () => 503;
    const before = world.server({ tools, ...first.options });
    await world.call(before, "watch", { topic: "builds" }, { id: "a" });
    await world.call(before, "stuck", {}, { id: "b" });
    await world.quiet();
    expect(before.subscriptions()).toEqual([]);
    first.kill();
    const already = world.posts.length;
    world.answer = () => 200;
    const server = world.server({ tools, ...world.life(data).options });
    await server.start();
    await world.arrived(already + 2);
    await world.quiet();
    expect(server.subscriptions().map(({ id }) => id)).toEqual(["a"]);
    const results = world.messages().slice(already);
    expect(results.find(({ id }) => id === "b")).toMatchObject({
      subscription: false,
      text: expect.stringMatching(/^Error/),
    });
  });
});

it("[RAPS-87] callback URLs are readable only by the server's owner, and never logged", async () => {
  const world = new RapWorld();
  const root = await freshFolder("rap");
  const server = world.server({ tools: [watch], data: folderData(root) });
  const subscription = await watching(world, server);
  world.answer = () => {
    throw new TypeError(`fetch failed: ${CALLBACK}`, { cause: new Error(CALLBACK) });
  };
  await subscription.emit("one");
  await world.advance(1000);
  world.answer = () => 400;
  await world.advance(60_000);
  expect(world.logs.length).toBeGreaterThan(0);
  expect(JSON.stringify(world.logs)).not.toContain("secret-1");
  expect((await tracesOf(root, "secret-1")).length).toBeGreaterThan(0);
  for (const file of await filesBelow(root)) {
    expect(file).not.toContain("secret");
    expect((await stat(join(root, file))).mode & 0o077).toBe(0);
  }
  expect((await stat(join(root, "entries"))).mode & 0o077).toBe(0);
});
