// Calls of tool servers, on the real program with a local model and real listeners.
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { spawnHost } from "../support/host-process.ts";
import { chat, refuse, responses, sse, stream } from "../support/mock-model.ts";
import { DOT_PNG } from "../support/picture.ts";
import {
  acknowledged,
  answer,
  asked,
  call,
  journalOf,
  offered,
  outputs,
  rapStage,
  SOCKET,
  say,
  toolItems,
} from "../support/rap-stage.ts";
import { FakeToolServer, hang, ok, status } from "../support/tool-server.ts";

const DOT = DOT_PNG.toString("base64");

const CITY = {
  inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const weather = (callId = "call_1", args = '{"city":"Bern"}') => responses.call("weather", args, callId);

describe("a call of a tool server", () => {
  it("[RAPR-3] [RAPR-44] is sent, awaited, and answered by a callback", async () => {
    const server = await FakeToolServer.start({ weather: CITY });
    const { model, client, threadId } = await rapStage([call(weather()), say("Rain")], {
      servers: { desk: server },
    });
    const turnId = await client.say(threadId, "Will it rain?");
    const heard = await server.next("/invoke");
    expect(heard.body).toEqual({
      operation: "weather",
      arguments: { city: "Bern" },
      id: "call_1",
      call_id: null,
      callback_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/rap\/callback\//),
      group_id: threadId,
      user_id: null,
    });
    expect(await answer(heard, "It rains.")).toBe(200);
    await client.turnCompleted(turnId);
    expect(outputs(model, 1)).toEqual(["It rains."]);
    const [started] = toolItems(client, "item/started");
    expect(started).toMatchObject({ server: "desk", tool: "weather", status: "inProgress", result: null });
    const [completed] = toolItems(client, "item/completed");
    expect(completed).toMatchObject({
      id: "call_1",
      status: "completed",
      arguments: { city: "Bern" },
      result: { content: [{ type: "text", text: "It rains." }] },
      durationMs: expect.any(Number),
    });
  });

  it("is found when its answer comes before the acknowledgement", async () => {
    const server = await FakeToolServer.start({ weather: CITY });
    server.on.set("/invoke", async (response, heard) => {
      expect(await answer(heard, "It rains.")).toBe(200);
      await ok(response, heard);
    });
    const { model, client, threadId } = await rapStage([call(weather()), say("Rain")], {
      servers: { desk: server },
    });
    await client.turn(threadId, "Will it rain?");
    expect(outputs(model, 1)).toEqual(["It rains."]);
  });

  it("[RAPR-48] that is refused becomes a result that the model can read", async () => {
    const server = await FakeToolServer.start({ weather: CITY });
    server.on.set("/invoke", status(403));
    const { model, client, threadId } = await rapStage([call(weather()), say("I cannot")], {
      servers: { desk: server },
    });
    await client.turn(threadId, "Will it rain?");
    expect(outputs(model, 1)).toEqual([expect.stringMatching(/^Error: .*desk refused.*403/)]);
    expect(toolItems(client, "item/completed")[0]).toMatchObject({
      status: "failed",
      error: { message: expect.stringMatching(/403/) },
    });
  });

  it("[RAPR-41] [RAPR-42] [RAPR-30] is not sent with invalid arguments, nor to an unknown tool", async () => {
    const server = await FakeToolServer.start({ weather: CITY });
    const calls = [
      weather("a", '{"town":"Bern"}'),
      weather("b", "[]"),
      weather("c", "{"),
      responses.call("Weather", "{}", "d"),
      responses.call("receive_event__injected", "{}", "e"),
    ];
    const { model, client, threadId } = await rapStage([call(...calls), say("So?")], {
      servers: { desk: server },
    });
    await client.turn(threadId, "Will it rain?");
    expect(outputs(model, 1)).toEqual([
      expect.stringMatching(/do not fit weather/),
      expect.stringMatching(/do not fit weather/),
      expect.stringMatching(/not valid JSON/),
      expect.stringMatching(/no tool named Weather/),
      expect.stringMatching(/Events come by themselves/),
    ]);
    expect(server.at("/invoke")).toEqual([]);
    expect(offered(model, 0, "receive_event__injected")).toBe("");
  });

  it("[RAPR-53] keeps the numbers as the model wrote them, also over a restart", async () => {
    const server = await FakeToolServer.start({ pay: { annotations: { idempotent: true } } });
    server.on.set("/invoke", hang);
    const args = '{\n "id": 1234567890123456789, "price": 1.0, "to": "1.50" }';
    const stage = await rapStage([call(responses.call("pay", args)), say("Paid")], {
      servers: { desk: server },
    });
    await stage.client.say(stage.threadId, "pay");
    const first = await server.next("/invoke");
    await stage.host.kill();
    const host = await spawnHost({ home: stage.home, args: SOCKET });
    const again = await server.next("/invoke", 2);
    for (const { text, body } of [first, again]) {
      expect(text).toContain('"id": 1234567890123456789, "price": 1.0, "to": "1.50" }');
      // Nothing else is in there twice.
      expect(text.match(/"arguments"/g)).toHaveLength(1);
      expect(body).toMatchObject({ operation: "pay", arguments: { price: 1, to: "1.50" } });
    }
    expect(await answer(again, "Paid.")).toBe(200);
    await host.join();
    await eventually(() => stage.model.asked.length === 2, "the model is told");
    // The model is shown its own call as it wrote it.
    const { input } = stage.model.asked[1]!.body;
    expect(input.find(({ type }: { type: string }) => type === "function_call").arguments).toBe(args);
  });

  it("[RAPR-43] gets an id of its own when the model repeats one", async () => {
    const server = await FakeToolServer.start({ weather: CITY });
    const replies = [call(weather("same"), weather("same")), call(weather("same")), say("Rain")];
    const { client, threadId } = await rapStage(replies, { servers: { desk: server } });
    const turnId = await client.say(threadId, "Will it rain?");
    for (let nth = 1; nth <= 3; nth++)
      expect(await answer(await server.next("/invoke", nth), "Rain.")).toBe(200);
    await client.turnCompleted(turnId);
    expect(new Set(server.at("/invoke").map(({ body }) => body.id)).size).toBe(3);
  });

  it("[RAPR-63] [RAPR-64] [RAPR-66] [RAPR-67] gives the content to the model, and the display to people", async () => {
    const server = await FakeToolServer.start({ weather: CITY });
    const image = { type: "image", data: DOT, mediaType: "image/png" };
    const { model, client, threadId } = await rapStage(
      [call(weather("a"), weather("b"), weather("c")), say("ok")],
      {
        servers: { desk: server },
      },
    );
    const turnId = await client.say(threadId, "Will it rain?");
    for (let nth = 1; nth <= 3; nth++) {
      const heard = await server.next("/invoke", nth);
      const result = {
        a: { text: "short", content: [{ type: "text", text: "A picture:" }, image] },
        b: {
          text: '{"rain": true}',
          display_as: [
            { type: "chart", content: {} },
            { type: "text", content: "Rain" },
          ],
        },
        c: { text: "plain", display_as: [{ type: "chart", content: {} }] },
      }[heard.body.id as "a" | "b" | "c"];
      expect(await answer(heard, result)).toBe(200);
    }
    await client.turnCompleted(turnId);
    expect(outputs(model, 1)).toEqual([
      [
        { type: "input_text", text: "A picture:" },
        { type: "input_image", image_url: `data:image/png;base64,${DOT}` },
      ],
      '{"rain": true}',
      "plain",
    ]);
    const shown = new Map(toolItems(client, "item/completed").map(({ id, result }) => [id, result.content]));
    expect(shown.get("a")).toEqual([{ type: "text", text: "short" }]);
    expect(shown.get("b")).toEqual([{ type: "text", text: "Rain" }]);
    expect(shown.get("c")).toEqual([{ type: "text", text: "plain" }]);
  });
});

describe("a result", () => {
  it("[RAPR-65] is sent as text to a model without vision, with the texts around its images", async () => {
    const server = await FakeToolServer.start({ look: {} });
    const delta = { tool_calls: [{ index: 0, id: "call_1", function: { name: "look", arguments: "{}" } }] };
    const chunks = (...all: object[]): string => `${sse([...all, chat.usage()])}data: [DONE]\n\n`;
    const replies = [
      stream(chunks(chat.delta(delta), chat.delta({}, "tool_calls"))),
      stream(chunks(chat.delta({ content: "Seen" }), chat.delta({}, "stop"))),
    ];
    const { client, threadId, model } = await rapStage(replies, {
      servers: { desk: server },
      wire: "chat",
      params: { model: "gpt-oss:20b" },
    });
    const turnId = await client.say(threadId, "look");
    const content = [
      { type: "text", text: "Before." },
      { type: "image", data: DOT, mediaType: "image/png" },
      { type: "text", text: "Behind." },
    ];
    expect(await answer(await server.next("/invoke"), { content })).toBe(200);
    await client.turnCompleted(turnId);
    const sent = JSON.stringify(model.asked[1]!.body.messages);
    expect(sent).toMatch(/Before\..*a picture.*Behind\./);
    expect(sent).not.toContain(DOT);
  });

  it("[RAPR-68] [RAPR-71] is kept when the model fails after it; concurrent results are processed one by one", async () => {
    const server = await FakeToolServer.start({ look: {} });
    const looks = Array.from({ length: 8 }, (_, nth) => responses.call("look", "{}", `call_${nth}`));
    const { client, threadId, model } = await rapStage(
      [call(...looks), refuse(400, { error: { message: "No" } })],
      {
        servers: { desk: server },
      },
    );
    const turnId = await client.say(threadId, "look");
    await server.next("/invoke", 8);
    const taken = await Promise.all(
      server.at("/invoke").map((heard) => answer(heard, `seen ${heard.body.id}`)),
    );
    expect(taken).toEqual(Array(8).fill(200));
    const { params } = await client.turnCompleted(turnId);
    expect(params.turn.status).toBe("failed");
    expect(client.told("error")[0]!.params.error.message).toMatch(/No/);
    model.reply(say("ok"));
    await client.turn(threadId, "and?");
    const last = model.asked.length - 1;
    expect(new Set(outputs(model, last))).toEqual(new Set(looks.map((_, nth) => `seen call_${nth}`)));
    // One call of the model for all of them.
    expect(model.asked).toHaveLength(3);
  });

  it("[RAPR-70] is not acknowledged when its thread cannot be read", async () => {
    const server = await FakeToolServer.start({ look: {} });
    const stage = await rapStage([call(responses.call("look", "{}", "call_1")), say("Seen")], {
      servers: { desk: server },
    });
    const { threadId, home } = stage;
    await stage.client.say(threadId, "look");
    const heard = await server.next("/invoke");
    await acknowledged(stage);
    await stage.host.kill();
    const { path } = await journalOf(stage);
    const text = await readFile(path, "utf8");
    // As a later version would have written it.
    await appendFile(
      path,
      `${JSON.stringify({ seq: 99, epoch: 1, prev: 98, records: [{ type: "future" }] })}\n`,
    );
    const host = await spawnHost({ home, args: SOCKET });
    await host.logged(({ msg }) => msg === "listening for tool servers");
    expect(await answer(heard, "seen")).toBe(503);
    await host.kill();
    await writeFile(path, text);
    const next = await spawnHost({ home, args: SOCKET });
    await next.logged(({ msg }) => msg === "listening for tool servers");
    expect(await answer(heard, "seen")).toBe(200);
    await eventually(() => stage.model.asked.length === 2, "the turn goes on");
    expect(outputs(stage.model, 1)).toEqual(["seen"]);
  });
});

describe("the approval of a call", () => {
  const delete_all = { annotations: { destructive: true }, description: "Deletes all." };
  const wipe = () => responses.call("delete_all", '{"really":true}', "call_1");

  it("[RAPR-1] [RAPR-2] [ASK-5] is needed for destructive calls, and shows what is called", async () => {
    const server = await FakeToolServer.start({ delete_all });
    const { model, client, threadId } = await rapStage([call(wipe()), call(wipe()), say("done")], {
      servers: { desk: server },
    });
    const turnId = await client.say(threadId, "delete it");
    const { id, params } = await asked(client, "mcpServer/elicitation/request");
    expect(params).toMatchObject({
      threadId,
      turnId,
      serverName: "desk",
      mode: "form",
      message: expect.stringMatching(/delete_all/),
      _meta: {
        codex_approval_kind: "mcp_tool_call",
        tool_description: "Deletes all.",
        tool_params: { really: true },
      },
    });
    const { thread } = await client.call("thread/read", { threadId });
    expect(thread.status).toEqual({ type: "active", activeFlags: ["waitingOnApproval"] });
    expect(server.at("/invoke")).toEqual([]);
    client.send({ id, result: { action: "decline", content: null } });
    const again = await asked(client, "mcpServer/elicitation/request", client.frames.length);
    expect(outputs(model, 1)).toEqual([expect.stringMatching(/declined/)]);
    expect(server.at("/invoke")).toEqual([]);
    client.send({ id: again.id, result: { action: "accept", content: {} } });
    expect(await answer(await server.next("/invoke"), "Gone.")).toBe(200);
    await client.turnCompleted(turnId);
  });

  it("is needed for every call if so configured, and refused if it cannot be asked for", async () => {
    const server = await FakeToolServer.start({ weather: CITY });
    const options = { servers: { desk: server }, lines: ['approval = "always"'] };
    const { client, threadId, model } = await rapStage([call(weather()), say("ok")], options);
    const turnId = await client.say(threadId, "Will it rain?");
    const { id } = await asked(client, "mcpServer/elicitation/request");
    client.send({ id, result: { action: "accept", content: {} } });
    expect(await answer(await server.next("/invoke"), "Rain.")).toBe(200);
    await client.turnCompleted(turnId);
    model.reply(call(weather("x")), say("no"));
    const never = await client.startThread({ approvalPolicy: "never" });
    await client.turn(never, "Will it rain?");
    expect(outputs(model, model.asked.length - 1)).toEqual([expect.stringMatching(/approval/)]);
    expect(server.at("/invoke")).toHaveLength(1);
  });
});

describe("a turn that waits for a tool server", () => {
  it.each(["SIGTERM", "SIGKILL"] as const)("goes on after any number of hosts (%s)", async (signal) => {
    const server = await FakeToolServer.start({ weather: CITY });
    const stage = await rapStage([call(weather()), say("Rain")], { servers: { desk: server } });
    await stage.client.say(stage.threadId, "weather?");
    const heard = await server.next("/invoke");
    await acknowledged(stage);
    let { host } = stage;
    for (let hosts = 0; hosts < 5; hosts++) {
      host.signal(signal);
      await host.exited;
      host = await spawnHost({ home: stage.home, args: SOCKET });
      await host.join();
    }
    const taken = () =>
      answer(heard, "wet").then(
        (status) => status === 200,
        () => false,
      );
    await eventually(taken, "the result is taken");
    await eventually(() => stage.model.asked.length === 2, "the model is told");
    expect(outputs(stage.model, 1)).toEqual(["wet"]);
    expect(server.at("/cancel_tool_call")).toEqual([]);
  });

  it("[RAPR-43] has a URL of its own for each call, even if the model gives all calls the same id", async () => {
    const server = await FakeToolServer.start({ weather: CITY });
    const asks = Array.from({ length: 35 }, () => call(weather("call_1"), weather("call_1")));
    const { client, threadId } = await rapStage([...asks, say("Rain")], { servers: { desk: server } });
    const turnId = await client.say(threadId, "weather?");
    for (let nth = 1; nth <= 70; nth++) await answer(await server.next("/invoke", nth), "wet");
    await client.turnCompleted(turnId);
    const urls = server.at("/invoke").map(({ body }) => body.callback_url);
    expect(new Set(urls).size).toBe(70);
  });
});
