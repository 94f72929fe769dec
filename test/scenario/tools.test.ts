// Tools that live in the client or need no operating system, on the real program with a local model.
import { symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type HostProcess, spawnHost, stdioHost } from "../support/host-process.ts";
import { chat, MockModel, messages, type Reply, responses, stream } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { say } from "../support/model-replies.ts";
import { DOT_PNG } from "../support/picture.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

const SOCKET = ["--listen", "ws://127.0.0.1:0"];
const EXPERIMENTAL = { experimentalApi: true };

const LOOKUP = {
  type: "function",
  name: "lookup",
  description: "Looks a ticket up.",
  inputSchema: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
};

const call = (...calls: readonly object[][]): Reply => stream(responses.stream(...calls));
const lookUp = (callId = "call_1") => responses.call("lookup", '{"id":"A-1"}', callId);
const QUESTION = {
  questions: [
    { id: "path", header: "Path", question: "Go on?", options: [{ label: "Yes", description: "Goes on." }] },
  ],
};

interface Stage {
  readonly model: MockModel;
  readonly host: HostProcess;
  readonly home: string;
  readonly client: WireClient;
  readonly threadId: string;
}

async function stage(
  replies: readonly Reply[],
  params: object = {},
  top: readonly string[] = [],
): Promise<Stage> {
  const model = await MockModel.start(...replies);
  const { home, cwd } = await modelHome("responses", model.url, { top });
  const host = await spawnHost({ home, args: SOCKET });
  const client = await host.join(undefined, EXPERIMENTAL);
  const threadId = await client.startThread({ cwd, dynamicTools: [LOOKUP], ...params });
  return { model, host, home, client, threadId };
}

/** The next question that a client is asked. */
function asked(client: WireClient, method: string, from = 0): Promise<Received> {
  return client.waitFor((frame) => frame.method === method && frame.id !== undefined, method, from);
}

function answerCall(client: WireClient, id: unknown, text = "It is open.", success = true): void {
  client.send({ id, result: { contentItems: [{ type: "inputText", text }], success } });
}

/** What a client was told from a frame on, in short. */
function story(frames: readonly Received[]): string[] {
  return frames
    .filter(({ method }) => method !== undefined)
    .map(({ method, params }) => {
      if (method === "thread/status/changed")
        return `${params.status.type} ${(params.status.activeFlags ?? []).join()}`.trim();
      return params.item ? `${method} ${params.item.type}` : method!;
    })
    .filter((word) => !/[dD]elta$|tokenUsage|warning/.test(word));
}

const outputs = (model: MockModel, nth: number) =>
  model.asked[nth]!.body.input.filter(({ type }: { type: string }) => type === "function_call_output");

describe("a tool that lives in the client", () => {
  it("[DYN-1] is started, requested, answered, resolved and completed", async () => {
    const { model, client, threadId } = await stage([call(lookUp()), say("It is open")]);
    const from = client.frames.length;
    const turnId = await client.say(threadId, "look");
    const { id, params } = await asked(client, "item/tool/call");
    expect(Number.isSafeInteger(id) && (id as number) > 0).toBe(true);
    expect(params).toEqual({
      threadId,
      turnId,
      callId: "call_1",
      namespace: null,
      tool: "lookup",
      arguments: { id: "A-1" },
    });
    answerCall(client, id);
    await client.turnCompleted(turnId);
    expect(story(client.frames.slice(from))).toEqual([
      "active",
      "turn/started",
      "item/started userMessage",
      "item/completed userMessage",
      "item/started dynamicToolCall",
      "item/tool/call",
      "serverRequest/resolved",
      "item/completed dynamicToolCall",
      "item/started agentMessage",
      "item/completed agentMessage",
      "thread/readState/changed",
      "idle",
      "turn/completed",
    ]);
    const items = client.frames.slice(from).filter(({ params }) => params?.item?.type === "dynamicToolCall");
    expect(items[0]!.params.item).toMatchObject({ status: "inProgress", contentItems: null, success: null });
    expect(items[1]!.params.item).toMatchObject({
      id: "call_1",
      status: "completed",
      success: true,
      contentItems: [{ type: "inputText", text: "It is open." }],
      durationMs: expect.any(Number),
    });
    expect(client.told("serverRequest/resolved")[0]!.params).toMatchObject({ threadId, requestId: id });
    expect(model.asked[1]!.body.input.slice(-2)).toEqual([
      { type: "function_call", call_id: "call_1", name: "lookup", arguments: '{"id":"A-1"}' },
      {
        type: "function_call_output",
        call_id: "call_1",
        output: [{ type: "input_text", text: "It is open." }],
      },
    ]);
  });

  it("[DYN-2] is offered with its namespace, and may be left unshown", async () => {
    const dynamicTools = [
      LOOKUP,
      {
        type: "namespace",
        name: "crm",
        description: "Customers.",
        tools: [
          { type: "function", name: "find", description: "Finds.", inputSchema: { type: "object" } },
          { type: "function", name: "hidden", description: "H", inputSchema: {}, deferLoading: true },
        ],
      },
    ];
    const namespaced = responses.call("hidden", "{}");
    Object.assign((namespaced[0] as { item: object }).item, { namespace: "crm" });
    const { model, client, threadId } = await stage([call(namespaced), say("ok")], { dynamicTools });
    const turnId = await client.say(threadId, "go");
    const { id, params } = await asked(client, "item/tool/call");
    expect(params).toMatchObject({ namespace: "crm", tool: "hidden", arguments: {} });
    answerCall(client, id);
    await client.turnCompleted(turnId);
    const tools: { type: string; name?: string; tools?: { name: string }[] }[] = model.asked[0]!.body.tools;
    expect(tools.map(({ name }) => name)).toEqual([
      "update_plan",
      "request_user_input",
      "view_image",
      "apply_patch",
      "get_goal",
      "create_goal",
      "update_goal",
      "exec_command",
      "write_stdin",
      "request_permissions",
      "multi_agent_v1",
      "lookup",
      "crm",
      "tool_search",
    ]);
    expect(tools.at(-2)).toMatchObject({
      type: "namespace",
      description: "Customers.",
      tools: [{ name: "find" }],
    });
    const old = {
      name: "old",
      description: "Older form.",
      inputSchema: { type: "object" },
      namespace: "past",
    };
    await client.turn(await client.startThread({ dynamicTools: [old] }), "go");
    expect(model.asked.at(-1)!.body.tools.at(-1)).toMatchObject({
      description: "Tools in the past namespace.",
      tools: [{ name: "old" }],
    });
  });

  it.each([
    ["a function", "mock-model"],
    ["the search of the model", "gpt-5.5"],
  ])("[DYN-7] that is deferred is found by %s, and is shown from then on", async (_how, name) => {
    const crm = (tool: string, description: string) => ({
      ...{ type: "function", name: tool, description, inputSchema: { type: "object" }, deferLoading: true },
    });
    const dynamicTools = [
      {
        type: "namespace",
        name: "crm",
        description: "Customers.",
        tools: [crm("find_customer", "Finds one by name."), crm("send_invoice", "Mails a bill.")],
      },
    ];
    const query = { query: "mail an invoice" };
    const search =
      name === "mock-model"
        ? responses.call("tool_search", JSON.stringify(query), "call_s")
        : responses.toolSearch(query, "call_s");
    const { model, client, threadId } = await stage(
      [call(search), call(responses.call("send_invoice", "{}", "call_i", "crm")), say("sent")],
      { model: name, dynamicTools },
    );
    const turnId = await client.say(threadId, "send it");
    const { id, params } = await asked(client, "item/tool/call");
    expect(params).toMatchObject({ namespace: "crm", tool: "send_invoice" });
    answerCall(client, id);
    await client.turnCompleted(turnId);
    const listed = (nth: number) => JSON.stringify(model.asked[nth]!.body.tools);
    expect(listed(0)).toContain("tool_search");
    expect(listed(0)).toContain("2 tools of crm");
    expect(listed(0)).not.toContain("send_invoice");
    const found = JSON.stringify(model.asked[1]!.body.input.at(-1));
    expect(found).toContain("send_invoice");
    expect(found).not.toContain("find_customer");
    // A model with a search of its own reads the definition in the result.
    expect(listed(1).includes("send_invoice")).toBe(name === "mock-model");
    expect(outputs(model, 2).at(-1)!.output).toEqual([{ type: "input_text", text: "It is open." }]);
  });

  it("[DYN-3] is refused with the reason", async () => {
    const { client, threadId } = await stage([say("ok")]);
    const tool = (more: object) => ({ ...LOOKUP, ...more });
    const space = (more: object) => ({
      type: "namespace",
      name: "n",
      description: "",
      tools: [LOOKUP],
      ...more,
    });
    const bad: [readonly object[], RegExp][] = [
      [[tool({ name: "" })], /name must not be empty/],
      [[tool({ name: " a" })], /whitespace/],
      [[tool({ name: "a b" })], /must match/],
      [[tool({ name: "a".repeat(129) })], /at most 128/],
      [[tool({ name: "mcp__x" })], /reserved/],
      [[LOOKUP, LOOKUP], /duplicate dynamic tool name: lookup/],
      [[tool({ deferLoading: true })], /must include a namespace/],
      [[tool({ inputSchema: { type: "string" } })], /schema is not supported for lookup/],
      [[space({ name: "web" })], /collides/],
      [[space({}), space({})], /duplicate dynamic tool namespace/],
      [[space({ description: "a".repeat(1025) })], /at most 1024/],
    ];
    for (const [dynamicTools, says] of bad) {
      const { code, message } = await client.refusal("thread/start", { dynamicTools });
      expect(code).toBe(-32600);
      expect(message).toMatch(says);
      const later = await client.refusal("thread/loadSettings/update", { threadId, dynamicTools });
      expect(later.message).toMatch(says);
    }
    const { message } = await client.refusal("thread/start", {
      dynamicTools: [{ type: "function" }],
    });
    expect(message).toMatch(/dynamicTools/);
  });

  it("[DYN-4] that fails returns a failure to the model", async () => {
    const { model, client, threadId } = await stage([
      call(lookUp("a"), lookUp("b"), lookUp("c"), lookUp("d")),
      say("none of them"),
    ]);
    const turnId = await client.say(threadId, "look");
    await client.until(() => client.count("item/tool/call") === 4, "four questions");
    const ids = client.told("item/tool/call").map(({ id }) => id);
    answerCall(client, ids[0], "No such ticket.", false);
    client.send({ id: ids[1], result: { nothing: "readable" } });
    client.send({
      id: ids[2],
      result: {
        contentItems: [{ type: "inputImage", imageUrl: "https://example.org/a.png" }],
        success: true,
      },
    });
    client.send({ id: ids[3], error: { code: -32000, message: "out of order" } });
    const { params } = await client.turnCompleted(turnId);
    expect(params.turn.status).toBe("completed");
    const said = outputs(model, 1).map(({ output }: { output: { text: string }[] }) => output[0]!.text);
    expect(said).toEqual([
      "No such ticket.",
      expect.stringMatching(/cannot be read/),
      "remote image URLs are not supported; use an inline data URL instead",
      expect.stringMatching(/out of order/),
    ]);
    const done = client.told("item/completed").filter(({ params }) => params.item.type === "dynamicToolCall");
    expect(done.map(({ params }) => params.item.status)).toEqual(["failed", "failed", "failed", "failed"]);
  });

  it("[DYN-6] is called with the numbers as the model wrote them, on every API and over a kill of the host", async () => {
    const args = '{\n  "id": "A-1",\n  "account": 1234567890123456789,\n  "share": 1.0\n}';
    const exact = '{   "id": "A-1",   "account": 1234567890123456789,   "share": 1.0 }';
    const { host, home, client, threadId } = await stage([
      call(responses.call("lookup", args)),
      say("It is open"),
    ]);
    await client.say(threadId, "look");
    const first = await asked(client, "item/tool/call");
    expect(first.text).toContain(`"arguments":${exact}`);
    expect(first.text).not.toMatch(/\n./);
    await host.kill();
    const { client: back } = await stdioHost({ home, capabilities: EXPERIMENTAL });
    await back.call("thread/resume", { threadId });
    const again = await asked(back, "item/tool/call");
    expect([again.id, again.params]).toEqual([first.id, first.params]);
    expect(again.text).toContain(`"arguments":${exact}`);
    const from = back.frames.length;
    answerCall(back, again.id);
    await back.about(threadId, "turn/completed", from);
  });

  it("[DYN-5] [ASK-3] can be answered by a client that reconnected", async () => {
    const { host, client, threadId } = await stage([call(lookUp()), say("It is open")]);
    const turnId = await client.say(threadId, "look");
    const first = await asked(client, "item/tool/call");
    await client.cut();
    const back = await host.join(undefined, EXPERIMENTAL);
    const { thread } = await back.call("thread/resume", { threadId });
    expect(thread.status).toEqual({ type: "active", activeFlags: [] });
    const again = await asked(back, "item/tool/call");
    expect([again.id, again.params]).toEqual([first.id, first.params]);
    answerCall(back, again.id);
    expect((await back.turnCompleted(turnId)).params.turn.status).toBe("completed");
  });
});

describe("a question to clients", () => {
  it("[ASK-1] [ASK-2] is answered by the first subscriber, and all subscribers are notified that it is resolved", async () => {
    const { model, host, client, threadId } = await stage([call(lookUp()), say("done")]);
    const second = await host.join(undefined, EXPERIMENTAL);
    await second.call("thread/resume", { threadId });
    const stranger = await host.join(undefined, EXPERIMENTAL);
    const turnId = await client.say(threadId, "look");
    const { id } = await asked(client, "item/tool/call");
    expect((await asked(second, "item/tool/call")).id).toBe(id);
    answerCall(stranger, id, "from a stranger");
    await stranger.call("thread/loaded/list");
    answerCall(second, id, "from the second");
    await client.about(threadId, "serverRequest/resolved");
    answerCall(client, id, "too late");
    await Promise.all([client, second].map((one) => one.turnCompleted(turnId)));
    expect(outputs(model, 1)[0].output[0].text).toBe("from the second");
    expect(stranger.count("item/tool/call")).toBe(0);
    for (const one of [client, second]) expect(one.count("serverRequest/resolved")).toBe(1);
  });

  it("[ASK-3] [ASK-9] outlives a kill and an orderly end of the host", async () => {
    const { host, home, client, threadId, model } = await stage([call(lookUp()), say("It is open")]);
    const turnId = await client.say(threadId, "look");
    const { id } = await asked(client, "item/tool/call");
    await host.kill();
    const next = await spawnHost({ home, args: SOCKET });
    const watcher = await next.join(undefined, EXPERIMENTAL);
    await watcher.call("thread/resume", { threadId });
    expect((await asked(watcher, "item/tool/call")).id).toBe(id);
    next.signal("SIGTERM");
    expect((await next.exited).code).toBe(0);
    expect(watcher.count("thread/closed")).toBe(0);
    expect(watcher.count("serverRequest/resolved")).toBe(0);
    const last = await spawnHost({ home, args: SOCKET });
    const back = await last.join(undefined, EXPERIMENTAL);
    await eventually(async () => {
      const { thread } = await back.call("thread/read", { threadId, includeTurns: true });
      expect(thread.turns[0].status).toBe("inProgress");
      return thread.status.type === "active";
    }, "the thread is adopted");
    await back.call("thread/resume", { threadId });
    answerCall(back, (await asked(back, "item/tool/call")).id);
    expect((await back.turnCompleted(turnId)).params.turn.status).toBe("completed");
    expect(model.asked).toHaveLength(2);
  });

  it("[ASK-4] is cleared by an interrupt, before the turn's end is notified", async () => {
    const { model, client, threadId } = await stage([call(lookUp()), say("fine")]);
    const turnId = await client.say(threadId, "look");
    const { id } = await asked(client, "item/tool/call");
    const from = client.frames.length;
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnCompleted(turnId);
    expect(story(client.frames.slice(from))).toEqual([
      "serverRequest/resolved",
      "item/completed dynamicToolCall",
      "idle",
      "turn/completed",
    ]);
    answerCall(client, id, "too late");
    await client.turn(threadId, "again");
    expect(outputs(model, 1)).toEqual([
      { type: "function_call_output", call_id: "call_1", output: expect.stringMatching(/given up/) },
    ]);
  });

  it("[ASK-4] is cleared by an unload", async () => {
    const { client, threadId } = await stage([call(lookUp())]);
    await client.say(threadId, "look");
    await asked(client, "item/tool/call");
    expect(await client.call("thread/unload", { threadId })).toMatchObject({
      status: "active",
      blockedBy: { pendingRequests: 1, pendingCalls: 1 },
    });
    const from = client.frames.length;
    expect(await client.call("thread/unload", { threadId, interrupt: true })).toEqual({ status: "unloaded" });
    await client.about(threadId, "thread/closed");
    expect(story(client.frames.slice(from))).toEqual([
      "serverRequest/resolved",
      "item/completed dynamicToolCall",
      "idle",
      "turn/completed",
      "notLoaded",
      "thread/closed",
    ]);
  });

  it("[ASK-5] [ASK-8] to the user blocks, shows in the status, and its answers go to the model", async () => {
    const ask = responses.call("request_user_input", JSON.stringify(QUESTION));
    const { model, client, threadId } = await stage([call(ask), say("going on")]);
    const turnId = await client.say(threadId, "may I?");
    const { id, params } = await asked(client, "item/tool/requestUserInput");
    expect(params).toEqual({
      threadId,
      turnId,
      itemId: "call_1",
      questions: [{ ...QUESTION.questions[0], isOther: true, isSecret: false }],
      isBlocking: true,
      autoResolutionMs: null,
    });
    const flags = () =>
      client
        .told("thread/status/changed")
        .map(({ params }) => params.status.activeFlags ?? params.status.type);
    expect(flags().at(-1)).toEqual(["waitingOnUserInput"]);
    client.send({ id, result: { answers: { path: { answers: ["Yes"] } } } });
    await client.turnCompleted(turnId);
    expect(flags().slice(-3)).toEqual([["waitingOnUserInput"], [], "idle"]);
    expect(JSON.parse(outputs(model, 1)[0].output)).toEqual({ answers: { path: { answers: ["Yes"] } } });
  });

  it("[ASK-8] to the user ignores unknown fields of models, and keeps the flag isSecret", async () => {
    const [question] = QUESTION.questions;
    const more = { questions: [{ ...question, isSecret: true, zork: 1 }], autoResolutionMs: 60_000 };
    const ask = responses.call("request_user_input", JSON.stringify(more));
    const { client, threadId } = await stage([call(ask), say("going on")]);
    const turnId = await client.say(threadId, "may I?");
    const { id, params } = await asked(client, "item/tool/requestUserInput");
    expect(params.questions).toEqual([{ ...question, isOther: true, isSecret: true }]);
    // The model waits for it, whatever it says.
    expect([params.isBlocking, params.autoResolutionMs]).toEqual([true, null]);
    client.send({ id, result: { answers: { path: { answers: ["Yes"] } } } });
    await client.turnCompleted(turnId);
  });

  it("[ASK-6] is left to others by a client that cannot answer", async () => {
    const { model, host, client, threadId } = await stage([call(lookUp()), call(lookUp("b")), say("done")]);
    const second = await host.join(undefined, EXPERIMENTAL);
    await second.call("thread/resume", { threadId });
    const turnId = await client.say(threadId, "look");
    const refuse = (one: WireClient, id: unknown) =>
      one.send({ id, error: { code: -32601, message: "I do not know this" } });
    const { id } = await asked(client, "item/tool/call");
    refuse(second, (await asked(second, "item/tool/call")).id);
    await second.call("thread/loaded/list");
    expect(second.count("serverRequest/resolved")).toBe(0);
    answerCall(client, id);
    const next = await client.waitFor(
      ({ method, params }) => method === "item/tool/call" && params.callId === "b",
      "the second call",
    );
    refuse(client, next.id);
    await client.call("thread/loaded/list");
    // The one that might still have answered goes.
    await second.close();
    await client.turnCompleted(turnId);
    expect(outputs(model, 2).at(-1).output[0].text).toMatch(/can answer/);
  });

  it("[ASK-7] is declined at its deadline when no client is connected, and the turn goes on", async () => {
    const { model, host, client, threadId } = await stage([call(lookUp()), say("without it")], {}, [
      "server_request_deadline_secs = 0",
      "thread_unload_delay_secs = 3600",
    ]);
    const turnId = await client.say(threadId, "look");
    await asked(client, "item/tool/call");
    // Before the other one leaves: the turn may end at once.
    const back = await host.join(undefined, EXPERIMENTAL);
    await client.cut();
    await back.waitFor(
      ({ method, params }) => method === "thread/status/changed" && params.status.type === "idle",
      "idle",
    );
    const { thread } = await back.call("thread/read", { threadId, includeTurns: true });
    expect(thread.turns[0]).toMatchObject({ id: turnId, status: "completed" });
    expect(outputs(model, 1)[0].output[0].text).toMatch(/not connected/);
  });

  it("[ASK-11] lets its thread hibernate, and wakes it when it is answered", async () => {
    const { client, threadId } = await stage([call(lookUp()), say("awake")], {}, [
      "max_resident_threads = 1",
    ]);
    const turnId = await client.say(threadId, "look");
    const { id } = await asked(client, "item/tool/call");
    const other = await client.startThread();
    await client.call("thread/name/set", { threadId: other, name: "other" });
    const { threads } = await client.call("server/diagnostics");
    const mine = threads.find((thread: { threadId: string }) => thread.threadId === threadId);
    expect(mine).toMatchObject({ resident: false, turnId, pendingRequests: 1, pendingCalls: 1 });
    answerCall(client, id);
    expect((await client.turnCompleted(turnId)).params.turn.status).toBe("completed");
  });

  it("[ASK-10] does not delay what the user says meanwhile", async () => {
    const { model, client, threadId } = await stage([call(lookUp()), say("I see")]);
    const turnId = await client.say(threadId, "look");
    const { id } = await asked(client, "item/tool/call");
    await client.call("turn/steer", {
      threadId,
      expectedTurnId: turnId,
      input: [{ type: "text", text: "hurry up" }],
    });
    answerCall(client, id);
    await client.turnCompleted(turnId);
    expect(model.asked).toHaveLength(2);
    expect(model.asked[1]!.body.input.slice(-3).map((item: { type: string }) => item.type)).toEqual([
      "function_call",
      "function_call_output",
      "message",
    ]);
  });

  it("[ASK-12] stays open when a turn is started meanwhile, which adds to the running one", async () => {
    const ask = responses.call("request_user_input", JSON.stringify(QUESTION));
    const { model, client, threadId } = await stage([call(ask), say("I see")]);
    const turnId = await client.say(threadId, "ask me");
    const { id } = await asked(client, "item/tool/requestUserInput");
    const from = client.frames.length;
    expect(await client.say(threadId, "and hurry")).toBe(turnId);
    await client.call("thread/loaded/list");
    expect(story(client.frames.slice(from))).toEqual([
      "item/started userMessage",
      "item/completed userMessage",
    ]);
    client.send({ id, result: { answers: { path: { answers: ["Yes"] } } } });
    await client.turnCompleted(turnId);
    expect(client.told("turn/started")).toHaveLength(1);
    expect(client.told("serverRequest/resolved").map(({ params }) => params.requestId)).toEqual([id]);
    const [, output, message] = model.asked[1]!.body.input.slice(-3);
    expect(JSON.parse(output.output)).toEqual({ answers: { path: { answers: ["Yes"] } } });
    expect(message.content[0].text).toBe("and hurry");
  });

  it.each([
    ["review/start", { target: { type: "custom", instructions: "Look at it." } }],
    ["thread/compact/start", {}],
  ])("[ASK-13] is cleared by the new turn of %s, which ends the one that asked", async (method, params) => {
    const ask = responses.call("request_user_input", JSON.stringify(QUESTION));
    const { client, threadId } = await stage([call(ask), say("Done.")]);
    const turnId = await client.say(threadId, "ask me");
    const { id } = await asked(client, "item/tool/requestUserInput");
    const from = client.frames.length;
    await client.call(method, { threadId, ...params });
    expect((await client.turnCompleted(turnId)).params.turn.status).toBe("interrupted");
    await client.waitFor(({ method }) => method === "turn/started", "turn/started", from);
    const words = story(client.frames.slice(from)).filter((word) => /resolved|^turn/.test(word));
    expect(words.slice(0, 3)).toEqual(["serverRequest/resolved", "turn/completed", "turn/started"]);
    expect(client.told("serverRequest/resolved").map(({ params }) => params.requestId)).toEqual([id]);
  });
});

describe("what the model calls", () => {
  it("[PLAN-1] update_plan notifies of the plan", async () => {
    const plan = [
      { step: "Look", status: "completed" },
      { step: "Think", status: "in_progress" },
      { step: "Act", status: "pending" },
    ];
    const { model, client, threadId } = await stage([
      call(responses.call("update_plan", JSON.stringify({ explanation: "So far", plan }))),
      say("planned"),
    ]);
    const turnId = await client.turn(threadId, "plan it");
    expect(client.told("turn/plan/updated")[0]!.params).toMatchObject({
      threadId,
      turnId,
      explanation: "So far",
      plan: [
        { step: "Look", status: "completed" },
        { step: "Think", status: "inProgress" },
        { step: "Act", status: "pending" },
      ],
    });
    expect(outputs(model, 1)[0].output).toBe("Plan updated");
  });

  it("[CALL-1] wrongly gets the reason as its output, and the model goes on", async () => {
    const { model, client, threadId } = await stage([
      call(
        responses.call("nothing_like_it", "{}", "a"),
        responses.call("lookup", "{not json", "b"),
        responses.call("lookup", '{"id":7}', "c"),
        responses.call("request_user_input", '{"questions":[]}', "d"),
      ),
      say("sorry"),
    ]);
    const turnId = await client.say(threadId, "try");
    const { params } = await client.turnCompleted(turnId);
    expect(params.turn.status).toBe("completed");
    expect(client.told("item/tool/call")).toEqual([]);
    expect(outputs(model, 1).map(({ output }: { output: string }) => output)).toEqual([
      "There is no tool named nothing_like_it.",
      expect.stringMatching(/not valid JSON/),
      expect.stringMatching(/do not fit lookup: id/),
      expect.stringMatching(/do not fit request_user_input/),
    ]);
  });

  it("[CALL-2] [CALL-3] concurrently is settled in any order, and a repeated call id becomes two", async () => {
    const { model, client, threadId } = await stage([
      call(lookUp("x"), lookUp("x"), lookUp("y")),
      say("all"),
    ]);
    const turnId = await client.say(threadId, "look");
    await client.until(() => client.count("item/tool/call") === 3, "three questions");
    const questions = client.told("item/tool/call");
    expect(questions.map(({ params }) => params.callId)).toEqual(["x", "x-2", "y"]);
    for (const { id, params } of questions.toReversed()) answerCall(client, id, `answer to ${params.callId}`);
    await client.turnCompleted(turnId);
    expect(model.asked).toHaveLength(2);
    expect(
      outputs(model, 1).map((one: { call_id: string; output: { text: string }[] }) => one.output[0]!.text),
    ).toEqual(["answer to x", "answer to x-2", "answer to y"]);
  });

  it("[VIEW-2] view_image shows no image in the home, not even by a symlink, unless there is no sandbox", async () => {
    for (const [mode, isSeen] of [
      ["read-only", false],
      ["workspace-write", false],
      ["danger-full-access", true],
    ] as const) {
      const view = (path: string, id: string) => responses.call("view_image", JSON.stringify({ path }), id);
      const model = await MockModel.start();
      const { home, cwd } = await modelHome("responses", model.url, { top: [`sandbox_mode = "${mode}"`] });
      await writeFile(join(home, "dot.png"), DOT_PNG);
      await writeFile(join(cwd, "dot.png"), DOT_PNG);
      await symlink(join(home, "dot.png"), join(cwd, "link.png"));
      model.reply(
        call(view(join(home, "dot.png"), "a"), view("link.png", "b"), view("dot.png", "c")),
        say("seen"),
      );
      const host = await spawnHost({ home, args: SOCKET });
      const client = await host.join();
      await client.turn(await client.startThread({ cwd }), "look at them");
      const seen = outputs(model, 1).map(({ output }: { output: unknown }) => Array.isArray(output));
      expect(seen, mode).toEqual([isSeen, isSeen, true]);
      await host.kill();
    }
  });

  it("[VIEW-1] view_image takes a detail, and gives the original size to models that accept it", async () => {
    const view = (args: object, id: string) => responses.call("view_image", JSON.stringify(args), id);
    for (const [name, offered, seen] of [
      ["mock-model", undefined, "high"],
      ["gpt-5.5", ["high", "original"], "original"],
    ] as const) {
      const model = await MockModel.start();
      const { home, cwd } = await modelHome("responses", model.url);
      await writeFile(join(cwd, "dot.png"), DOT_PNG);
      const wrong = { path: "dot.png", detail: "low" };
      model.reply(call(view({ path: "dot.png", detail: "original" }, "a"), view(wrong, "b")), say("seen"));
      const { client } = await stdioHost({ home });
      await client.turn(await client.startThread({ cwd, model: name }), "look");
      const spec = model.asked[0]!.body.tools.find((tool: { name?: string }) => tool.name === "view_image");
      expect(spec.parameters.properties.detail?.enum).toEqual(offered);
      const [shown, refused] = outputs(model, 1).map(({ output }: { output: unknown }) => output);
      expect(shown).toEqual([expect.objectContaining({ type: "input_image", detail: seen })]);
      expect(refused).toMatch(/do not fit view_image: detail/);
    }
  });

  it("[VIEW-1] view_image gives the model an image, on every API, or says why not", async () => {
    const png = DOT_PNG;
    const data = png.toString("base64");
    const args = JSON.stringify({ path: "dot.png" });
    const wires: [
      string,
      Reply,
      Reply, // biome-ignore lint/suspicious/noExplicitAny: whatever was sent.
      (body: any) => unknown,
      unknown,
    ][] = [
      [
        "responses",
        call(responses.call("view_image", args, "v"), responses.call("view_image", '{"path":"no.png"}', "n")),
        say("seen"),
        ({ input }) => input.slice(-2).map(({ output }: { output: unknown }) => output),
        [
          [{ type: "input_image", image_url: `data:image/png;base64,${data}` }],
          expect.stringMatching(/no\.png cannot be shown: there is no such file/),
        ],
      ],
      [
        "chat",
        stream(
          chat.stream(
            chat.delta({
              tool_calls: [{ index: 0, id: "v", function: { name: "view_image", arguments: args } }],
            }),
          ),
        ),
        stream(chat.stream(chat.delta({ content: "seen" }))),
        ({ messages }) => messages.slice(-2),
        [
          { role: "tool", tool_call_id: "v", content: "(input_image)" },
          {
            role: "user",
            content: [{ type: "image_url", image_url: { url: `data:image/png;base64,${data}` } }],
          },
        ],
      ],
      [
        "messages",
        stream(
          messages.stream(
            [
              messages.block(
                0,
                { type: "tool_use", id: "v", name: "view_image", input: {} },
                { type: "input_json_delta", partial_json: args },
              ),
            ],
            "tool_use",
          ),
        ),
        stream(messages.stream([messages.text(0, "seen")])),
        ({ messages: said }) => said.at(-1).content[0].content,
        [{ type: "image", source: { type: "base64", media_type: "image/png", data } }],
      ],
    ];
    for (const [wire, first, second, shown, expected] of wires) {
      const model = await MockModel.start(first, second);
      const { home, cwd } = await modelHome(wire, model.url);
      await writeFile(join(cwd, "dot.png"), png);
      const host = await spawnHost({ home, args: SOCKET });
      const client = await host.join();
      const threadId = await client.startThread({ cwd });
      await client.turn(threadId, "look at it");
      expect(shown(model.asked[1]!.body), wire).toEqual(expected);
      const views = client.told("item/completed").filter(({ params }) => params.item.type === "imageView");
      // What was not seen is not shown as seen.
      expect(views.map(({ params }) => [params.item.id, params.item.path])).toEqual([
        ["v", join(cwd, "dot.png")],
      ]);
      await host.kill();
    }
  });
});
