import { describe, expect, it } from "vitest";
import { type Message, RapWorld } from "../../../../test/support/rap-world.ts";
import { memoryData, type Question, type ToolServer, tool } from "./index.ts";

const QUESTION = {
  prompt: "Write to the folder?",
  choices: ["Yes for session", "Yes once", "No"],
  default: 2,
};

function asking(question: Question = QUESTION, ran: string[] = []) {
  return tool({
    name: "ask",
    description: "Asks.",
    input: { type: "object" },
    async run(_, ctx) {
      ran.push("began");
      const { index, label } = await ctx.choose(question);
      ran.push("acted");
      return `${index}: ${label}`;
    },
  });
}

const answer = (world: RapWorld, server: ToolServer, asked: Message, body: unknown): Promise<Response> =>
  world.post(server, new URL(asked.response_url!).pathname, body);

describe("a question", () => {
  it("[RAPS-110] [RAPS-111] is sent to the host, its answer reaches the tool, and the call gets its result", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [asking()] });
    await world.call(server, "ask", {}, { call_id: "second" });
    const asked = await world.next("user_choice");
    expect(asked).toEqual({
      type: "user_choice",
      group_id: "thread_1",
      id: "call_1",
      call_id: "second",
      ...QUESTION,
      response_url: expect.stringMatching(
        /^https:\/\/tools\.example\.com\/user_choice_response\/[\w-]{20,}$/,
      ),
    });
    const response = await answer(world, server, asked, { id: "call_1", selected: 0 });
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect((await world.next("tool_result")).text).toBe("0: Yes for session");
  });

  it("[RAPS-111] is sent each time a call asks it, with a new idempotency key", async () => {
    const world = new RapWorld();
    const twice = tool({
      name: "ask",
      description: "Asks the same twice.",
      run: async (_, ctx) => {
        const first = await ctx.choose(QUESTION);
        const second = await ctx.choose(QUESTION);
        return `${first.index} ${second.index}`;
      },
    });
    const server = world.server({ tools: [twice] });
    let failures = 1;
    world.answer = () => (failures-- > 0 ? 503 : 200);
    await world.call(server, "ask");
    await world.next("user_choice");
    await world.advance(1000);
    const first = await world.next("user_choice", 1);
    await answer(world, server, first, { id: "call_1", selected: 0 });
    const second = await world.next("user_choice", 2);
    await answer(world, server, second, { id: "call_1", selected: 1 });
    expect((await world.next("tool_result")).text).toBe("0 1");
    const keys = world.posts.map(({ headers }) => headers.get("Idempotency-Key"));
    expect(keys.slice(0, 3)).toEqual(["choice-0", "choice-0", "choice-1"]);
  });

  it("[RAPS-111] is answered once, at its own URL, with its own id", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [asking()] });
    await world.call(server, "ask", {}, { id: "a" });
    const first = await world.next("user_choice");
    await world.call(server, "ask", {}, { id: "b" });
    const second = await world.next("user_choice", 1);
    expect(first.response_url).not.toBe(second.response_url);
    expect((await answer(world, server, first, { id: "b", selected: 0 })).status).toBe(400);
    expect((await answer(world, server, first, "{")).status).toBe(400);
    expect((await world.post(server, "/user_choice_response/guess", { id: "a", selected: 0 })).status).toBe(
      404,
    );
    expect((await answer(world, server, second, { id: "b", selected: 1 })).status).toBe(200);
    expect(await world.next("tool_result")).toMatchObject({ id: "b", text: "1: Yes once" });
    expect((await answer(world, server, second, { id: "b", selected: 0 })).status).toBe(200);
    expect((await answer(world, server, first, { id: "a", selected: 2 })).status).toBe(200);
    expect(await world.next("tool_result", 3)).toMatchObject({ id: "a", text: "2: No" });
    await world.quiet();
    expect(world.posts).toHaveLength(4);
  });

  it("[RAPS-112] with an answer that is no choice ends the call with an error", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [asking()] });
    await world.call(server, "ask");
    const asked = await world.next("user_choice");
    expect((await answer(world, server, asked, { id: "call_1", selected: 3 })).status).toBe(200);
    expect((await world.next("tool_result")).text).toMatch(/^Error: The user choice flow failed/);
  });

  it("[RAPS-112] that is not answered, or that the host refuses, ends the call with an error", async () => {
    const world = new RapWorld();
    const ran: string[] = [];
    const server = world.server({
      tools: [asking(QUESTION, ran)],
      limits: { choiceMs: 60_000, callMs: 1000 },
    });
    await world.call(server, "ask", {}, { id: "a" });
    await world.advance(59_000);
    expect(world.posts).toHaveLength(1);
    await world.advance(1000);
    expect(world.texts()[1]).toMatch(/^Error: The user choice flow failed: the user did not answer in time/);
    world.answer = ({ message }) => (message.type === "user_choice" ? 400 : 200);
    const refused = await world.result(server, "ask", {}, { id: "b" });
    expect(refused.text).toMatch(/^Error: The user choice flow failed: the host/);
    expect(ran).toEqual(["began", "began"]);
  });

  it("ends when its call is cancelled", async () => {
    const world = new RapWorld();
    const server = world.server({ tools: [asking()] });
    await world.call(server, "ask");
    const asked = await world.next("user_choice");
    await world.post(server, "/cancel_tool_call", { thread_id: "thread_1", tool_call_id: "call_1" });
    expect((await world.next("tool_result")).text).toBe("Error: The call was cancelled.");
    expect((await answer(world, server, asked, { id: "call_1", selected: 0 })).status).toBe(404);
  });

  it("[RAPS-113] whose answer is remembered is not asked again in the thread or below it, over a restart too", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const question = { ...QUESTION, remember: { key: "write", labels: ["Yes for session"] } };
    const options = { tools: [asking(question)], data };
    const first = world.server(options);
    const ask = async (
      server: ToolServer,
      selected: number,
      call: { id: string; thread?: string },
    ): Promise<void> => {
      const before = world.posts.length;
      await world.call(server, "ask", {}, call);
      const asked = await world.next("user_choice", before);
      await answer(world, server, asked, { id: call.id, selected });
      await world.next("tool_result", before);
    };
    await ask(first, 1, { id: "once" });
    await ask(first, 0, { id: "session" });
    expect((await world.result(first, "ask", {}, { id: "again" })).text).toBe("0: Yes for session");
    await first.close();
    const server = world.server(options);
    expect((await world.result(server, "ask", {}, { id: "later" })).text).toBe("0: Yes for session");
    const below = { id: "below", thread: "child", thread_ancestors: ["thread_1"] };
    expect((await world.result(server, "ask", {}, below)).text).toBe("0: Yes for session");
    await ask(server, 2, { id: "other", thread: "thread_2" });
    await world.post(server, "/close_thread", { thread_id: "thread_1" });
    await ask(server, 2, { id: "anew" });
  });

  it.each([
    { choices: [] },
    { choices: ["Yes", "Yes"] },
    { choices: ["Yes", " "] },
    { default: 3 },
    { default: -1 },
    { default: 0.5 },
    { prompt: "" },
    { choices: Array.from({ length: 101 }, (_, index) => `choice ${index}`) },
  ])("[RAPS-114] such as %j is not asked", async (change) => {
    const world = new RapWorld();
    const server = world.server({ tools: [asking({ ...QUESTION, ...change })] });
    expect((await world.result(server, "ask")).text).toMatch(/^Error: The tool failed/);
    expect(world.posts).toHaveLength(1);
  });

  it("[RAPS-115] has a response URL under the request's origin, or under the configured `url`", async () => {
    const world = new RapWorld();
    const local = world.server({ tools: [asking()] });
    const body = {
      operation: "ask",
      arguments: {},
      id: "a",
      group_id: "t",
      callback_url: "https://host.example.com/",
    };
    const call = {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    };
    await local.fetch(new Request("http://127.0.0.1:8790/invoke", call));
    expect((await world.next("user_choice")).response_url).toMatch(
      /^http:\/\/127\.0\.0\.1:8790\/user_choice_response\//,
    );
    const behind = world.server({ tools: [asking()], url: "https://example.com/tools" });
    await behind.fetch(new Request("http://10.0.0.7/tools/invoke", call));
    expect((await world.next("user_choice", 1)).response_url).toMatch(
      /^https:\/\/example\.com\/tools\/user_choice_/,
    );
  });

  it("[RAPS-116] outlives a restart of the server, is not asked twice, and its call runs on", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const first = world.life(data);
    const ran: string[] = [];
    await world.call(world.server({ tools: [asking(QUESTION, ran)], ...first.options }), "ask");
    const asked = await world.next("user_choice");
    await world.quiet();
    first.kill();
    const server = world.server({ tools: [asking(QUESTION, ran)], ...world.life(data).options });
    await server.start();
    await world.advance(60_000);
    expect(world.posts).toHaveLength(1);
    expect((await answer(world, server, asked, { id: "call_1", selected: 1 })).status).toBe(200);
    expect((await world.next("tool_result")).text).toBe("1: Yes once");
    expect(ran).toEqual(["began", "began", "acted"]);
    await world.quiet();
    expect(await data.store.list("")).toEqual([]);
  });

  it("[RAPS-116] that is answered twice at once has one answer, over a restart too", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const first = world.life(data);
    const heard: string[] = [];
    const twoQuestions = tool({
      name: "ask",
      description: "Asks two questions.",
      async run(_, ctx) {
        const { label } = await ctx.choose({ prompt: "First?", choices: ["Yes", "No"], default: 1 });
        heard.push(label);
        return (await ctx.choose({ prompt: "Second?", choices: ["Yes", "No"], default: 1 })).label;
      },
    });
    const server = world.server({ tools: [twoQuestions], ...first.options });
    await world.call(server, "ask");
    const asked = await world.next("user_choice");
    const responses = await Promise.all(
      [0, 1].map((selected) => answer(world, server, asked, { id: "call_1", selected })),
    );
    expect(responses.map(({ status }) => status)).toEqual([200, 200]);
    await world.next("user_choice", 1);
    await world.quiet();
    first.kill();
    await world.server({ tools: [twoQuestions], ...world.life(data).options }).start();
    await world.quiet();
    expect(heard).toEqual(["Yes", "Yes"]);
  });

  it("[RAPS-116] that was answered before a restart is not asked again, and a call that went on is not repeated", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const first = world.life(data);
    const acts: string[] = [];
    const acting = tool({
      name: "act",
      description: "Acts.",
      async run(_, ctx) {
        const one = await ctx.choose({ prompt: "First?", choices: ["Yes", "No"], default: 1 });
        const two = await ctx.choose({ prompt: "Second?", choices: ["Yes", "No"], default: 1 });
        acts.push(`${one.label} ${two.label}`);
        return new Promise<string>(() => {});
      },
    });
    const before = world.server({ tools: [acting], ...first.options });
    await world.call(before, "act");
    await answer(world, before, await world.next("user_choice"), { id: "call_1", selected: 0 });
    const second = await world.next("user_choice", 1);
    await world.quiet();
    first.kill();

    const next = world.life(data);
    const again = world.server({ tools: [acting], ...next.options });
    await again.start();
    await world.quiet();
    expect(world.messages().map(({ prompt }) => prompt)).toEqual(["First?", "Second?"]);
    await answer(world, again, second, { id: "call_1", selected: 1 });
    await world.quiet();
    expect(acts).toEqual(["Yes No"]);
    next.kill();

    await world.server({ tools: [acting], ...world.life(data).options }).start();
    expect((await world.next("tool_result")).text).toMatch(/^Error: The tool server was restarted/);
    expect(acts).toEqual(["Yes No"]);
  });

  it("[RAPS-116] that was answered after remembered ones is not asked again after a restart", async () => {
    const world = new RapWorld();
    const data = memoryData();
    const yesOrNo = { choices: ["Yes", "No"], default: 1 };
    const ask = tool({
      name: "ask",
      description: "Asks.",
      async run(_, ctx) {
        for (const key of ["a", "b", "c"])
          await ctx.choose({ prompt: key, ...yesOrNo, remember: { key, labels: ["Yes"] } });
        await ctx.choose({ prompt: "last but one", ...yesOrNo });
        return (await ctx.choose({ prompt: "last", ...yesOrNo })).label;
      },
    });
    const first = world.life(data);
    const before = world.server({ tools: [ask], ...first.options });
    const next = async (server: typeof before, id: string, from: number): Promise<void> => {
      const asked = await world.next("user_choice", from);
      await answer(world, server, asked, { id, selected: 0 });
    };
    await world.call(before, "ask", {}, { id: "one" });
    for (let n = 0; n < 5; n++) await next(before, "one", n);
    expect((await world.next("tool_result")).text).toBe("Yes");
    await world.call(before, "ask", {}, { id: "two" });
    await next(before, "two", 6);
    await world.next("user_choice", 7);
    await world.quiet();
    first.kill();

    const after = world.server({ tools: [ask], ...world.life(data).options });
    await after.start();
    await world.quiet();
    expect(world.messages().map(({ prompt }) => prompt)).toEqual([
      ...["a", "b", "c", "last but one", "last", undefined],
      ...["last but one", "last"],
    ]);
    await next(after, "two", 7);
    expect((await world.next("tool_result", 8)).text).toBe("Yes");
  });
});
