import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type HostProcess, stdioHost } from "../support/host-process.ts";
import {
  chat,
  MockModel,
  messages,
  type Reply,
  refuse,
  responses,
  silent,
  sse,
  stream,
  torn,
} from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { DOT_PNG } from "../support/picture.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

/** The program on a provider of its own, and a thread. */
async function threadOn(
  wire: string,
  replies: readonly Reply[],
  more: readonly string[] = [],
): Promise<{ model: MockModel; host: HostProcess; client: WireClient; threadId: string; cwd: string }> {
  const model = await MockModel.start(...replies);
  const { home, cwd } = await modelHome(wire, model.url, {
    provider: [
      'env_key = "MOCK_KEY"',
      'http_headers = { "x-team" = "blue" }',
      'query_params = { "api-version" = "7" }',
      ...more,
    ],
  });
  const capabilities = { experimentalApi: true };
  const { host, client } = await stdioHost({ home, env: { MOCK_KEY: "key-1" }, capabilities });
  const threadId = await client.startThread({ cwd });
  return { model, host, client, threadId, cwd };
}

/** What came of a turn, deltas in a row as one. */
function story(frames: readonly Received[]): string[] {
  const words = frames
    .filter(({ method }) => method !== undefined && method !== "warning")
    .map(({ method, params }) => {
      if (method === "thread/status/changed") return `${method} ${params.status.type}`;
      return params.item ? `${method} ${params.item.type}` : method!;
    });
  return words.filter((word, at) => !/[dD]elta$/.test(word) || words[at - 1] !== word);
}

async function turn(client: WireClient, threadId: string, text: string) {
  const from = client.frames.length;
  const turnId = await client.say(threadId, text);
  const { params } = await client.turnCompleted(turnId);
  return { frames: client.frames.slice(from), turn: params.turn };
}

describe("a fork", () => {
  it("[LIFE-15] gives the model items that clients injected, at their position", async () => {
    const ok = () => stream(responses.stream(responses.message("ok")));
    const { model, client, threadId } = await threadOn("responses", Array.from({ length: 8 }, ok));
    const inject = (text: string) => {
      const item = { type: "message", role: "user", content: [{ type: "input_text", text }] };
      return client.call("thread/inject_items", { threadId, items: [item] });
    };
    await inject("before");
    const { turn: one } = await turn(client, threadId, "one");
    await inject("between");
    const { turn: two } = await turn(client, threadId, "two");
    await inject("after");
    /** What the model reads in a fork's next turn, from the first message of a client on. */
    const history = async (point: object) => {
      const { thread } = await client.call("thread/fork", { threadId, ...point });
      await turn(client, thread.id, "next");
      const { input } = model.asked.at(-1)!.body;
      const texts: string[] = input.map((item: { content: { text: string }[] }) => item.content[0]!.text);
      return texts.slice(texts.indexOf("before")).filter((text) => text !== "ok");
    };
    expect(await history({})).toEqual(["before", "one", "between", "two", "after", "next"]);
    expect(await history({ lastTurnId: one.id })).toEqual(["before", "one", "next"]);
    expect(await history({ beforeTurnId: two.id })).toEqual(["before", "one", "between", "next"]);
    expect(await history({ beforeTurnId: one.id })).toEqual(["before", "next"]);
    await client.call("thread/rollback", { threadId, numTurns: 2 });
    expect(await history({})).toEqual(["before", "next"]);
  });

  it("[EDIT-15] calls the model again in the same turn for items injected during its answer", async () => {
    const [start, ...rest] = sse(responses.message("Well then")).split(/(?<=\n\n)/);
    let goOn = () => {};
    const held: Reply = (response) => {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(start! + rest[0]!);
      goOn = () => response.end(rest.slice(1).join("") + sse([responses.completed()]));
    };
    const { model, client, threadId } = await threadOn("responses", [
      held,
      stream(responses.stream(responses.message("Seen"))),
    ]);
    const turnId = await client.say(threadId, "go");
    await client.about(threadId, "item/agentMessage/delta");
    const item = { type: "message", role: "developer", content: [{ type: "input_text", text: "mind this" }] };
    await client.call("thread/inject_items", { threadId, items: [item] });
    goOn();
    const { params } = await client.turnCompleted(turnId);
    expect(params.turn).toMatchObject({ status: "completed", items: [{ text: "Seen" }] });
    expect(model.asked).toHaveLength(2);
    const words = model.asked[1]!.body.input.map(
      ({ content }: { content: { text: string }[] }) => content[0]!.text,
    );
    expect(words.slice(-3)).toEqual(["go", "Well then", "mind this"]);
    expect(client.count("turn/completed")).toBe(1);
  });
});

describe("a turn on the responses wire", () => {
  it("[MODEL-3] streams reasoning and text, and sends back the items that the API requires", async () => {
    const answer = responses.stream(
      responses.reasoning(["Let me see", "Aha"], "opaque"),
      responses.message("Hello there"),
    );
    const { model, client, threadId, cwd } = await threadOn("responses", [stream(answer)]);
    const first = await turn(client, threadId, "hi");
    expect(story(first.frames)).toEqual([
      "thread/status/changed active",
      "turn/started",
      "item/started userMessage",
      "item/completed userMessage",
      "item/started reasoning",
      "item/reasoning/summaryPartAdded",
      "item/reasoning/summaryTextDelta",
      "item/reasoning/summaryPartAdded",
      "item/reasoning/summaryTextDelta",
      "item/completed reasoning",
      "item/started agentMessage",
      "item/agentMessage/delta",
      "item/completed agentMessage",
      "thread/tokenUsage/updated",
      "thread/readState/changed",
      "thread/status/changed idle",
      "turn/completed",
    ]);
    const completed = first.frames
      .filter(({ method }) => method === "item/completed")
      .map(({ params }) => params.item);
    expect(completed[1]).toMatchObject({ type: "reasoning", summary: ["Let me see", "Aha"], content: [] });
    expect(completed[2]).toMatchObject({ type: "agentMessage", text: "Hello there" });
    expect(JSON.stringify(first.frames.map(({ params }) => params))).not.toContain("opaque");
    const usage = first.frames.find(({ method }) => method === "thread/tokenUsage/updated")!.params
      .tokenUsage;
    expect(usage.last).toEqual({
      totalTokens: 120,
      inputTokens: 100,
      cachedInputTokens: 10,
      cacheWriteInputTokens: 0,
      outputTokens: 20,
      reasoningOutputTokens: 5,
    });
    expect(first.turn).toMatchObject({ status: "completed", error: null });

    await turn(client, threadId, "and now?");
    const [one, two] = model.asked;
    expect(one!.headers).toMatchObject({ authorization: "Bearer key-1", "x-team": "blue" });
    expect(one!.query.get("api-version")).toBe("7");
    expect(one!.body).toMatchObject({ model: "mock-model", prompt_cache_key: threadId, store: false });
    expect(JSON.stringify(one!.body.input[0])).toContain(`<cwd>${cwd}</cwd>`);
    expect(two!.body.input.slice(1)).toEqual([
      { type: "message", role: "user", content: [{ type: "input_text", text: "hi" }] },
      {
        type: "reasoning",
        summary: [
          { type: "summary_text", text: "Let me see" },
          { type: "summary_text", text: "Aha" },
        ],
        encrypted_content: "opaque",
      },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello there" }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: "and now?" }] },
    ]);
    expect(two!.body.input[0]).toEqual(one!.body.input[0]);
  });

  it("[MODEL-3] is two commits if the answer arrives in one piece: the request, and everything after it", async () => {
    const answer = responses.stream(responses.reasoning(["Aha"], "opaque"), responses.message("Hello there"));
    const { client, threadId } = await threadOn("responses", [stream(answer)]);
    await turn(client, threadId, "hi");
    const { path } = (await client.call("thread/read", { threadId })).thread;
    const commits: { records: { type: string }[] }[] = (await readFile(path, "utf8"))
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    const types = commits.map(({ records }) => records.map(({ type }) => type));
    const first = types.findIndex((each) => each.includes("turnStarted"));
    expect(types.slice(first)).toHaveLength(2);
    expect(types.at(-1)!.filter((type) => type === "itemStarted")).toHaveLength(2);
    expect(types.at(-1)).toContain("turnEnded");
  });

  it("[MODEL-4] answers a call of an unknown tool, and goes on", async () => {
    const { model, client, threadId } = await threadOn("responses", [
      stream(responses.stream(responses.call("shell", '{"a":1}'))),
      stream(responses.stream(responses.message("I cannot"))),
    ]);
    const { turn: ended, frames } = await turn(client, threadId, "list files");
    expect(ended.status).toBe("completed");
    expect(ended.items[0].text).toBe("I cannot");
    expect(frames.filter(({ method }) => method === "thread/tokenUsage/updated")).toHaveLength(2);
    expect(model.asked[1]!.body.input.slice(2)).toEqual([
      { type: "function_call", call_id: "call_1", name: "shell", arguments: '{"a":1}' },
      { type: "function_call_output", call_id: "call_1", output: "There is no tool named shell." },
    ]);
  });

  it("[MODEL-5] sends instructions, images and injected items", async () => {
    const { model, client, threadId, cwd } = await threadOn("responses", [
      stream(responses.stream(responses.message("ok"))),
    ]);
    const png = DOT_PNG;
    await writeFile(join(cwd, "dot.png"), png);
    await writeFile(join(cwd, "AGENTS.md"), "Use tabs.");
    const wav = Buffer.from("RIFF....WAVE");
    await writeFile(join(cwd, "hum.wav"), wav);
    await writeFile(join(cwd, "SKILL.md"), "Put things away.");
    const other = await client.startThread({
      cwd,
      developerInstructions: "Be kind.",
      baseInstructions: "You are B.",
    });
    const injected = { type: "message", role: "user", content: [{ type: "input_text", text: "Earlier" }] };
    await client.call("thread/inject_items", { threadId: other, items: [injected, { type: "odd", a: 1 }] });
    const { turn: started } = await client.call("turn/start", {
      threadId: other,
      input: [
        { type: "text", text: "See" },
        { type: "localImage", path: join(cwd, "dot.png") },
        { type: "localImage", path: join(cwd, "none.png") },
        { type: "image", url: `data:image/jpeg;base64,${png.toString("base64")}` },
        { type: "image", url: "data:image/png;base64,iVBORw0KGgo=" },
        { type: "audio", url: "https://example.org/a.wav" },
        { type: "audio", url: "data:audio/wav;base64,UklGRg==" },
        { type: "localAudio", path: join(cwd, "hum.wav") },
        { type: "localAudio", path: join(cwd, "dot.png") },
        { type: "skill", name: "tidy", path: join(cwd, "SKILL.md") },
        { type: "skill", name: "gone", path: join(cwd, "NONE.md") },
        { type: "mention", name: "that", path: "app://that" },
      ],
      outputSchema: { type: "object", properties: {} },
    });
    await client.turnCompleted(started.id);
    const { instructions, input, text } = model.asked.at(-1)!.body;
    expect(instructions).toBe("You are B.");
    expect(input[0]).toEqual({
      type: "message",
      role: "developer",
      content: [{ type: "input_text", text: "Be kind." }],
    });
    expect(input[1].content[0].text).toContain("Use tabs.");
    expect(input[2].content[0].text).toContain("<environment_context>");
    expect(input[3]).toEqual(injected);
    // A kind that nobody knows is no model's business.
    expect(input[4].content).toEqual([
      { type: "input_text", text: "See" },
      { type: "input_image", image_url: `data:image/png;base64,${png.toString("base64")}` },
      { type: "input_text", text: expect.stringContaining("none.png could not be read") },
      // It says what it is, whatever the client said.
      { type: "input_image", image_url: `data:image/png;base64,${png.toString("base64")}` },
      {
        type: "input_text",
        text: expect.stringContaining("image left out because it could not be processed"),
      },
      {
        type: "input_text",
        text: expect.stringContaining("audio left out because it could not be processed"),
      },
      { type: "input_audio", audio_url: "data:audio/wav;base64,UklGRg==" },
      { type: "input_audio", audio_url: `data:audio/wav;base64,${wav.toString("base64")}` },
      { type: "input_text", text: expect.stringContaining("dot.png could not be read: it is no WAV") },
      {
        type: "input_text",
        text: `<skill>\n<name>tidy</name>\n<path>${join(cwd, "SKILL.md")}</path>\nPut things away.\n</skill>`,
      },
      { type: "input_text", text: expect.stringContaining("skill gone") },
      { type: "input_text", text: "[that](app://that)" },
    ]);
    expect(text.format.schema).toEqual({ type: "object", properties: {} });
    expect(threadId).not.toBe(other);
  });

  it("[MODEL-9] fetches no images: remote URLs are refused first", async () => {
    const { model, client, threadId } = await threadOn("responses", [
      stream(responses.stream(responses.message("ok"))),
    ]);
    const url = "HTTPS://example.org/a.png";
    const input = [{ type: "image", url }];
    const content = [{ type: "input_image", image_url: url }];
    const output = { type: "function_call_output", call_id: "c", output: content };
    for (const [method, params] of [
      ["turn/start", { input }],
      ["turn/steer", { input, expectedTurnId: "x" }],
      ["thread/queue/add", { input, clientUserMessageId: "q" }],
      ["thread/inject_items", { items: [{ type: "message", role: "user", content }] }],
      ["thread/inject_items", { items: [output] }],
    ] as const) {
      const { code, message } = await client.refusal(method, { threadId, ...params });
      expect([code, message]).toEqual([
        -32600,
        "remote image URLs are not supported; use an inline data URL instead",
      ]);
    }
    // One that is broken is put in words, where providers would refuse all around it.
    const broken = [{ type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" }];
    await client.call("thread/inject_items", {
      threadId,
      items: [
        { type: "message", role: "user", content: broken },
        { type: "function_call", call_id: "c", name: "look", arguments: "{}" },
        { type: "function_call_output", call_id: "c", output: broken },
      ],
    });
    await turn(client, threadId, "go");
    const words = [{ type: "input_text", text: expect.stringContaining("could not be processed") }];
    const [put, , answered] = model.asked.at(-1)!.body.input.slice(-4);
    expect([put.content, answered.output]).toEqual([words, words]);
  });
});

describe("a turn on the other wires", () => {
  it("[MODEL-3] [MODEL-4] is the same on chat, with a tool call in pieces", async () => {
    const { model, client, threadId } = await threadOn("chat", [
      stream(
        chat.stream(
          chat.delta({ reasoning_content: "I need a tool" }),
          chat.delta({
            tool_calls: [{ index: 0, id: "c1", function: { name: "shell", arguments: '{"a"' } }],
          }),
          chat.delta({ tool_calls: [{ index: 0, function: { arguments: ":1}" } }] }),
        ),
      ),
      stream(chat.stream(chat.delta({ content: "I can" }), chat.delta({ content: "not" }))),
    ]);
    const { frames, turn: ended } = await turn(client, threadId, "list files");
    expect(ended).toMatchObject({ status: "completed", items: [{ text: "I cannot" }] });
    expect(story(frames)).toEqual([
      "thread/status/changed active",
      "turn/started",
      "item/started userMessage",
      "item/completed userMessage",
      "item/started reasoning",
      "item/reasoning/textDelta",
      "item/completed reasoning",
      "thread/tokenUsage/updated",
      "item/started agentMessage",
      "item/agentMessage/delta",
      "item/completed agentMessage",
      "thread/tokenUsage/updated",
      "thread/readState/changed",
      "thread/status/changed idle",
      "turn/completed",
    ]);
    expect(model.asked[1]!.body.messages.slice(2)).toEqual([
      {
        role: "assistant",
        content: null,
        reasoning_content: "I need a tool",
        tool_calls: [{ id: "c1", type: "function", function: { name: "shell", arguments: '{"a":1}' } }],
      },
      { role: "tool", tool_call_id: "c1", content: "There is no tool named shell." },
    ]);
  });

  it("[MODEL-3] [MODEL-4] is the same on messages, with signed reasoning that is sent back", async () => {
    const { model, client, threadId } = await threadOn("messages", [
      stream(
        messages.stream(
          [
            messages.thinking(0, "I need a tool", "c2ln"),
            messages.block(1, { type: "tool_use", id: "toolu_1", name: "shell", input: { a: 1 } }),
          ],
          "tool_use",
        ),
      ),
      stream(messages.stream([messages.text(0, "I can", "not")])),
    ]);
    const { frames, turn: ended } = await turn(client, threadId, "list files");
    expect(ended).toMatchObject({ status: "completed", items: [{ text: "I cannot" }] });
    expect(story(frames).slice(4, 8)).toEqual([
      "item/started reasoning",
      "item/reasoning/summaryPartAdded",
      "item/reasoning/summaryTextDelta",
      "item/completed reasoning",
    ]);
    expect(model.asked[0]!.headers["x-api-key"]).toBe("key-1");
    expect(model.asked[1]!.body.messages).toMatchObject([
      { role: "user", content: [{ type: "text", text: "list files" }] },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "I need a tool", signature: "c2ln" },
          { type: "tool_use", id: "toolu_1", name: "shell", input: { a: 1 } },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "toolu_1",
            content: "There is no tool named shell.",
            is_error: true,
          },
        ],
      },
    ]);
  });

  it("[MODEL-3] omits items that only another provider can read", async () => {
    const { model, client, threadId } = await threadOn("responses", [
      stream(responses.stream(responses.reasoning(["Hm"], "opaque"), responses.message("Hello"))),
    ]);
    await turn(client, threadId, "hi");
    const { turn: started } = await client.call("turn/start", {
      threadId,
      input: [{ type: "text", text: "again" }],
      model: "other-model",
    });
    await client.turnCompleted(started.id);
    expect(model.asked[1]!.body.model).toBe("other-model");
    await client.call("turn/interrupt", { threadId, turnId: "" });
    const fork = (await client.call("thread/fork", { threadId, modelProvider: "offline" })).thread.id;
    const { turn: ended } = await turn(client, fork, "and now?");
    expect(ended.status).toBe("completed");
    expect(ended.items[0].text).toContain("message 3 of this thread");
  });
});

describe("a model that fails", () => {
  const errors = (frames: readonly Received[]) =>
    frames.filter(({ method }) => method === "error").map(({ params }) => params);

  it("[MODEL-6] is called again, with a notification each time, and shown text stays", async () => {
    const partial = sse(responses.message("I was saying").slice(0, 3));
    const { model, client, threadId } = await threadOn(
      "responses",
      [
        refuse(503, { error: { message: "busy" } }, { "retry-after": "0" }),
        torn(partial),
        stream(responses.stream(responses.message("all is well"))),
      ],
      ["request_max_retries = 2", "stream_max_retries = 3"],
    );
    const { frames, turn: ended } = await turn(client, threadId, "go");
    expect(ended).toMatchObject({ status: "completed", error: null });
    expect(errors(frames)).toMatchObject([
      { willRetry: true, error: { message: "Reconnecting... 1/2" } },
      { willRetry: true, error: { message: "Reconnecting... 2/3" } },
    ]);
    expect(errors(frames)[0].error.additionalDetails).toContain("busy");
    const said = frames.filter(
      ({ method, params }) => method === "item/completed" && params.item.type === "agentMessage",
    );
    expect(said.map(({ params }) => params.item.text)).toEqual(["I was sayi", "all is well"]);
    const last = model.asked.at(-1)!.body.input;
    expect(last.at(-2)).toMatchObject({ role: "assistant", content: [{ text: "I was sayi" }] });
    expect(last.at(-1)).toMatchObject({ role: "developer" });
  });

  it.each([
    [
      "a wrong key",
      refuse(401, { error: { message: "bad key" } }),
      { httpConnectionFailed: { httpStatusCode: 401 } },
      /MOCK_KEY/,
    ],
    [
      "a model that is not there",
      refuse(404, { error: { code: "model_not_found", message: "The model does not exist" } }),
      "modelNotFound",
      /mock-model/,
    ],
    [
      "a wrong address",
      refuse(404, "nothing here"),
      { httpConnectionFailed: { httpStatusCode: 404 } },
      /base_url/,
    ],
    [
      "a conversation that is too long",
      refuse(400, { error: { code: "context_length_exceeded", message: "too long" } }),
      "contextWindowExceeded",
      /too long/,
    ],
    [
      "too many requests",
      refuse(429, { error: { message: "slow down" } }),
      { responseTooManyFailedAttempts: { httpStatusCode: 429 } },
      /429/,
    ],
    ["a server in trouble", refuse(500, "oops"), "internalServerError", /500/],
    [
      "a page in place of a stream",
      refuse(200, "<html>", { "content-type": "text/html" }),
      { responseStreamConnectionFailed: { httpStatusCode: 200 } },
      /text\/html/,
    ],
    [
      "a request that it does not understand",
      refuse(400, { error: { message: "bad thing" } }),
      "badRequest",
      /bad thing/,
    ],
    [
      "a stream that breaks off",
      torn(sse([{ type: "response.created" }])),
      { responseStreamDisconnected: { httpStatusCode: null } },
      /was interrupted/,
    ],
    [
      "a stream of nonsense",
      stream("data: {nonsense\n\n"),
      { responseStreamDisconnected: { httpStatusCode: null } },
      /not valid JSON/,
    ],
    [
      "silence",
      silent(""),
      { responseStreamDisconnected: { httpStatusCode: null } },
      /stream_idle_timeout_ms/,
    ],
  ] as const)("[MODEL-7] ends the turn with %s, and says what helps", async (what, reply, info, words) => {
    const { client, threadId } = await threadOn(
      "responses",
      [reply],
      [
        "request_max_retries = 0",
        "stream_max_retries = 0",
        `stream_idle_timeout_ms = ${what === "silence" ? 300 : 20000}`,
      ],
    );
    const { frames, turn: ended } = await turn(client, threadId, "go");
    expect(ended.status).toBe("failed");
    expect(ended.error).toMatchObject({ codexErrorInfo: info, message: expect.stringMatching(words) });
    expect(ended.error.message).not.toContain("key-1");
    expect(errors(frames)).toMatchObject([{ willRetry: false, error: ended.error }]);
    expect(story(frames).slice(-3)).toEqual(["thread/status/changed systemError", "error", "turn/completed"]);
  });

  it("[MODEL-7] ends the turn after its retries when the server cannot be reached", async () => {
    const { model, client, threadId } = await threadOn(
      "responses",
      [refuse(500, "")],
      ["request_max_retries = 2"],
    );
    await model.close();
    const { frames, turn: ended } = await turn(client, threadId, "go");
    expect(errors(frames).map(({ willRetry }) => willRetry)).toEqual([true, true, false]);
    expect(ended.error).toMatchObject({
      codexErrorInfo: { httpConnectionFailed: { httpStatusCode: null } },
      message: expect.stringMatching(
        /cannot be reached at http:\/\/[\d.]+:\d+\/v1\/responses: nothing listens there/,
      ),
    });
  });

  it("[MODEL-7] can be interrupted while it waits to be called again", async () => {
    const { client, threadId } = await threadOn("responses", [refuse(503, "", { "retry-after": "100" })]);
    const turnId = await client.say(threadId, "go");
    await client.waitFor(({ method }) => method === "error", "retry");
    await client.call("turn/interrupt", { threadId, turnId });
    expect((await client.turnCompleted(turnId)).params.turn.status).toBe("interrupted");
  });

  it("[MODEL-8] is listed by its name, also when it cannot be reached", async () => {
    const { model, client } = await threadOn("responses", [refuse(500, "")]);
    await model.close();
    const { data } = await client.call("model/list", {});
    expect(data[0]).toMatchObject({ id: "mock-model", isDefault: true });
  });
});
