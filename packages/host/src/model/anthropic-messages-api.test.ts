import { describe, expect, it } from "vitest";
import { MockModel, messages, sse, stream } from "../../../../test/support/mock-model.ts";
import { eventsOf, failureOf, requestOf, said, settingsFor } from "../../../../test/support/model-calls.ts";
import type { ContextItem } from "./model.ts";

const THOUGHT = { type: "thinking", thinking: "hm", signature: "c2ln" };
const cached = { cache_control: { type: "ephemeral" } };
const CALLED: readonly ContextItem[] = [
  said("user", "go"),
  { type: "reasoning", summary: ["hm"], carry: THOUGHT },
  said("assistant", "Reading."),
  {
    type: "toolCall",
    callId: "toolu_1",
    name: "read",
    namespace: null,
    arguments: '{"p":1}',
    kind: "function",
  },
  { type: "toolOutput", callId: "toolu_1", kind: "function", output: "gone", success: false },
];

describe("the messages wire", () => {
  it("streams thinking with signatures, text and tool calls", async () => {
    const model = await MockModel.start(
      stream(
        messages.stream(
          [
            messages.thinking(0, "Let me see", "c2ln"),
            messages.block(1, { type: "redacted_thinking", data: "x" }),
            messages.text(2, "One ", "moment"),
            messages.block(
              3,
              { type: "tool_use", id: "toolu_1", name: "read", input: {} },
              { type: "input_json_delta", partial_json: '{"p"' },
              { type: "input_json_delta", partial_json: ":1}" },
            ),
            messages.block(4, { type: "tool_use", id: "toolu_2", name: "now", input: {} }),
          ],
          "tool_use",
        ),
      ),
    );
    const events = await eventsOf(
      settingsFor("messages", model.url),
      requestOf({ model: "claude-sonnet-4-5" }),
    );
    const carry = { type: "thinking", thinking: "Let me see", signature: "c2ln" };
    const call = { namespace: null, kind: "function" };
    expect(events).toEqual([
      { type: "reasoningStarted", itemId: "item 1" },
      { type: "reasoningSummaryDelta", itemId: "item 1", index: 0, text: "Let me see" },
      { type: "hiddenDelta", itemId: "item 1", of: "reasoning", text: "c2ln" },
      { type: "reasoningDone", itemId: "item 1", summary: ["Let me see"], content: [], carry },
      { type: "reasoningStarted", itemId: "item 2" },
      {
        type: "reasoningDone",
        itemId: "item 2",
        summary: [],
        content: [],
        carry: { type: "redacted_thinking", data: "x" },
      },
      { type: "messageStarted", itemId: "item 3" },
      { type: "messageDelta", itemId: "item 3", text: "One " },
      { type: "messageDelta", itemId: "item 3", text: "moment" },
      { type: "messageDone", itemId: "item 3", text: "One moment" },
      { type: "hiddenDelta", itemId: "item 4", of: "call", text: '{"p"' },
      { type: "hiddenDelta", itemId: "item 4", of: "call", text: ":1}" },
      { type: "toolCall", call: { ...call, callId: "toolu_1", name: "read", arguments: '{"p":1}' } },
      { type: "toolCall", call: { ...call, callId: "toolu_2", name: "now", arguments: "{}" } },
      {
        type: "done",
        usage: {
          totalTokens: 120,
          inputTokens: 100,
          cachedInputTokens: 30,
          cacheWriteInputTokens: 10,
          outputTokens: 20,
          reasoningOutputTokens: 0,
        },
        contextWindow: 200_000,
      },
    ]);
  });

  it("sends the conversation in its own format, with cache breakpoints", async () => {
    const model = await MockModel.start(stream(messages.stream([messages.text(0, "ok")])));
    await eventsOf(
      settingsFor("messages", model.url),
      requestOf({
        model: "claude-sonnet-4-5",
        effort: "low",
        tools: [
          {
            kind: "function",
            name: "read",
            namespace: null,
            description: "Reads",
            parameters: { type: "object" },
            strict: false,
          },
        ],
        context: [said("developer", "Rules"), ...CALLED],
      }),
    );
    expect(model.asked[0]).toMatchObject({
      path: "/v1/messages",
      headers: { "anthropic-version": "2023-06-01" },
    });
    expect(model.asked[0]!.body).toEqual({
      model: "claude-sonnet-4-5",
      max_tokens: 32_000,
      system: [
        { type: "text", text: "Be brief." },
        { type: "text", text: "Rules", ...cached },
      ],
      messages: [
        { role: "user", content: [{ type: "text", text: "go" }] },
        {
          role: "assistant",
          content: [
            THOUGHT,
            { type: "text", text: "Reading." },
            { type: "tool_use", id: "toolu_1", name: "read", input: { p: 1 } },
          ],
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "toolu_1", content: "gone", is_error: true, ...cached },
          ],
        },
      ],
      stream: true,
      tools: [{ name: "read", description: "Reads", input_schema: { type: "object" } }],
      tool_choice: { type: "auto", disable_parallel_tool_use: false },
      thinking: { type: "enabled", budget_tokens: 4096 },
    });
  });

  it("starts and ends with a user message, and enables no thinking in the middle of an answer without it", async () => {
    const model = await MockModel.start(stream(messages.stream([messages.text(0, "ok")])));
    const ask = async (context: readonly ContextItem[]) => {
      await eventsOf(settingsFor("messages", model.url), requestOf({ context, effort: "high" }));
      return model.asked.at(-1)!.body;
    };
    const alone = await ask([said("assistant", "Hello")]);
    expect(alone.messages.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant", "user"]);
    const thoughtless = await ask(CALLED.filter(({ type }) => type !== "reasoning"));
    expect(thoughtless.thinking).toBeUndefined();
    const picture: ContextItem = {
      type: "message",
      role: "user",
      parts: [
        { type: "image", url: "data:image/png;base64,AA", detail: null },
        { type: "image", url: "https://example.org/a.png", detail: null },
      ],
    };
    expect((await ask([picture])).messages[0].content).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: "AA" } },
      { type: "image", source: { type: "url", url: "https://example.org/a.png" }, ...cached },
    ]);
  });

  it("reports errors in the stream, and incomplete answers", async () => {
    const overloaded = sse([{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }]);
    const model = await MockModel.start(stream(overloaded));
    const settings = settingsFor("messages", model.url);
    expect(failureOf(await eventsOf(settings))).toMatchObject({
      error: { codexErrorInfo: "serverOverloaded" },
      retry: { of: 5 },
    });
    model.reply(stream(messages.stream([messages.text(0, "a")], "max_tokens")));
    expect(failureOf(await eventsOf(settings)).error.message).toContain("is incomplete");
    model.reply(stream(messages.stream([], "model_context_window_exceeded")));
    expect(failureOf(await eventsOf(settings)).error.codexErrorInfo).toBe("contextWindowExceeded");
  });
});
