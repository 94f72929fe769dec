import { describe, expect, it } from "vitest";
import { MockModel, responses, sse, stream } from "../../../../test/support/mock-model.ts";
import { eventsOf, requestOf, said, settingsFor } from "../../../../test/support/model-calls.ts";
import type { ContextItem } from "./model.ts";

const usage = {
  totalTokens: 120,
  inputTokens: 100,
  cachedInputTokens: 10,
  cacheWriteInputTokens: 0,
  outputTokens: 20,
  reasoningOutputTokens: 5,
};

async function events(text: string, request = requestOf()) {
  const model = await MockModel.start(stream(text));
  return { events: await eventsOf(settingsFor("responses", model.url), request), asked: model.asked };
}

describe("the responses wire", () => {
  it("streams a message, and counts tokens", async () => {
    const { events: told } = await events(responses.stream(responses.message("Hello world")));
    expect(told).toEqual([
      { type: "messageStarted", itemId: "item 1", phase: null },
      { type: "messageDelta", itemId: "item 1", text: "Hello" },
      { type: "messageDelta", itemId: "item 1", text: " worl" },
      { type: "messageDelta", itemId: "item 1", text: "d" },
      { type: "messageDone", itemId: "item 1", text: "Hello world", phase: null },
      { type: "done", usage, contextWindow: null },
    ]);
  });

  it("streams reasoning in parts, with the data that must be sent back", async () => {
    const { events: told } = await events(
      responses.stream(responses.reasoning(["First", "Second"], "secret"), responses.message("ok")),
    );
    expect(told.slice(0, 4)).toEqual([
      { type: "reasoningStarted", itemId: "item 1" },
      { type: "reasoningSummaryDelta", itemId: "item 1", index: 0, text: "First" },
      { type: "reasoningSummaryDelta", itemId: "item 1", index: 1, text: "Second" },
      { type: "reasoningDone", itemId: "item 1", summary: ["First", "Second"], content: [], carry: "secret" },
    ]);
  });

  it("gives tool calls of both kinds, and searches of the web", async () => {
    const { events: told } = await events(
      sse([
        {
          type: "response.output_item.done",
          item: {
            type: "function_call",
            call_id: "c1",
            name: "read",
            namespace: "files",
            arguments: '{"a":1}',
          },
        },
        {
          type: "response.output_item.done",
          item: { type: "custom_tool_call", call_id: "c2", name: "patch", input: "*** Begin" },
        },
        {
          type: "response.output_item.added",
          item: { type: "web_search_call", id: "ws", status: "in_progress" },
        },
        {
          type: "response.output_item.done",
          item: { type: "web_search_call", id: "ws", action: { type: "search", query: "weather" } },
        },
        responses.completed(),
      ]),
    );
    expect(told.slice(0, -1)).toEqual([
      {
        type: "toolCall",
        call: { callId: "c1", name: "read", namespace: "files", arguments: '{"a":1}', kind: "function" },
      },
      {
        type: "toolCall",
        call: { callId: "c2", name: "patch", namespace: null, arguments: "*** Begin", kind: "custom" },
      },
      { type: "webSearchStarted", itemId: "item 1", action: { type: "other" } },
      {
        type: "webSearchDone",
        itemId: "item 1",
        action: { type: "search", query: "weather", queries: null },
        carry: { type: "web_search_call", action: { type: "search", query: "weather" } },
      },
    ]);
  });

  it("tells what a search is for from its start, if it is known then", async () => {
    const item = { type: "web_search_call", id: "ws", action: { type: "open_page", url: "https://x" } };
    const { events: told } = await events(
      sse([{ type: "response.output_item.done", item }, responses.completed()]),
    );
    const action = { type: "openPage", url: "https://x" };
    expect(told.slice(0, 2)).toMatchObject([
      { type: "webSearchStarted", action },
      { type: "webSearchDone", action },
    ]);
  });

  it("accepts servers that omit ids, start events or deltas", async () => {
    const { events: told } = await events(
      sse([
        { type: "response.output_text.delta", delta: "Hi" },
        {
          type: "response.output_item.done",
          item: { type: "message", content: [{ type: "output_text", text: "Hi" }] },
        },
        {
          type: "response.output_item.done",
          item: { type: "message", content: [{ type: "output_text", text: "you" }] },
        },
        responses.completed(),
      ]),
    );
    expect(told.map(({ type }) => type)).toEqual([
      "messageStarted",
      "messageDelta",
      "messageDone",
      "messageStarted",
      "messageDone",
      "done",
    ]);
  });

  it("sends the conversation in its own format", async () => {
    const { asked } = await events(
      responses.stream(responses.message("ok")),
      requestOf({
        model: "gpt-5.5",
        effort: "high",
        summary: "concise",
        outputSchema: { type: "object" },
        context: [
          said("developer", "Rules"),
          {
            type: "message",
            role: "user",
            parts: [
              { type: "text", text: "look" },
              { type: "image", url: "data:image/png;base64,AA", detail: "high" },
            ],
          },
          { type: "reasoning", summary: ["hm"], carry: "secret" },
          {
            type: "toolCall",
            callId: "c1",
            name: "read",
            namespace: "files",
            arguments: "{}",
            kind: "function",
          },
          { type: "toolCall", callId: "c2", name: "patch", namespace: null, arguments: "x", kind: "custom" },
          { type: "toolOutput", callId: "c1", kind: "function", output: "text", success: true },
          { type: "toolOutput", callId: "c2", kind: "custom", output: "done", success: true },
          { ...said("assistant", "Seen"), phase: "final_answer" } as ContextItem,
          { type: "raw", item: { type: "anything" } },
        ],
        tools: [
          {
            kind: "function",
            name: "read",
            namespace: "files",
            description: "Reads",
            parameters: { type: "object" },
            strict: false,
          },
          { kind: "custom", name: "patch", description: "Patches", format: { type: "text" } },
          { kind: "webSearch", live: true },
        ],
      }),
    );
    expect(asked[0]!.path).toBe("/v1/responses");
    expect(asked[0]!.body).toEqual({
      model: "gpt-5.5",
      instructions: "Be brief.",
      input: [
        { type: "message", role: "developer", content: [{ type: "input_text", text: "Rules" }] },
        {
          type: "message",
          role: "user",
          content: [
            { type: "input_text", text: "look" },
            { type: "input_image", image_url: "data:image/png;base64,AA", detail: "high" },
          ],
        },
        { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }], encrypted_content: "secret" },
        { type: "function_call", call_id: "c1", name: "read", namespace: "files", arguments: "{}" },
        { type: "custom_tool_call", call_id: "c2", name: "patch", input: "x" },
        { type: "function_call_output", call_id: "c1", output: "text" },
        { type: "custom_tool_call_output", call_id: "c2", output: "done" },
        {
          type: "message",
          role: "assistant",
          content: [{ type: "output_text", text: "Seen" }],
          phase: "final_answer",
        },
        { type: "anything" },
      ],
      tools: [
        {
          type: "namespace",
          name: "files",
          description: "Tools in the files namespace.",
          tools: [
            {
              type: "function",
              name: "read",
              description: "Reads",
              strict: false,
              parameters: { type: "object" },
            },
          ],
        },
        { type: "custom", name: "patch", description: "Patches", format: { type: "text" } },
        { type: "web_search", external_web_access: true },
      ],
      tool_choice: "auto",
      parallel_tool_calls: true,
      store: false,
      stream: true,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "thread-1",
      reasoning: { effort: "high", summary: "concise" },
      text: { format: { type: "json_schema", name: "answer", strict: true, schema: { type: "object" } } },
    });
  });

  const infoOf = async (text: string) => {
    const { events: told } = await events(text);
    const last = told.at(-1)!;
    if (last.type !== "failed") throw new Error(last.type);
    return [last.error.codexErrorInfo, last.retry];
  };
  const broken = { responseStreamDisconnected: { httpStatusCode: null } };

  it.each([
    ["context_length_exceeded", "too long", "contextWindowExceeded", undefined],
    ["rate_limit_exceeded", "Please try again in 1.5s.", "rateLimitExceeded", { of: 5, afterMs: 1500 }],
    ["slow_down", "too fast", "rateLimitExceeded", { of: 5 }],
    ["server_is_overloaded", "busy", "serverOverloaded", { of: 5 }],
    ["insufficient_quota", "pay", "usageLimitExceeded", undefined],
    ["usage_not_included", "buy", "usageLimitExceeded", undefined],
    ["misalignment_policy_violation", "no", "misalignmentPolicyViolation", undefined],
    ["cyber_policy", "no", "cyberPolicy", undefined],
    ["invalid_prompt", "no", "badRequest", undefined],
    ["server_error", "oops", broken, { of: 5 }],
  ])("tells %s in the middle of a stream", async (code, message, info, retry) => {
    const text = sse([{ type: "response.failed", response: { error: { code, message } } }]);
    expect(await infoOf(text)).toEqual([info, retry]);
  });

  it("reports a stream that ended too early", async () => {
    expect(await infoOf(sse([{ type: "response.created" }]))).toEqual([broken, { of: 5 }]);
  });
});
