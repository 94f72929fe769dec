import { describe, expect, it } from "vitest";
import { z } from "zod";
import { CALLBACK, RapWorld } from "../../../../test/support/rap-world.ts";
import { memoryData, type Tool, type ToolContext, ToolError, tool } from "./index.ts";

const echo = tool({
  name: "echo",
  description: "Says it again.",
  input: z.object({ text: z.string(), times: z.int().min(1).default(1) }),
  run: ({ text, times }) => text.repeat(times),
});

/** A tool whose calls end when the test says so. */
function held(more: Partial<Tool> = {}): {
  readonly tool: Tool;
  readonly runs: { readonly ctx: ToolContext; readonly end: (output: string | Error) => void }[];
} {
  const runs: { ctx: ToolContext; end: (output: string | Error) => void }[] = [];
  return {
    runs,
    tool: tool({
      name: "held",
      description: "Waits.",
      input: { type: "object" },
      ...more,
      run: (_, ctx) =>
        new Promise<string>((resolve, reject) => {
          runs.push({ ctx, end: (output) => (output instanceof Error ? reject(output) : resolve(output)) });
        }),
    }),
  };
}

describe("a call", () => {
  it("[RAPS-20] is acknowledged with an empty 200 before its tool runs, and may take long", async () => {
    const world = new RapWorld();
    const { tool, runs } = held();
    const server = world.server({ tools: [tool] });
    const response = await world.call(server, "held");
    expect([response.status, await response.text()]).toEqual([200, ""]);
    await world.advance(23 * 60 * 60_000);
    expect(world.posts).toEqual([]);
    runs[0]!.end("at last");
    expect((await world.next("tool_result")).text).toBe("at last");
  });

  it("[RAPS-22] [RAPS-23] gets its result at its callback URL, with its ids", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [echo] });
    await world.result(server, "echo", { text: "grüezi 🧵" }, { id: "c", thread: "t", call_id: "second" });
    const [post] = world.posts;
    expect(post!.url).toBe(CALLBACK);
    expect(post!.headers.get("Content-Type")).toBe("application/json");
    expect(post!.message).toEqual({
      type: "tool_result",
      group_id: "t",
      id: "c",
      call_id: "second",
      text: "grüezi 🧵",
      subscription: false,
    });
  });

  it("[RAPS-24] of an unknown operation gets an error that names the known ones", async () => {
    const world = new RapWorld();
    const { text } = await world.result(world.server({ tools: [echo] }), "shout");
    expect(text).toBe('Error: There is no operation "shout". There are: echo.');
  });

  it("[RAPS-25] [RAPS-27] with arguments that do not fit gets an error, and its tool does not run", async () => {
    const world = new RapWorld();
    const { tool, runs } = held({ input: { type: "object", required: ["a"], additionalProperties: false } });
    const server = world.server({ tools: [echo, tool] });
    const zod = await world.result(server, "echo", { message: "of an older schema" }, { id: "a" });
    expect(zod.text).toMatch(/^Error: The arguments do not fit: text: .*expected string/);
    const json = await world.result(server, "held", { b: 1 }, { id: "b" });
    expect(json.text).toMatch(/^Error: The arguments do not fit: .*"a".* b is not one of the properties/);
    expect(runs).toEqual([]);
  });

  it("gets arguments with the defaults of the schema", async () => {
    const world = new RapWorld();
    const { text } = await world.result(world.server({ tools: [echo] }), "echo", { text: "x" });
    expect(text).toBe("x");
  });

  it("[RAPS-26] that is invalid gets an error result if its return address is valid", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [echo] });
    const { text, id } = await world.result(server, "echo", "not an object", { id: "c9" });
    expect([id, text]).toEqual(["c9", "Error: The call cannot be read: arguments must be an object."]);
    const statuses = [
      await world.post(server, "/invoke", {}),
      await world.post(server, "/invoke", "{"),
      await world.post(server, "/invoke", "[]"),
      await world.call(server, "echo", { text: "x" }, { callback_url: "file:///etc/passwd" }),
      await world.post(server, "/invoke", "{}", { "Content-Type": "text/plain" }),
      await world.post(server, "/invoke", JSON.stringify({ fill: "x".repeat(5_000_000) })),
    ].map(({ status }) => status);
    expect(statuses).toEqual([400, 400, 400, 400, 415, 413]);
    expect(world.posts).toHaveLength(1);
  });

  it.each([
    ["no group_id", { group_id: undefined }, "group_id must be a string"],
    ["a group_id that is no text", { group_id: 42 }, "group_id must be a string"],
    [
      "an id with a control character",
      { id: "a\0b" },
      "id must be well-formed and without control characters",
    ],
    ["a call_id that is no text", { call_id: ["c"] }, "call_id must be a string"],
  ])("[RAPS-26] that has %s is refused, and gets an error as its result", async (_, more, says) => {
    const world = new RapWorld();
    const server = world.server({ tools: [echo] });
    const response = await world.call(server, "echo", { text: "x" }, more);
    expect([response.status, await response.json()]).toEqual([400, { error: says }]);
    const posted = await world.next("tool_result");
    const ids = { id: "call_1", group_id: "thread_1", call_id: null, ...more };
    expect(posted).toEqual({
      type: "tool_result",
      ...JSON.parse(JSON.stringify(ids)),
      text: `Error: The call cannot be read: ${says}.`,
      subscription: false,
    });
    expect(world.posts[0]!.url).toBe(CALLBACK);
  });

  it("[RAPS-26] does not echo an id that is too long", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [echo] });
    await world.call(server, "echo", { text: "x" }, { id: "x".repeat(100_000) });
    expect(await world.next("tool_result")).not.toHaveProperty("id");
  });

  it("[RAPS-26] that is invalid gets no result at an origin that is not allowed", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [echo], callbackOrigins: ["https://other.example.com"] });
    const response = await world.call(server, "echo", { text: "x" }, { group_id: 42 });
    expect(response.status).toBe(403);
    await world.quiet();
    expect(world.posts).toEqual([]);
  });

  it("[RAPS-28] [RAPS-44] that throws gets an error without the message, which is only logged", async () => {
    const world = new RapWorld();
    const failing = tool({
      name: "failing",
      description: "Fails.",
      run: () => {
        throw new Error("connect to db-7.internal with password hunter2");
      },
    });
    const { text } = await world.result(world.server({ tools: [failing] }), "failing");
    expect(text).toMatch(/^Error: The tool failed with an internal error.*Reference: [\w-]+$/);
    expect(text).not.toContain("hunter2");
    const entry = world.logs.find(({ level }) => level === "error")!;
    expect(entry["error"]).toContain("hunter2");
    expect(text).toContain(String(entry["reference"]));
  });

  it("[RAPS-43] [RAPS-45] that throws a ToolError has its message as the result", async () => {
    const world = new RapWorld();
    const limited = tool({
      name: "limited",
      description: "Fails.",
      run: async () => {
        throw new ToolError("The limit is reached. Try again in 60 seconds.");
      },
    });
    const { text } = await world.result(world.server({ tools: [limited] }), "limited");
    expect(text).toBe("Error: The limit is reached. Try again in 60 seconds.");
  });

  it("[RAPS-29] runs concurrently with others, and each gets its own result", async () => {
    const world = new RapWorld();
    const { tool, runs } = held();
    const server = world.server({ tools: [tool] });
    const ids = Array.from({ length: 50 }, (_, index) => `call_${index}`);
    for (const id of ids) {
      const callback_url = `https://host.example.com/of/${id}`;
      await world.call(server, "held", {}, { id, thread: `thread_of_${id}`, callback_url });
    }
    await world.quiet();
    for (const { ctx, end } of [...runs].reverse()) end(`result of ${ctx.callId}`);
    await world.arrived(50);
    for (const { url, message } of world.posts) {
      const { id, text, group_id } = message as unknown as Record<string, string>;
      expect([url, text, group_id]).toEqual([
        `https://host.example.com/of/${id}`,
        `result of ${id}`,
        `thread_of_${id}`,
      ]);
    }
    expect(new Set(world.messages().map(({ id }) => id)).size).toBe(50);
  });

  it("[RAPS-35] knows its user, its thread and the threads above it", async () => {
    const world = new RapWorld();
    const who = tool({
      name: "who",
      description: "Tells.",
      run: (_, { userId, callId, thread: { id, ancestors } }) => ({
        userId: userId ?? "nobody",
        callId,
        id,
        ancestors,
      }),
    });
    const server = world.server({ tools: [who] });
    const told = await world.result(
      server,
      "who",
      {},
      { id: "a", user_id: "user_42", thread_ancestors: ["root", "up"] },
    );
    expect(JSON.parse(told.text!)).toEqual({
      userId: "user_42",
      callId: "a",
      id: "thread_1",
      ancestors: ["root", "up"],
    });
    const alone = await world.result(server, "who", {}, { id: "b" });
    expect(JSON.parse(alone.text!)).toMatchObject({ userId: "nobody", ancestors: [] });
  });

  it("[RAPS-37] that is sent twice runs once, while it runs and afterwards", async () => {
    const world = new RapWorld();
    const { tool, runs } = held();
    const server = world.server({ tools: [tool] });
    await Promise.all([world.call(server, "held"), world.call(server, "held")]);
    await world.quiet();
    runs[0]!.end("once");
    await world.next("tool_result");
    await world.quiet();
    expect((await world.call(server, "held")).status).toBe(200);
    await world.quiet();
    expect([runs.length, world.posts.length]).toEqual([1, 1]);
  });

  it("[RAPS-39] with the id of another call is refused, while that call runs and afterwards", async () => {
    const world = new RapWorld();
    const { tool, runs } = held();
    const server = world.server({ tools: [tool, echo] });
    await world.call(server, "held", { a: 1, b: [2, { c: 3, d: 4 }] });
    await world.quiet();
    const others = [
      () => world.call(server, "held", { a: 1, b: [2, { c: 3, d: 5 }] }),
      () => world.call(server, "held", { a: 1, b: [{ c: 3, d: 4 }, 2] }),
      () => world.call(server, "echo", { a: 1, b: [2, { c: 3, d: 4 }] }),
    ];
    const refused = async (): Promise<void> => {
      for (const send of others) {
        const logged = world.logs.length;
        const response = await send();
        expect([response.status, await response.json()]).toEqual([
          409,
          { error: "id is that of another call, with another operation or other arguments" },
        ]);
        expect(world.logs.slice(logged)).toEqual([
          expect.objectContaining({ level: "warn", id: "call_1", thread: "thread_1" }),
        ]);
      }
      // The order of the arguments' members does not matter.
      const repeated = await world.call(server, "held", { b: [2, { d: 4, c: 3 }], a: 1 });
      expect(repeated.status).toBe(200);
    };
    await refused();
    runs[0]!.end("once");
    expect((await world.next("tool_result")).text).toBe("once");
    await world.quiet();
    await refused();
    await world.quiet();
    expect([runs.length, world.posts.length]).toEqual([1, 1]);
  });

  it("[RAPS-36] leaves nothing in the store when its result is delivered", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const server = world.server({ tools: [echo], data });
    const writes: string[] = [];
    const { set } = data.store;
    Object.assign(data.store, {
      set: (key: string, value: string) => {
        writes.push(key);
        return set(key, value);
      },
    });
    await world.result(server, "echo", { text: "a secret of the user" }, { user_id: "user_42" });
    await world.quiet();
    expect(writes.length).toBeGreaterThan(0);
    expect(await data.store.list("")).toEqual([]);
    expect(Object.keys(world.posts[0]!.message).sort()).toEqual(
      ["call_id", "group_id", "id", "subscription", "text", "type"].sort(),
    );
  });

  it("[RAPS-34] over the rate gets an error, and one too many at once gets 503", async () => {
    const world = new RapWorld();
    const { tool, runs } = held();
    const limits = { calls: { perSecond: 1, burst: 2 }, concurrentCalls: 3 };
    const server = world.server({ tools: [tool, echo], limits });
    await world.call(server, "held", {}, { id: "a" });
    await world.call(server, "held", {}, { id: "b" });
    const { text } = await world.result(server, "echo", { text: "x" }, { id: "c" });
    expect(text).toBe("Error: Too many calls. Try again in 1 s.");
    await world.advance(5000);
    await world.call(server, "held", {}, { id: "d" });
    const refused = await world.call(server, "held", {}, { id: "e" });
    expect([refused.status, refused.headers.get("Retry-After")]).toEqual([503, "1"]);
    await world.quiet();
    for (const { end } of runs) end("done");
    await world.arrived(4);
    await world.quiet();
    expect((await world.call(server, "held", {}, { id: "e" })).status).toBe(200);
  });

  it("is not acknowledged if it cannot be stored", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const broken = async (): Promise<void> => {
      throw new Error("no space left");
    };
    const server = world.server({ tools: [echo], data: { store: { ...data.store, set: broken } } });
    expect((await world.call(server, "echo", { text: "x" })).status).toBe(503);
    await world.quiet();
    expect(world.posts).toEqual([]);
  });

  it("is refused if its callback origin is not one of those configured", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [echo], callbackOrigins: ["https://host.example.com"] });
    const url = "http://169.254.169.254/latest/meta-data";
    expect((await world.call(server, "echo", { text: "x" }, { callback_url: url })).status).toBe(403);
    expect((await world.result(server, "echo", { text: "x" }, { id: "b" })).text).toBe("x");
  });
});

describe("a result", () => {
  it("[RAPS-30] is retried with growing pauses until the host accepts it", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [echo] });
    let failures = 0;
    world.answer = () => {
      if (++failures > 8) return 200;
      if (failures % 2 === 0) throw new TypeError("fetch failed", { cause: { code: "ECONNREFUSED" } });
      return 503;
    };
    await world.call(server, "echo", { text: "x" });
    await world.advance(10 * 60_000);
    expect(world.posts).toHaveLength(9);
    const pauses = world.posts.slice(1).map(({ at }, index) => at - world.posts[index]!.at);
    for (const [index, pause] of pauses.entries()) {
      const full = Math.min(60_000, 250 * 2 ** index);
      expect(pause).toBeGreaterThanOrEqual(full / 2);
      expect(pause).toBeLessThanOrEqual(full);
    }
    expect(world.timers).toBe(2);
  });

  it("[RAPS-30] is retried when a host accepts the connection and does not answer", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [echo] });
    let first = true;
    world.answer = (): Promise<number> => {
      if (!first) return Promise.resolve(200);
      first = false;
      return new Promise((resolve) => world.platform.after(31_000, () => resolve(200)));
    };
    await world.call(server, "echo", { text: "x" });
    await world.advance(40_000);
    expect(world.posts).toHaveLength(2);
  });

  it("[RAPS-30] is given up after a week, and the log entry does not contain the callback URL", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const server = world.server({
      tools: [echo],
      data,
      retry: { maxMs: 3_600_000 },
      limits: { sweepMs: 1e9 },
    });
    world.answer = () => 500;
    await world.call(server, "echo", { text: "x" });
    await world.advance(6 * 24 * 60 * 60_000);
    expect(world.logs).toEqual([]);
    await world.advance(2 * 24 * 60 * 60_000);
    expect(world.logs).toMatchObject([
      { level: "error", says: "a result was not delivered to its host", how: "gaveUp" },
    ]);
    expect(JSON.stringify(world.logs)).not.toContain("secret-1");
    expect(await data.store.list("")).toEqual([]);
  });

  it.each([401, 404, 410, 429])("[RAPS-31] is not retried after %i", async (status) => {
    const world = new RapWorld();
    const server = world.server({ tools: [echo] });
    world.answer = () => status;
    await world.call(server, "echo", { text: "x" });
    await world.advance(60 * 60_000);
    expect(world.posts).toHaveLength(1);
    expect(world.logs).toMatchObject([
      { level: "error", says: "a result was not delivered to its host", status },
    ]);
  });

  it.each([400, 413, 422])(
    "[RAPS-31] [RAPS-46] is replaced by an error result, once, after %i",
    async (status) => {
      const world = new RapWorld();
      const server = world.server({ tools: [echo] });
      world.answer = ({ message }) => ((message as { text?: string }).text === "x" ? status : 200);
      await world.call(server, "echo", { text: "x" });
      await world.advance(60 * 60_000);
      expect(world.texts()).toEqual([
        "x",
        expect.stringMatching(new RegExp(`^Error: .* refused its result with status ${status}\\.`)),
      ]);
      expect(world.logs).toMatchObject([
        { level: "error", says: "a result was not delivered to its host", status },
      ]);
      world.answer = () => status;
      await world.call(server, "echo", { text: "x" }, { id: "other" });
      await world.advance(60 * 60_000);
      expect(world.posts).toHaveLength(4);
    },
  );

  it("[RAPS-31] is not redirected, because that would reveal the callback URL", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [echo] });
    world.answer = () =>
      new Response(null, { status: 307, headers: { Location: "https://elsewhere.example.com/" } });
    world.elsewhere = () => {
      throw new Error("it went elsewhere");
    };
    await world.call(server, "echo", { text: "x" });
    await world.advance(60_000);
    expect(world.logs).toMatchObject([{ says: "a result was not delivered to its host", status: 307 }]);
  });
});

describe("after the server was killed", () => {
  it("[RAPS-32] an idempotent or read-only call runs again, and any other gets an error", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const first = world.life(data);
    const tools = [
      held({ name: "reading", annotations: { readOnly: true } }),
      held({ name: "setting", annotations: { idempotent: true } }),
      held({ name: "adding" }),
    ];
    const old = world.server({ tools: tools.map(({ tool }) => tool), ...first.options });
    for (const name of ["reading", "setting", "adding"]) await world.call(old, name, {}, { id: name });
    await world.quiet();
    first.kill();
    for (const { runs } of tools) runs[0]!.end("of a dead process");

    const server = world.server({ tools: tools.map(({ tool }) => tool), ...world.life(data).options });
    await server.start();
    await world.next("tool_result");
    for (const { runs } of tools) runs[1]?.end("again");
    await world.arrived(3);
    const results = Object.fromEntries(world.messages().map(({ id, text }) => [id, text]));
    expect(results).toEqual({
      reading: "again",
      setting: "again",
      adding:
        "Error: The tool server was restarted meanwhile. Whether the call has had an effect is not known.",
    });
    await world.quiet();
    expect(await data.store.list("")).toEqual([]);
  });

  it("[RAPS-33] an undelivered result is delivered", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const first = world.life(data);
    world.answer = () => 503;
    await world.call(world.server({ tools: [echo], ...first.options }), "echo", { text: "x" });
    await world.advance(1000);
    first.kill();
    const before = world.posts.length;
    world.answer = () => 200;
    await world.server({ tools: [echo], ...world.life(data).options }).start();
    expect((await world.next("tool_result", before)).text).toBe("x");
    await world.quiet();
    expect(await data.store.list("")).toEqual([]);
  });
});

describe("a server that is closed", () => {
  it("[RAPS-32] waits for running calls, aborts the rest, and leaves repeatable calls to the next start", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const quick = held({ name: "quick" });
    const slow = held({ name: "slow" });
    const again = held({ name: "again", annotations: { idempotent: true } });
    const tools = [quick.tool, slow.tool, again.tool];
    const server = world.server({ tools, ...world.life(data).options });
    for (const name of ["quick", "slow", "again"]) await world.call(server, name, {}, { id: name });
    await world.quiet();
    const closed = server.close({ graceMs: 1000 });
    expect((await world.call(server, "quick", {}, { id: "late" })).status).toBe(503);
    quick.runs[0]!.end("in time");
    await world.advance(999);
    expect(world.texts()).toEqual(["in time"]);
    await world.advance(1);
    expect(slow.runs[0]!.ctx.signal.reason).toMatchObject({ name: "AbortError", why: "shutdown" });
    await world.advance(10_000);
    await closed;
    expect(world.texts()[1]).toMatch(/^Error: The tool server was stopped/);
    expect(world.timers).toBe(0);

    await world.server({ tools, ...world.life(data).options }).start();
    await world.quiet();
    again.runs[1]!.end("once more");
    await world.arrived(3);
    expect(world.texts()[2]).toBe("once more");
  });
});
