// Making a conversation shorter, on the real program with a local model.
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import {
  chat,
  MockModel,
  messages,
  type Reply,
  refuse,
  responses,
  silent,
  stream,
} from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { isOfUnknownModel, story } from "../support/story.ts";
import type { WireClient } from "../support/wire-client.ts";

const SOCKET = ["--listen", "ws://127.0.0.1:0"];
const EXPERIMENTAL = { experimentalApi: true };

/** An answer whose usage says that the conversation takes so many tokens. */
function say(text: string, tokens = 100): Reply {
  const whole = responses.stream(responses.message(text));
  return stream(whole.replace('"input_tokens":100', `"input_tokens":${tokens - 20}`));
}
const look = (callId: string): Reply =>
  stream(responses.stream(responses.call("lookup", `{"id":"${callId}"}`, callId)));

const TOO_LONG = refuse(400, {
  error: { code: "context_length_exceeded", message: "Your input exceeds the context window." },
});
const LOOKUP = {
  type: "function",
  name: "lookup",
  description: "Looks a ticket up.",
  inputSchema: { type: "object", properties: { id: { type: "string" } } },
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
  top: readonly string[] = [],
  wire = "responses",
): Promise<Stage> {
  const model = await MockModel.start(...replies);
  const { home, cwd } = await modelHome(wire, model.url, { top });
  const host = await spawnHost({ home, args: SOCKET });
  const client = await host.join(undefined, EXPERIMENTAL);
  const threadId = await client.startThread({
    cwd,
    dynamicTools: [LOOKUP],
    developerInstructions: "Be kind.",
  });
  return { model, host, home, client, threadId };
}

async function compact(client: WireClient, threadId: string): Promise<string> {
  const from = client.frames.length;
  await client.call("thread/compact/start", { threadId });
  const { params } = await client.about(threadId, "turn/started", from);
  return params.turn.id;
}

/** The texts of what a model was asked, behind what stands before every conversation. */
function asked(model: MockModel, nth: number): string[] {
  const { input } = model.asked.at(nth)!.body;
  const texts = input.map(
    ({ role, content, type }: { role?: string; type: string; content?: { text: string }[] }) =>
      role === undefined ? type : `${role}: ${content!.map(({ text }) => text).join("+")}`,
  );
  return texts.slice(texts.findIndex((text: string) => text.includes("<environment_context>")) + 1);
}
/** How many compactions came about. */
function compactions(client: WireClient): number {
  return client.told("item/completed").filter(({ params }) => params.item.type === "contextCompaction")
    .length;
}

const SUMMARY = /^user: The conversation so far was longer .*\n\n(.*)$/s;

describe("thread/compact/start", () => {
  it("[COMPACT-1] is a turn of its own, after which the model gets a summary and the user's messages", async () => {
    const { model, client, threadId } = await stage([
      look("call_1"),
      say("It is open"),
      say("THE SUMMARY"),
      say("Go on"),
    ]);
    await client.call("thread/inject_items", {
      threadId,
      items: [{ type: "message", role: "developer", content: [{ type: "input_text", text: "Rule one." }] }],
    });
    const first = await client.say(threadId, "look it up");
    const { id } = await client.waitFor(({ method }) => method === "item/tool/call", "the call");
    client.send({ id, result: { contentItems: [{ type: "inputText", text: "open" }], success: true } });
    await client.turnCompleted(first);
    const from = client.frames.length;
    const turnId = await compact(client, threadId);
    const { params } = await client.turnCompleted(turnId);
    expect(params.turn).toMatchObject({ status: "completed", items: [], itemsView: "notLoaded" });
    expect(story(client.frames.slice(from))).toEqual([
      expect.stringMatching(/^reply/),
      "thread/status/changed active",
      "turn/started",
      "item/started contextCompaction",
      "item/completed contextCompaction",
      "thread/tokenUsage/updated",
      "thread/status/changed idle",
      "turn/completed",
    ]);
    const [usage] = client.told("thread/tokenUsage/updated").slice(-1);
    expect(usage!.params.tokenUsage.total.totalTokens).toBe(320);
    expect(usage!.params.tokenUsage.last).toMatchObject({ inputTokens: 0, totalTokens: expect.any(Number) });

    // It is asked in plain words, without tools.
    expect(model.asked[2]!.body.tools ?? []).toEqual([]);
    expect(asked(model, 2)).toEqual([
      "developer: Rule one.",
      "user: look it up",
      'assistant: (I called the tool lookup with: {"id":"call_1"})',
      "user: (The tool lookup answered: open)",
      "assistant: It is open",
      expect.stringMatching(/^user: Stop here and write a summary/),
    ]);
    await client.turn(threadId, "and now?");
    expect(asked(model, 3)).toEqual([
      "developer: Rule one.",
      "user: look it up",
      expect.stringMatching(SUMMARY),
      "user: and now?",
    ]);
    expect(JSON.stringify(model.asked[3]!.body)).toContain("Be kind.");
    const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
    expect(thread.turns[1].items).toMatchObject([{ type: "contextCompaction" }]);
  });

  it("[COMPACT-2] replaces a running turn, and cannot be steered", async () => {
    const { client, threadId } = await stage([silent("")]);
    const running = await client.say(threadId, "hm");
    const from = client.frames.length;
    const turnId = await compact(client, threadId);
    expect((await client.turnCompleted(running)).params.turn.status).toBe("interrupted");
    const input = [{ type: "text", text: "more" }];
    for (const [method, params] of [
      ["turn/steer", { threadId, expectedTurnId: turnId, input }],
      ["turn/start", { threadId, input }],
    ] as const) {
      const { code, message, data } = await client.refusal(method, params);
      expect({ code, message }).toEqual({ code: -32600, message: "cannot steer a compact turn" });
      expect(data).toMatchObject({
        code: "turnNotSteerable",
        codexErrorInfo: { activeTurnNotSteerable: { turnKind: "compact" } },
      });
    }
    await client.call("turn/interrupt", { threadId, turnId });
    expect((await client.turnCompleted(turnId)).params.turn.status).toBe("interrupted");
    // Clients take the end of the item for a success.
    expect(story(client.frames.slice(from))).not.toContain("item/completed contextCompaction");
    const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
    expect(thread.turns[1]).toMatchObject({ status: "interrupted", items: [] });
  });

  it("[COMPACT-3] is retried, and fails with the model's error; the conversation stays", async () => {
    const busy = refuse(503, { error: { message: "busy" } });
    const { model, client, threadId } = await stage([
      say("one"),
      busy,
      refuse(400, { error: { message: "no" } }),
    ]);
    await client.turn(threadId, "hi");
    const turnId = await compact(client, threadId);
    const { params } = await client.turnCompleted(turnId);
    expect(params.turn).toMatchObject({ status: "failed", error: { codexErrorInfo: "badRequest" } });
    expect(client.told("error").map(({ params }) => params.willRetry)).toEqual([true, false]);
    model.reply(say("two"));
    await client.turn(threadId, "again");
    expect(asked(model, -1)).toEqual(["user: hi", "assistant: one", "user: again"]);
  });

  it("[COMPACT-4] gives a model that refuses its length less and less of it, and keeps the newest", async () => {
    const { model, client, threadId } = await stage([say("one"), TOO_LONG, TOO_LONG, say("short")]);
    await client.turn(threadId, `first ${"word ".repeat(400)}last`);
    await client.turnCompleted(await compact(client, threadId));
    expect(model.asked).toHaveLength(4);
    const sizes = model.asked.slice(1).map((_, nth) => asked(model, nth + 1).join().length);
    expect(sizes[1]!).toBeLessThan(sizes[0]!);
    expect(sizes[2]!).toBeLessThan(sizes[1]!);
    expect(asked(model, 3).join()).toContain("last,assistant: one");
  });

  it.each([
    ["chat", (text: string) => stream(chat.stream(chat.delta({ content: text })))],
    ["messages", (text: string) => stream(messages.stream([messages.text(0, text)]))],
  ])("[COMPACT-1] works on the %s wire", async (wire, tell) => {
    const { model, client, threadId } = await stage([tell("FIRST"), tell("SHORT"), tell("SECOND")], [], wire);
    await client.turn(threadId, "hi");
    const { params } = await client.turnCompleted(await compact(client, threadId));
    expect(params.turn.status).toBe("completed");
    await client.turn(threadId, "again");
    const text = JSON.stringify(model.asked[2]!.body.messages);
    expect(text).toMatch(/hi.*SHORT.*again/s);
    expect(text).not.toContain("FIRST");
  });

  it("[COMPACT-1] is refused for a thread that does not exist", async () => {
    const { client } = await stage([say("x")]);
    const unknown = "67e55044-10b1-426f-9247-bb680e5fe0c8";
    expect(await client.refusal("thread/compact/start", { threadId: "not-an-id" })).toMatchObject({
      code: -32600,
      message: expect.stringContaining("invalid thread id"),
    });
    expect(await client.refusal("thread/compact/start", { threadId: unknown })).toMatchObject({
      code: -32600,
      message: `thread not found: ${unknown}`,
    });
  });
});

describe("a conversation that grows too long", () => {
  it("[COMPACT-5] is compacted before the next turn is answered, and keeps the turn's own input", async () => {
    const limit = ["model_auto_compact_token_limit = 1000"];
    const { model, client, threadId } = await stage(
      [say("one", 2000), say("SHORT"), say("two"), say("three")],
      limit,
    );
    await client.turn(threadId, "first");
    const from = client.frames.length;
    await client.turn(threadId, "second");
    expect(story(client.frames.slice(from))).toEqual([
      expect.stringMatching(/^reply/),
      "thread/status/changed active",
      "turn/started",
      "item/started userMessage",
      "item/completed userMessage",
      "item/started contextCompaction",
      "item/completed contextCompaction",
      "thread/tokenUsage/updated",
      "item/started agentMessage",
      "item/agentMessage/delta",
      "item/completed agentMessage",
      "thread/tokenUsage/updated",
      "thread/readState/changed",
      "thread/status/changed idle",
      "turn/completed",
    ]);
    expect(asked(model, 1)).toEqual([
      "user: first",
      "assistant: one",
      expect.stringMatching(/^user: Stop here/),
    ]);
    expect(asked(model, 2)).toEqual(["user: first", expect.stringMatching(SUMMARY), "user: second"]);
    await client.turn(threadId, "third");
    expect(asked(model, 3).slice(-3)).toEqual(["user: second", "assistant: two", "user: third"]);
  });

  it("[COMPACT-5] is compacted in the middle of a turn, which goes on from there", async () => {
    const window = ["model_context_window = 1000"];
    const { model, client, threadId } = await stage([look("a"), say("SHORT"), say("done")], window);
    const turnId = await client.say(threadId, "look");
    const { id } = await client.waitFor(({ method }) => method === "item/tool/call", "the call");
    const text = "long ".repeat(800);
    client.send({ id, result: { contentItems: [{ type: "inputText", text }], success: true } });
    expect((await client.turnCompleted(turnId)).params.turn.status).toBe("completed");
    expect(compactions(client)).toBe(1);
    expect(asked(model, 1).at(-2)).toContain("long long");
    expect(asked(model, 2)).toEqual(["user: look", expect.stringMatching(SUMMARY)]);
    expect(client.told("thread/tokenUsage/updated").at(-1)!.params.tokenUsage.modelContextWindow).toBe(1000);
  });

  it("[COMPACT-6] that the model refuses is compacted, and the turn goes on", async () => {
    const { model, client, threadId } = await stage([say("one"), TOO_LONG, say("SHORT"), say("two")]);
    await client.turn(threadId, "first");
    const turnId = await client.turn(threadId, "second");
    expect(client.told("error")).toEqual([]);
    expect((await client.turnCompleted(turnId)).params.turn.status).toBe("completed");
    expect(asked(model, 3)).toEqual(["user: first", expect.stringMatching(SUMMARY), "user: second"]);
  });

  it("[COMPACT-6] fails the turn if that does not help", async () => {
    const { model, client, threadId } = await stage([say("one"), TOO_LONG, say("SHORT"), TOO_LONG]);
    // Nothing is there to make shorter in a first turn.
    model.reply(TOO_LONG);
    const first = (await client.turnCompleted(await client.say(threadId, "first"))).params.turn;
    expect(first).toMatchObject({ status: "failed", error: { codexErrorInfo: "contextWindowExceeded" } });
    expect(model.asked).toHaveLength(1);
    model.reply(say("one"), TOO_LONG, say("SHORT"), TOO_LONG);
    await client.turn(threadId, "second");
    const { params } = await client.turnCompleted(await client.say(threadId, "third"));
    expect(params.turn).toMatchObject({
      status: "failed",
      error: { codexErrorInfo: "contextWindowExceeded" },
    });
    expect(model.asked).toHaveLength(5);
  });

  it("[COMPACT-7] goes on unchanged if it cannot be compacted, with a warning", async () => {
    const limit = ["model_auto_compact_token_limit = 1000"];
    const no = refuse(400, { error: { message: "no summaries here" } });
    const { model, client, threadId } = await stage([say("one", 2000), no, say("two")], limit);
    await client.turn(threadId, "first");
    const turnId = await client.turn(threadId, "second");
    expect((await client.turnCompleted(turnId)).params.turn.status).toBe("completed");
    expect(client.told("warning").find((frame) => !isOfUnknownModel(frame))!.params).toMatchObject({
      threadId,
      message: expect.stringContaining("no summaries here"),
    });
    expect(compactions(client)).toBe(0);
    expect(asked(model, 2)).toEqual(["user: first", "assistant: one", "user: second"]);
  });

  it("[COMPACT-8] puts input that arrives meanwhile after the summary", async () => {
    const limit = ["model_auto_compact_token_limit = 1000"];
    let release = (): void => {};
    const late: Reply = async (response, request) => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      await say("SHORT")(response, request);
    };
    const { model, client, threadId } = await stage([say("one", 2000), late, say("two")], limit);
    await client.turn(threadId, "first");
    const turnId = await client.say(threadId, "second");
    await eventually(() => model.asked.length === 2, "the summary is asked for");
    await client.call("turn/steer", {
      threadId,
      expectedTurnId: turnId,
      input: [{ type: "text", text: "third" }],
    });
    release();
    await client.turnCompleted(turnId);
    expect(asked(model, 2)).toEqual([
      "user: first",
      expect.stringMatching(SUMMARY),
      "user: second",
      "user: third",
    ]);
  });
});

describe("history around a compaction", () => {
  it("[COMPACT-9] is that of the turns which count after a rollback and a fork, and after a restart", async () => {
    const { model, host, home, client, threadId } = await stage([say("one"), say("SHORT"), say("two")]);
    const first = await client.turn(threadId, "first");
    await client.turnCompleted(await compact(client, threadId));
    await client.turn(threadId, "second");
    const whole = ["user: first", expect.stringMatching(SUMMARY), "user: second", "assistant: two"];

    const { thread: fork } = await client.call("thread/fork", { threadId });
    await client.turn(fork.id, "forked");
    expect(asked(model, -1)).toEqual([...whole, "user: forked"]);
    const { thread: early } = await client.call("thread/fork", { threadId, lastTurnId: first });
    await client.turn(early.id, "early");
    expect(asked(model, -1)).toEqual(["user: first", "assistant: one", "user: early"]);

    await host.kill();
    const again = await spawnHost({ home, args: SOCKET });
    const next = await again.join(undefined, EXPERIMENTAL);
    await next.call("thread/resume", { threadId });
    await next.turn(threadId, "third");
    expect(asked(model, -1)).toEqual([...whole, "user: third"]);
    await next.call("thread/rollback", { threadId, numTurns: 3 });
    await next.turn(threadId, "fourth");
    expect(asked(model, -1)).toEqual(["user: first", "assistant: one", "user: fourth"]);
  });
});
