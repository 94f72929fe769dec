// thread/journal/read and turn/timeline/read: what is in a thread's journal, and what a turn spent its time with.
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { asked, commandStage, WRITES } from "../support/command-stage.ts";
import { responses, silent, sse } from "../support/mock-model.ts";
import { escalated, say } from "../support/model-replies.ts";
import { rapStage } from "../support/rap-stage.ts";
import { FakeToolServer } from "../support/tool-server.ts";
import type { WireClient } from "../support/wire-client.ts";

const PRICED = [
  ...WRITES,
  "usage.prices.mock-model.input = 2",
  "usage.prices.mock-model.cached_input = 1",
  "usage.prices.mock-model.output = 10",
];

interface Entry {
  readonly seq: number;
  readonly index: number;
  readonly type: string;
  readonly atMs: number | null;
  readonly json: string | null;
  readonly cursor: string;
  readonly preview: string;
  readonly sent: readonly { kind: string; method: string; to: readonly string[]; json: string | null }[];
}

/** All pages, in the order of reading, and their number. */
async function pages(client: WireClient, params: object): Promise<{ entries: Entry[]; count: number }> {
  const entries: Entry[] = [];
  let cursor: string | null = null;
  let count = 0;
  do {
    const page: { data: Entry[]; nextCursor: string | null } = await client.call("thread/journal/read", {
      ...params,
      ...(cursor !== null && { cursor }),
    });
    entries.push(...page.data);
    cursor = page.nextCursor;
    count++;
  } while (cursor !== null);
  return { entries, count };
}

const places = (entries: readonly Entry[]) => entries.map(({ seq, index }) => `${seq}.${index}`);

describe("a thread's journal", () => {
  it("[CONSOLE-20] is read page by page in both directions, loaded or not, and nothing is loaded for it", async () => {
    const { client, threadId } = await commandStage([say("One."), say("Two.")]);
    const first = await client.turn(threadId, "First");
    await client.turn(threadId, "Second");
    const { thread } = await client.call("thread/read", { threadId });
    expect((await client.call("thread/unload", { threadId })).status).toBe("unloaded");
    const lines = (await readFile(thread.path, "utf8")).trim().split("\n");
    const stored = lines.flatMap((line) => JSON.parse(line).records) as { type: string }[];
    const newest = await pages(client, { threadId, includeJson: true, limit: 3 });
    expect(newest.entries.toReversed().map(({ json }) => JSON.parse(json!))).toEqual(stored);
    expect(newest.count).toBe(Math.ceil(stored.length / 3));
    const oldest = await pages(client, { threadId, limit: 4, sortDirection: "asc" });
    expect(places(oldest.entries)).toEqual(places(newest.entries.toReversed()));
    // Without JSON there is a preview, and each record is found again by its cursor.
    const one = oldest.entries.find(({ type }) => type === "turnStarted")!;
    expect([one.json, one.preview]).toEqual([null, expect.stringContaining("First")]);
    const again = await client.call("thread/journal/read", {
      threadId,
      cursor: one.cursor,
      limit: 1,
      includeJson: true,
    });
    expect(JSON.parse(again.data[0].json)).toMatchObject({ type: "turnStarted", turnId: first });
    expect(again.data[0].sent).toEqual([
      expect.objectContaining({ kind: "notification", method: "turn/started", to: ["subscribers"] }),
    ]);
    expect(JSON.parse(again.data[0].sent[0].json)).toMatchObject({ threadId, turn: { id: first } });
    expect((await client.call("thread/loaded/list")).data).toEqual([]);
    // Records without a time have that of the one before.
    expect(oldest.entries.find(({ type }) => type === "usageReported")!.atMs).toEqual(expect.any(Number));
  });

  it("[CONSOLE-20] is filtered by type, turn and text, and read on from where it ended", async () => {
    const { client, threadId } = await commandStage([say("A crow."), say("A “magpie”."), say("Both.")]);
    const first = await client.turn(threadId, "First");
    const second = await client.turn(threadId, "Second");
    const read = (params: object) => client.call("thread/journal/read", { threadId, ...params });
    const types = ["turnStarted", "turnEnded"];
    const named = await read({ types });
    expect(named.data.map(({ type, turnId }: { type: string; turnId: string }) => [type, turnId])).toEqual([
      ["turnEnded", second],
      ["turnStarted", second],
      ["turnEnded", first],
      ["turnStarted", first],
    ]);
    expect((await read({ types, turnId: first })).data).toHaveLength(2);
    const found = await read({ searchTerm: "a “MAGPIE”", types: ["itemCompleted"] });
    expect(found.data.map(({ turnId }: { turnId: string }) => turnId)).toEqual([second]);
    expect(await read({ types: ["nothing"] })).toMatchObject({ data: [], nextCursor: null });
    const { newestCursor } = await read({ limit: 1 });
    const later = () => read({ cursor: newestCursor, sortDirection: "asc", types: ["turnStarted"] });
    expect((await later()).data).toEqual([]);
    const third = await client.turn(threadId, "Third");
    expect((await later()).data.map(({ turnId }: { turnId: string }) => turnId)).toEqual([third]);
    for (const cursor of ["", "2.1-0-0.0", "1.1-0-0.x"])
      expect(await client.refusal("thread/journal/read", { threadId, cursor })).toMatchObject({
        data: { code: "invalidCursor" },
      });
    const many = Array.from({ length: 201 }, (_, nth) => `type ${nth}`);
    expect(await client.refusal("thread/journal/read", { threadId, types: many })).toMatchObject({
      data: { code: "tooManyRecordTypes" },
    });
    expect(
      await client.refusal("thread/journal/read", { threadId, searchTerm: "x".repeat(1001) }),
    ).toMatchObject({ data: { code: "searchTermTooLong" } });
    // An ephemeral thread has a journal in memory.
    const ephemeral = await client.startThread({ ephemeral: true });
    expect((await pages(client, { threadId: ephemeral })).entries.map(({ type }) => type)).toContain(
      "created",
    );
  });

  it("[CONSOLE-20] says what clients and tool servers were sent, and cuts long records", async () => {
    const desk = await FakeToolServer.start({ look: {} });
    const { client, threadId } = await rapStage([say("ok")], { servers: { desk } });
    await client.turn(threadId, "word ".repeat(60_000));
    await client.call("thread/unload", { threadId });
    const { entries } = await pages(client, { threadId, includeJson: true });
    const closing = entries.find(({ type }) => type === "notified")!;
    expect(closing.sent).toEqual([
      {
        kind: "toolServerNotice",
        method: "closeThread",
        to: ["desk"],
        json: JSON.stringify({ thread_id: threadId }),
        isCut: false,
      },
    ]);
    expect(entries.find(({ type }) => type === "closed")!.sent.map(({ method }) => method)).toContain(
      "thread/closed",
    );
    const long = entries.find(({ type, json }) => type === "itemCompleted" && json!.length > 100_000)!;
    expect(long).toMatchObject({ isCut: true, sent: [{ method: "item/completed", isCut: true }] });
    expect(long.json).toHaveLength(256 * 1024);
  });
});

describe("the timeline of a turn", () => {
  it("[CONSOLE-21] has model calls, questions and tools with times, failures, tokens and cost", async () => {
    const stage = await commandStage([escalated("exit 3"), say("It failed."), say("More.")], PRICED);
    const { client, threadId } = stage;
    const turnId = await client.say(threadId, "go");
    const question = await asked(client);
    const running = await client.call("turn/timeline/read", { threadId, turnId });
    expect(running).toMatchObject({ turnId, status: "inProgress", completedAtMs: null });
    expect(running.spans.find(({ kind }: { kind: string }) => kind === "question")).toMatchObject({
      label: "Approval of a command",
      status: "inProgress",
      endedAtMs: null,
    });
    client.send({ id: question.id, result: { decision: "accept" } });
    await client.turnCompleted(turnId);
    await client.turn(threadId, "Another turn");
    await client.call("thread/unload", { threadId });
    const timeline = await client.call("turn/timeline/read", { threadId, turnId });
    expect(timeline).toMatchObject({ status: "completed", unpricedModels: [], omittedSpans: 0 });
    expect(timeline.usage).toMatchObject({ inputTokens: 200, cachedInputTokens: 20, outputTokens: 40 });
    // 2 × (90 × 2 + 10 × 1 + 20 × 10) millionths of a dollar.
    expect(timeline.costUsdMicros).toBe(780);
    const spans = timeline.spans.map(
      ({ kind, label, status, problem, model, costUsdMicros }: Record<string, unknown>) => [
        kind,
        label,
        status,
        problem,
        model,
        costUsdMicros,
      ],
    );
    expect(spans).toEqual([
      ["model", "Model", "completed", null, "mock-model", 390],
      ["question", "Approval of a command", "completed", null, null, null],
      ["tool", "/bin/bash -c 'exit 3'", "failed", "Exit code 3.", null, null],
      ["model", "Model", "completed", null, "mock-model", 390],
      ["message", "Answer", "completed", null, null, null],
    ]);
    for (const { startedAtMs, endedAtMs } of timeline.spans) {
      expect(startedAtMs).toBeGreaterThanOrEqual(timeline.startedAtMs);
      expect(endedAtMs).toBeGreaterThanOrEqual(startedAtMs);
      expect(endedAtMs).toBeLessThanOrEqual(timeline.completedAtMs);
    }
  });

  it("[CONSOLE-21] names models without a price, and marks what an interrupt ended", async () => {
    const [added, ...deltas] = responses.message("Half of it").slice(0, -1);
    const half = silent(sse([{ type: "response.created", response: { id: "r" } }, added!, ...deltas]));
    const { client, threadId } = await commandStage([say("Ready."), half]);
    const first = await client.turn(threadId, "One");
    const timeline = await client.call("turn/timeline/read", { threadId, turnId: first });
    expect(timeline).toMatchObject({ costUsdMicros: null, unpricedModels: ["mock-model"] });
    const from = client.frames.length;
    const turnId = await client.say(threadId, "Two");
    await client.about(threadId, "item/agentMessage/delta", from);
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnCompleted(turnId);
    const cut = await client.call("turn/timeline/read", { threadId, turnId });
    expect(cut.status).toBe("interrupted");
    expect(
      cut.spans.map(({ kind, status }: { kind: string; status: string }) => [kind, status]),
    ).toContainEqual(["model", "interrupted"]);
    for (const missing of [threadId, "nothing", ""])
      expect(await client.refusal("turn/timeline/read", { threadId, turnId: missing })).toMatchObject({
        data: { code: "turnNotFound" },
      });
  });
});
