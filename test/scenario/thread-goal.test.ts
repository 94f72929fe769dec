import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { stdioHost } from "../support/host-process.ts";
import { mockHost } from "../support/mock-host.ts";
import { type MockModel, type Reply, refuse, responses, silent, stream } from "../support/mock-model.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

const answer = stream(responses.stream(responses.message("Some of it is done.")));
const finish = (status: string): Reply =>
  stream(responses.stream(responses.call("update_goal", JSON.stringify({ status }))));
/** What one answer of the mock costs: what was not cached, and what was said. */
const COST = 110;

const goals = (client: WireClient): Received["params"][] =>
  client.told("thread/goal/updated").map(({ params }) => params);
const ended = (client: WireClient, count: number): Promise<void> =>
  client.until(() => client.count("turn/completed") === count, `${count} turns`);
/** The texts that the model was given last, oldest first. */
function given(model: MockModel): string[] {
  const { input } = model.asked.at(-1)!.body;
  return input.flatMap(
    ({ content }: { content?: { text: string }[] }) => content?.map(({ text }) => text) ?? [],
  );
}

describe("a goal", () => {
  it("[GOAL-9] is the preview of its thread in lists and searches, if it has no message", async () => {
    const { host, client, threadId, home } = await mockHost([answer]);
    await client.startThread();
    await client.call("thread/goal/set", { threadId, objective: "write the book", status: "paused" });
    const look = async (from: WireClient) => [
      (await from.call("thread/list", {})).data.map(({ preview }: { preview: string }) => preview),
      (await from.call("thread/search", { searchTerm: "book" })).data.map(
        ({ thread }: { thread: { id: string } }) => thread.id,
      ),
    ];
    expect(await look(client)).toEqual([["write the book"], [threadId]]);
    await client.call("thread/goal/clear", { threadId });
    host.signal("SIGKILL");
    await host.exited;
    const indexes = (await readdir(home)).filter((name) => name.startsWith("threads.v"));
    expect(indexes).not.toEqual([]);
    for (const name of indexes) await rm(join(home, name));
    const again = await stdioHost({ home, capabilities: { experimentalApi: true } });
    expect(await look(again.client)).toEqual([["write the book"], [threadId]]);
  });

  it("[GOAL-1] is set, changed, read and cleared, and refused with the peer's texts", async () => {
    const { client } = await stdioHost({ capabilities: { experimentalApi: true } });
    const threadId = await client.startThread();
    const words = async (method: string, more: object = {}) =>
      (await client.refusal(`thread/goal/${method}`, { threadId, ...more })).message;
    expect(await client.call("thread/goal/get", { threadId })).toEqual({ goal: null });
    expect(await client.call("thread/goal/clear", { threadId })).toEqual({ cleared: false });
    const none = `cannot update goal for thread ${threadId}: no goal exists`;
    expect(await words("set", { status: "paused" })).toBe(none);
    expect(await words("set", { objective: "  " })).toBe("goal objective must not be empty");
    const long = "goal objective must be at most 4000 characters";
    expect(await words("set", { objective: "😀".repeat(4001) })).toBe(long);
    const positive = "goal budgets must be positive when provided";
    expect(await words("set", { objective: "x", tokenBudget: 0 })).toBe(positive);

    const params = { threadId, objective: ` ${"😀".repeat(4000)} `, status: "paused", tokenBudget: 7 };
    const { goal } = await client.call("thread/goal/set", params);
    expect(goal).toEqual({
      threadId,
      objective: "😀".repeat(4000),
      status: "paused",
      tokenBudget: 7,
      tokensUsed: 0,
      timeUsedSeconds: 0,
      createdAt: expect.any(Number),
      updatedAt: expect.any(Number),
    });
    expect(goals(client)).toEqual([{ threadId, turnId: null, goal }]);
    await client.call("thread/unload", { threadId });
    const changed = { threadId, objective: "less", tokenBudget: null };
    const { goal: after } = await client.call("thread/goal/set", changed);
    expect(after).toMatchObject({ objective: "less", status: "paused", tokenBudget: null });
    expect(await client.call("thread/goal/get", { threadId })).toEqual({ goal: after });
    const { thread } = await client.call("thread/read", { threadId });
    expect(thread).toMatchObject({ preview: goal.objective, status: { type: "notLoaded" } });
    await client.call("thread/resume", { threadId });
    await client.about(threadId, "thread/goal/updated", client.frames.length - 1);
    expect(goals(client).at(-1)).toEqual({ threadId, turnId: null, goal: after });
    expect(await client.call("thread/goal/clear", { threadId })).toEqual({ cleared: true });
    await client.about(threadId, "thread/goal/cleared");
    expect(client.count("turn/started")).toBe(0);

    const ephemeral = await client.startThread({ ephemeral: true });
    const refused = `ephemeral thread does not support goals: ${ephemeral}`;
    expect(await words("set", { threadId: ephemeral, objective: "x" })).toBe(refused);
    const nobody = "01a1e180-fc69-7611-8fba-560f7627e4d3";
    for (const method of ["get", "set", "clear"])
      expect(await words(method, { threadId: nobody })).toBe(`thread not found: ${nobody}`);
  });

  it("[GOAL-2] [GOAL-3] goes on until the model ends it, and counts what it takes", async () => {
    const { model, client, threadId } = await mockHost([answer, answer, finish("complete"), answer]);
    const { goal } = await client.call("thread/goal/set", {
      threadId,
      objective: "Do <it>",
      tokenBudget: 10_000,
    });
    expect(goal.status).toBe("active");
    await ended(client, 3);
    const story = client.frames
      .filter(({ params }) => params?.threadId === threadId || params?.turn)
      .map(({ method, params }) => (method === "thread/status/changed" ? params.status.type : method));
    expect(story.filter((word) => !/delta|thread\/started|item|warning/.test(word!)).slice(0, 9)).toEqual([
      "thread/goal/updated",
      "active",
      "turn/started",
      "thread/tokenUsage/updated",
      "thread/goal/updated",
      "thread/readState/changed",
      "idle",
      "turn/completed",
      "active",
    ]);
    expect(goals(client).map(({ goal }) => [goal.status, goal.tokensUsed])).toEqual([
      ["active", 0],
      ["active", COST],
      ["active", 2 * COST],
      ["active", 3 * COST],
      ["complete", 3 * COST],
    ]);
    // Nobody said anything, so no message shows; what the model was told is its own.
    expect(client.told("item/started").map(({ params }) => params.item.type)).toEqual(
      Array(3).fill("agentMessage"),
    );
    expect(given(model).filter((text) => text.includes("Do &lt;it&gt;"))).toHaveLength(3);
    expect(model.asked[0]!.body.tools.map(({ name }: { name: string }) => name)).toContain("update_goal");
    const { output } = model.asked
      .at(-1)!
      .body.input.find(({ type }: { type: string }) => type === "function_call_output");
    expect(JSON.parse(output)).toMatchObject({
      goal: { status: "complete" },
      remainingTokens: 10_000 - 3 * COST,
    });
    // Ended is ended.
    await client.turn(threadId, "Hello");
    expect(client.count("turn/started")).toBe(4);
  });

  it("[GOAL-3] stops at its budget, and notifies the model if a turn goes on", async () => {
    const look = stream(responses.stream(responses.call("get_goal", "{}")));
    const { model, client, threadId } = await mockHost([look, answer, answer]);
    await client.call("thread/goal/set", { threadId, objective: "Do it", tokenBudget: 100 });
    await ended(client, 1);
    expect(goals(client).at(-1).goal).toMatchObject({ status: "budgetLimited", tokensUsed: 2 * COST });
    expect(given(model).at(-1)).toContain("used up its budget");
    const set = async (more: object) =>
      (await client.call("thread/goal/set", { threadId, ...more })).goal.status;
    expect(await set({ status: "active" })).toBe("budgetLimited");
    expect(await set({ status: "paused" })).toBe("budgetLimited");
    expect(await set({ tokenBudget: 1000 })).toBe("budgetLimited");
    expect(client.count("turn/started")).toBe(1);
    model.reply(silent(""));
    expect(await set({ status: "active" })).toBe("active");
    await client.until(() => client.count("turn/started") === 2, "another turn");
  });

  it("[GOAL-3] gets no larger budget than is configured", async () => {
    const { client, threadId } = await mockHost([silent("")], ["goals.max_goal_token_budget = 200"]);
    const params = { threadId, objective: "Do it", status: "paused" };
    const refusal = await client.refusal("thread/goal/set", { ...params, tokenBudget: 201 });
    expect(refusal.message).toBe(
      "goal token budget 201 exceeds the maximum allowed goal token budget of 200",
    );
    expect((await client.call("thread/goal/set", params)).goal.tokenBudget).toBe(200);
    expect((await client.call("thread/goal/set", { ...params, tokenBudget: 50 })).goal.tokenBudget).toBe(50);
    expect((await client.call("thread/goal/set", { ...params, tokenBudget: null })).goal.tokenBudget).toBe(
      200,
    );
  });

  it("[GOAL-4] waits after an interrupt until it is set active, or until a client resumes the thread", async () => {
    const { host, client, threadId, home } = await mockHost([silent("")]);
    await client.call("thread/goal/set", { threadId, objective: "Do it" });
    const interrupt = async (count: number) => {
      await client.until(() => client.count("turn/started") === count, "a turn");
      const { turn } = client.told("turn/started").at(-1)!.params;
      await client.call("turn/interrupt", { threadId, turnId: turn.id });
      await client.turnCompleted(turn.id);
      expect((await client.call("thread/goal/get", { threadId })).goal.status).toBe("active");
      expect(client.count("turn/started")).toBe(count);
    };
    await interrupt(1);
    await client.call("thread/goal/set", { threadId, status: "active" });
    await interrupt(2);
    await client.call("thread/resume", { threadId });
    await interrupt(3);
    host.signal("SIGTERM");
    await host.exited;
    const next = await stdioHost({ home, capabilities: { experimentalApi: true } });
    await next.client.call("thread/resume", { threadId });
    await next.client.about(threadId, "turn/started");
    // Without a goal nothing goes on.
    await next.client.call("thread/goal/clear", { threadId });
    const { turn } = next.client.told("turn/started")[0]!.params;
    await next.client.call("turn/interrupt", { threadId, turnId: turn.id });
    await next.client.call("thread/resume", { threadId });
    expect(next.client.count("turn/started")).toBe(1);
  });

  it("[GOAL-5] is blocked by a failure, and usage-limited by a limit", async () => {
    const limit = { error: { type: "usage_limit_reached", message: "That is all." } };
    const { model, client, threadId } = await mockHost([refuse(400, { error: { message: "no" } })]);
    await client.call("thread/goal/set", { threadId, objective: "Do it" });
    await ended(client, 1);
    expect(goals(client).at(-1)).toMatchObject({ turnId: expect.any(String), goal: { status: "blocked" } });
    model.reply(refuse(429, limit));
    await client.call("thread/goal/set", { threadId, status: "active" });
    await ended(client, 2);
    expect(goals(client).at(-1).goal.status).toBe("usageLimited");
  });

  it("[GOAL-6] does not go on forever with a model that only talks", async () => {
    const { client, threadId } = await mockHost([answer]);
    await client.call("thread/goal/set", { threadId, objective: "Do it" });
    await ended(client, 10);
    expect((await client.call("thread/goal/get", { threadId })).goal).toMatchObject({
      status: "blocked",
      tokensUsed: 10 * COST,
    });
    expect(client.count("turn/started")).toBe(10);
  });

  it("[GOAL-2] lets queued input go first, and notifies of a new objective", async () => {
    const { model, client, threadId } = await mockHost([silent("")]);
    await client.call("thread/goal/set", { threadId, objective: "Old" });
    await eventually(() => model.asked.length === 1, "the model is asked");
    const input = [{ type: "text", text: "queued" }];
    await client.call("thread/queue/add", { threadId, input, clientUserMessageId: "q" });
    await client.call("thread/goal/set", { threadId, objective: "New" });
    model.reply(answer, answer, finish("complete"), answer);
    const { turn } = client.told("turn/started")[0]!.params;
    await client.call("turn/steer", {
      threadId,
      expectedTurnId: turn.id,
      input: [{ type: "text", text: "hi" }],
    });
    await ended(client, 3);
    const first = model.asked
      .at(-4)!
      .body.input.flatMap(({ content }: { content: { text: string }[] }) => content.map(({ text }) => text));
    expect(first.slice(-2)).toEqual(["hi", expect.stringContaining("New")]);
    const started = client.told("item/started").map(({ params }) => params.item);
    expect(started.filter(({ type }) => type === "userMessage").map(({ clientId }) => clientId)).toEqual([
      null,
      "q",
    ]);
    expect(given(model).at(-1)).not.toContain("Old");
  });

  it("[GOAL-8] goes with a fork that asks for it, and waits there for a turn", async () => {
    const { model, client, threadId } = await mockHost([answer]);
    await client.turn(threadId, "Hello");
    await client.call("thread/goal/set", { threadId, objective: "Do it", status: "paused" });
    await client.call("thread/goal/set", { threadId, tokenBudget: 300 });
    const plain = await client.call("thread/fork", { threadId });
    expect(await client.call("thread/goal/get", { threadId: plain.thread.id })).toEqual({ goal: null });
    const params = { threadId, deferGoalContinuation: true };
    const refusal = await client.refusal("thread/fork", { ...params, ephemeral: true });
    expect(refusal.message).toBe("`deferGoalContinuation` cannot be combined with `ephemeral`");
    const { thread } = await client.call("thread/fork", params);
    const mine = { threadId: thread.id };
    expect((await client.call("thread/goal/get", mine)).goal).toMatchObject({
      threadId: thread.id,
      objective: "Do it",
      tokenBudget: 300,
    });
    await client.call("thread/goal/set", { ...mine, status: "active" });
    expect(client.count("turn/started")).toBe(1);
    model.reply(answer, finish("complete"), answer);
    await client.turn(thread.id, "Go");
    await client.until(() => goals(client).at(-1).goal.status === "complete", "the goal");
  });
});
