import { describe, expect, it } from "vitest";
import { chat, MockModel, refuse, sse, stream } from "../../../../test/support/mock-model.ts";
import { eventsOf, failureOf, requestOf, said, settingsFor } from "../../../../test/support/model-calls.ts";
import type { ContextItem, ToolSpec } from "./model.ts";

const TOOLS: readonly ToolSpec[] = [
  {
    kind: "function",
    name: "read",
    namespace: "files",
    description: "Reads",
    parameters: { type: "object" },
    strict: false,
  },
  { kind: "custom", name: "patch", description: "Patches", format: null },
];
const CALLED: readonly ContextItem[] = [
  said("user", "go"),
  { type: "reasoning", summary: [], carry: { field: "reasoning_content", text: "hm" } },
  said("assistant", "Reading."),
  {
    type: "toolCall",
    callId: "c1",
    name: "read",
    namespace: "files",
    arguments: '{"p":1}',
    kind: "function",
  },
  { type: "toolCall", callId: "c2", name: "patch", namespace: null, arguments: "*** x", kind: "custom" },
  { type: "toolOutput", callId: "c1", kind: "function", output: "text", success: true },
  {
    type: "toolOutput",
    callId: "c2",
    kind: "custom",
    output: [{ type: "input_text", text: "ok" }],
    success: true,
  },
];

describe("the chat wire", () => {
  it("assembles reasoning, text and tool calls from their deltas", async () => {
    const piece = (index: number, given: object) => chat.delta({ tool_calls: [{ index, ...given }] });
    const model = await MockModel.start(
      stream(
        chat.stream(
          chat.delta({ role: "assistant", content: "", reasoning: "Let me " }),
          chat.delta({ reasoning: "see" }),
          chat.delta({ content: "One " }),
          chat.delta({ content: "moment" }),
          piece(0, { id: "a", type: "function", function: { name: "files__read", arguments: "" } }),
          piece(1, { id: "b", type: "function", function: { name: "patch", arguments: '{"inp' } }),
          piece(0, { function: { arguments: '{"p":1}' } }),
          piece(1, { function: { arguments: 'ut":"*** x"}' } }),
        ),
      ),
    );
    const events = await eventsOf(settingsFor("chat", model.url), requestOf({ tools: TOOLS }));
    expect(events).toEqual([
      { type: "reasoningStarted", itemId: "item 1" },
      { type: "reasoningTextDelta", itemId: "item 1", index: 0, text: "Let me " },
      { type: "reasoningTextDelta", itemId: "item 1", index: 0, text: "see" },
      {
        type: "reasoningDone",
        itemId: "item 1",
        summary: [],
        content: ["Let me see"],
        carry: { field: "reasoning", text: "Let me see" },
      },
      { type: "messageStarted", itemId: "item 2" },
      { type: "messageDelta", itemId: "item 2", text: "One " },
      { type: "messageDelta", itemId: "item 2", text: "moment" },
      { type: "hiddenDelta", itemId: "item 3", of: "call", text: "" },
      { type: "hiddenDelta", itemId: "item 4", of: "call", text: '{"inp' },
      { type: "hiddenDelta", itemId: "item 3", of: "call", text: '{"p":1}' },
      { type: "hiddenDelta", itemId: "item 4", of: "call", text: 'ut":"*** x"}' },
      { type: "messageDone", itemId: "item 2", text: "One moment" },
      {
        type: "toolCall",
        call: { callId: "a", name: "read", namespace: "files", arguments: '{"p":1}', kind: "function" },
      },
      {
        type: "toolCall",
        call: { callId: "b", name: "patch", namespace: null, arguments: "*** x", kind: "custom" },
      },
      {
        type: "done",
        usage: {
          totalTokens: 120,
          inputTokens: 100,
          cachedInputTokens: 10,
          cacheWriteInputTokens: 0,
          outputTokens: 20,
          reasoningOutputTokens: 5,
        },
        contextWindow: null,
      },
    ]);
  });

  it("tells apart calls that a server does not number", async () => {
    const call = (id: string, name: string) =>
      chat.delta({ tool_calls: [{ id, function: { name, arguments: { a: id } } }] });
    const model = await MockModel.start(stream(chat.stream(call("1", "x"), call("2", "y"))));
    const events = await eventsOf(settingsFor("chat", model.url));
    expect(events.filter(({ type }) => type === "toolCall")).toMatchObject([
      { call: { callId: "1", name: "x", arguments: '{"a":"1"}' } },
      { call: { callId: "2", name: "y", arguments: '{"a":"2"}' } },
    ]);
  });

  it("sends the conversation in its own format", async () => {
    const model = await MockModel.start(stream(chat.stream(chat.delta({ content: "ok" }))));
    await eventsOf(
      settingsFor("chat", model.url),
      requestOf({
        effort: "low",
        outputSchema: { type: "object" },
        tools: [...TOOLS, { kind: "webSearch", live: true }],
        context: [said("developer", "Rules"), ...CALLED, { type: "raw", item: { type: "odd" } }],
      }),
    );
    expect(model.asked[0]).toMatchObject({ path: "/v1/chat/completions" });
    expect(model.asked[0]!.body).toEqual({
      model: "m-1",
      messages: [
        { role: "system", content: "Be brief.\n\nRules" },
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: "Reading.",
          reasoning_content: "hm",
          tool_calls: [
            { id: "c1", type: "function", function: { name: "files__read", arguments: '{"p":1}' } },
            { id: "c2", type: "function", function: { name: "patch", arguments: '{"input":"*** x"}' } },
          ],
        },
        { role: "tool", tool_call_id: "c1", content: "text" },
        { role: "tool", tool_call_id: "c2", content: "ok" },
      ],
      stream: true,
      stream_options: { include_usage: true },
      tools: [
        {
          type: "function",
          function: { name: "files__read", description: "Reads", parameters: { type: "object" } },
        },
        {
          type: "function",
          function: {
            name: "patch",
            description: "Patches",
            parameters: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
          },
        },
      ],
      parallel_tool_calls: true,
      reasoning_effort: "low",
      response_format: {
        type: "json_schema",
        json_schema: { name: "answer", strict: true, schema: { type: "object" } },
      },
    });
  });

  it("omits reasoning of earlier turns, and sends later developer messages as user messages", async () => {
    const model = await MockModel.start(stream(chat.stream(chat.delta({ content: "ok" }))));
    const image: ContextItem = {
      type: "message",
      role: "user",
      parts: [
        { type: "text", text: "see" },
        { type: "image", url: "data:image/png;base64,AA", detail: null },
      ],
    };
    const context = [...CALLED, said("assistant", "Done."), said("developer", "Note"), image];
    await eventsOf(settingsFor("chat", model.url), requestOf({ context, tools: TOOLS }));
    const { messages } = model.asked[0]!.body;
    expect(messages[2].reasoning_content).toBeUndefined();
    expect(messages.slice(5)).toEqual([
      { role: "assistant", content: "Done." },
      { role: "user", content: "Note" },
      {
        role: "user",
        content: [
          { type: "text", text: "see" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AA" } },
        ],
      },
    ]);
  });

  it("asks a model that knows no tools again without them", async () => {
    const model = await MockModel.start(
      refuse(400, { error: { message: "registry/tiny:1b does not support tools" } }),
      stream(chat.stream(chat.delta({ content: "ok" }))),
    );
    const events = await eventsOf(
      settingsFor("chat", model.url),
      requestOf({ tools: TOOLS, context: CALLED }),
    );
    expect(events.at(-1)!.type).toBe("done");
    const { body } = model.asked[1]!;
    expect(body.tools).toBeUndefined();
    expect(body.messages.map(({ role }: { role: string }) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "user",
      "user",
    ]);
  });

  it("reports errors in the stream, and incomplete answers", async () => {
    const model = await MockModel.start(stream(sse([{ error: { message: "boom", code: 500 } }])));
    const settings = settingsFor("chat", model.url);
    expect(failureOf(await eventsOf(settings)).error.message).toContain("boom");
    model.reply(stream(sse([chat.delta({ content: "a" }), chat.delta({}, "length")], "data: [DONE]\n\n")));
    const events = await eventsOf(settings);
    expect(failureOf(events).error.message).toContain("is incomplete");
    expect(events.map(({ type }) => type)).toContain("messageDone");
  });
});
