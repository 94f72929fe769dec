import type { ThreadItem, UserInput } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { after, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import { fold } from "../fold.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState, TurnState } from "../state.ts";
import type { CallState } from "./call-stages.ts";
import { ENDING, SAMPLING } from "./phase.ts";

const TURN = "turn-1";
const running = after(newThread(), startTurn(TURN));
const withTurn = (fields: Partial<TurnState>, more: Partial<ThreadState> = {}): ThreadState => {
  return { ...running, ...more, turn: { ...running.turn!, ...fields } };
};
const folded = (state: ThreadState, record: object): ThreadState => fold(state, record as ThreadRecord);
/** The turn after a record about it. */
const turnAfter = (fields: Partial<TurnState>, record: object): TurnState => {
  return folded(withTurn(fields), { turnId: TURN, at: 5, ...record }).turn!;
};
const item = (type: string, id: string, more: object = {}): ThreadItem =>
  ({ type, id, startedAtMs: 4, completedAtMs: null, ...more }) as unknown as ThreadItem;
const call = (callId: string, stage: CallState["stage"] = { kind: "proposed" }): CallState => ({
  call: { callId, name: "act", namespace: null, arguments: "{}", kind: "function" },
  stage,
});
const usage = (totalTokens: number) => {
  const last = {
    totalTokens,
    inputTokens: 0,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    outputTokens: 0,
    reasoningOutputTokens: 0,
  };
  return { total: last, last, modelContextWindow: null };
};
const text = (words: string): UserInput => ({ type: "text", text: words, text_elements: [] });

describe("a turn that starts", () => {
  const started = { type: "turnStarted", turnId: TURN, at: 5, input: [text("go")], outputSchema: { a: 1 } };

  it.each([
    [undefined, "regular", SAMPLING],
    ["shell", "regular", { kind: "shell" }],
    ["review", "review", SAMPLING],
    ["compact", "compact", SAMPLING],
  ])("for %s is %s", (kind, expected, phase) => {
    const state = { ...newThread(), callCount: 7 };
    expect(folded(state, { ...started, kind }).turn).toEqual({
      id: TURN,
      startedAt: 5,
      outputSchema: { a: 1 },
      kind: expected,
      attempt: 0,
      phase,
      pendingInput: false,
      retries: 0,
      answers: 0,
      compacted: "no",
      plans: 0,
      injected: false,
      lostHosts: 0,
      servedBy: null,
      answer: null,
      open: [],
      saved: {},
      callsBefore: 7,
    });
  });

  it("names its root turn if it has one", () => {
    expect(folded(newThread(), { ...started, rootTurnId: "root" }).turn).toMatchObject({
      rootTurnId: "root",
    });
    expect(folded(newThread(), started).turn).not.toHaveProperty("rootTurnId");
  });

  it("gives the thread its first preview, and its time", () => {
    const preview = (...input: readonly object[]) => folded(newThread(), { ...started, input }).preview;
    expect(preview(text("one"), { type: "image", url: "x" }, text(""), text("two"))).toBe("one two");
    expect(preview(text("x".repeat(240)))).toBe("x".repeat(240));
    expect(preview(text("x".repeat(241)))).toBe(`${"x".repeat(240)}…`);
    const known = { ...newThread(), preview: "known", createdAt: 9 };
    expect(folded(known, started)).toMatchObject({ preview: "known", updatedAt: 9 });
    expect(folded(newThread(), started)).toMatchObject({ updatedAt: 5, hasUserMessage: true });
    expect(folded(newThread(), { ...started, input: [] }).hasUserMessage).toBe(false);
    expect(folded({ ...newThread(), hasUserMessage: true }, { ...started, input: [] }).hasUserMessage).toBe(
      true,
    );
  });
});

describe("a model call", () => {
  it("is requested with the turn's settings of that time, and has seen all input", () => {
    const requested = { type: "sampleRequested", attempt: 4 };
    const fields = { pendingInput: true, injected: true, phase: ENDING, settings: { model: "m2" } };
    expect(turnAfter(fields, requested)).toMatchObject({
      attempt: 4,
      phase: SAMPLING,
      pendingInput: false,
      injected: false,
      stepSettings: { model: "m2" },
    });
    expect(turnAfter({}, requested)).not.toHaveProperty("stepSettings");
    const changed = { type: "turnSettingsChanged", changes: { effort: "low" } };
    expect(turnAfter(fields, changed).settings).toEqual({ model: "m2", effort: "low" });
  });

  it("is requested for a summary in the same way", () => {
    const how = { covers: "past", lighter: 2, because: null };
    const requested = { type: "compactionRequested", attempt: 4, ...how };
    expect(turnAfter({ settings: { model: "m2" } }, requested)).toMatchObject({
      attempt: 4,
      phase: { kind: "compacting", due: null, how },
      stepSettings: { model: "m2" },
    });
  });

  it("is complete with its tokens, which are the size of the conversation", () => {
    const reported = { type: "usageReported", turnId: TURN, usage: usage(70) };
    const fields = { retries: 2, lostHosts: 1, answers: 3 };
    const state = folded(withTurn({ ...fields, compacted: "done" }), reported);
    expect(state).toMatchObject({ usage: usage(70), contextTokens: 70 });
    expect(state.turn).toMatchObject({
      retries: 0,
      lostHosts: 0,
      answers: 4,
      compacted: "no",
      phase: ENDING,
    });
    expect(turnAfter({ compacted: "failed" }, reported).compacted).toBe("failed");
    const review = withTurn({ kind: "review" }, { contextTokens: 3 });
    expect(folded(review, reported)).toMatchObject({ usage: usage(70), contextTokens: 3 });
    const calls = [call("a")];
    expect(turnAfter({ phase: { ...SAMPLING, calls } }, reported).phase).toEqual({ kind: "calling", calls });
  });

  it("is a compaction, after which the conversation is as long as the summary", () => {
    const compacted = {
      type: "compacted",
      turnId: TURN,
      at: 5,
      attempt: 1,
      summary: "s",
      kept: [],
      spent: usage(1).last,
      usage: usage(30),
    };
    const context = [{ key: "k", kind: "application", value: "v" }] as unknown as ThreadState["context"];
    const state = folded(withTurn({ retries: 2, lostHosts: 1 }, { context }), compacted);
    expect(state).toMatchObject({ usage: usage(30), contextTokens: 30, context: [] });
    expect(state.turn).toMatchObject({ phase: ENDING, compacted: "done", retries: 0, lostHosts: 0 });
    expect(state).not.toHaveProperty("startHooks");
    const startHooks = { epoch: 4 } as unknown as NonNullable<ThreadState["startHooks"]>;
    expect(folded(withTurn({}, { startHooks }), compacted).startHooks).toEqual({ epoch: 0 });
  });

  it("is a compaction that failed, whose item is gone", () => {
    const open = [item("contextCompaction", "c"), item("commandExecution", "d")];
    const failed = turnAfter({ open, retries: 2 }, { type: "compactionFailed", error: {} });
    expect(failed).toMatchObject({ phase: ENDING, compacted: "failed", retries: 0, open: [open[1]] });
  });
});

describe("an item", () => {
  const start = (fields: Partial<TurnState>, type: string) =>
    turnAfter(fields, { type: "itemStarted", item: item(type, "i") });

  it("is open when it starts, and shows that the model has answered", () => {
    const plan = start({ plans: 2 }, "plan");
    expect(plan).toMatchObject({
      open: [item("plan", "i")],
      plans: 3,
      pendingInput: running.turn!.pendingInput,
    });
    expect(plan.phase).toEqual({ ...SAMPLING, shown: true });
    const said = start({ pendingInput: false, plans: 2 }, "userMessage");
    expect(said).toMatchObject({ pendingInput: true, plans: 2, phase: SAMPLING });
    expect(start({ pendingInput: true }, "plan").pendingInput).toBe(true);
    expect(start({ pendingInput: false, phase: ENDING }, "reasoning")).toMatchObject({
      pendingInput: false,
      phase: ENDING,
    });
  });

  it("has its text saved piece by piece", () => {
    const open = [item("agentMessage", "m"), item("commandExecution", "c")];
    const save = (itemId: string, more: object = {}) =>
      turnAfter(
        { open, saved: { m: "one ", x: "kept" } },
        { type: "textSaved", itemId, text: "two", ...more },
      ).saved;
    expect(save("m")).toEqual({ m: "one two", x: "kept" });
    expect(save("n")).toEqual({ m: "one ", x: "kept", n: "two" });
    expect(save("r", { part: "summary 1" })).toMatchObject({ "r summary 1": "two" });
    // Of a command's output the end is kept.
    const long = "y".repeat(3_000_000);
    expect(save("c", { text: long })["c"]!.length).toBeLessThan(long.length);
    expect(save("m", { text: long })["m"]).toHaveLength(long.length + 4);
  });

  it("is closed when it is complete, and its saved text is gone", () => {
    const open = [item("agentMessage", "m"), item("plan", "p")];
    const saved = { m: "a", "m summary 0": "b", p: "c", mm: "d" };
    const answer = item("agentMessage", "m", { text: "done" });
    const completed = turnAfter({ open, saved }, { type: "itemCompleted", item: answer });
    expect(completed).toMatchObject({ open: [open[1]], answer });
    expect(completed.saved).toEqual({ p: "c", mm: "d" });
    const other = turnAfter({ open, saved }, { type: "itemCompleted", item: open[1] });
    expect(other).toMatchObject({ open: [open[0]], answer: null });
    const said = item("userMessage", "u", { content: [text("12345678")] });
    const before = withTurn({}, { contextTokens: 10 });
    const complete = (one: ThreadItem) =>
      folded(before, { type: "itemCompleted", turnId: TURN, at: 5, item: one });
    expect([complete(said).contextTokens, complete(answer).contextTokens]).toEqual([12, 10]);
  });
});

describe("a tool call", () => {
  it("is counted, and its id remembered with 63 others", () => {
    const callIds = Array.from({ length: 64 }, (_, nth) => `c${nth}`);
    const state = withTurn({}, { callIds, callCount: 70 });
    const called = folded(state, { type: "toolCalled", turnId: TURN, at: 5, call: call("a").call });
    expect(called.callIds).toEqual([...callIds.slice(1), "a"]);
    expect(called.callCount).toBe(71);
    expect(called.turn!.phase).toMatchObject({ calls: [call("a")] });
  });

  it("waits at the tool that it was sent to", () => {
    const sent = {
      phase: { kind: "calling", calls: [call("a", { kind: "dispatched", again: false, via: "desk" })] },
    } as const;
    const stage = (more: object = {}, fields: Partial<TurnState> = sent) => {
      const { phase } = turnAfter(fields, { type: "toolWaiting", callId: "a", until: 9, ...more });
      return "calls" in phase ? phase.calls[0]!.stage : undefined;
    };
    expect(stage()).toEqual({ kind: "waiting", until: 9, via: "desk" });
    expect(stage({ unacknowledged: true })).toMatchObject({ unacknowledged: true });
    expect(stage()).not.toHaveProperty("awaits");
    expect(stage({ awaits: { kind: "x" } })).toMatchObject({ awaits: { kind: "x" } });
    const proposed = { phase: { kind: "calling", calls: [call("a")] } } as const;
    expect(stage({}, proposed)).toEqual({ kind: "waiting", until: 9, via: undefined });
  });

  it("is settled by its output, which makes the conversation longer", () => {
    const state = withTurn(
      { phase: { kind: "calling", calls: [call("a"), call("b")] } },
      { contextTokens: 1 },
    );
    const answered = folded(state, {
      type: "toolAnswered",
      turnId: TURN,
      at: 5,
      callId: "a",
      output: "12345678",
      success: true,
    });
    expect(answered.contextTokens).toBe(3);
    expect(answered.turn!.phase).toMatchObject({ calls: [{ stage: { kind: "settled" } }, call("b")] });
  });
});

describe("the end of a turn", () => {
  const ended = {
    type: "turnEnded",
    turnId: TURN,
    startedAt: 1,
    at: 5,
    status: "completed",
    error: null,
    answer: null,
  };

  it("is remembered, with the diff that is still to be shown", () => {
    const state = folded({ ...running, createdAt: 2 }, ended);
    expect(state).toMatchObject({ turn: null, updatedAt: 5, lastTurn: { id: TURN, status: "completed" } });
    expect(state).not.toHaveProperty("undiffed");
    const changes = { before: [], ended: 2, shown: 1, digest: null, sent: 0 };
    const undiffed = folded(withTurn({ changes }), ended);
    expect(undiffed.undiffed).toEqual({ turnId: TURN, changes });
    const next = folded(undiffed, {
      type: "turnStarted",
      turnId: "turn-2",
      at: 6,
      input: [],
      outputSchema: null,
    });
    expect(next).not.toHaveProperty("undiffed");
    expect(folded({ ...running, createdAt: 9 }, ended).updatedAt).toBe(9);
  });

  it("drops the turn's requests, and keeps those of calls that go on", () => {
    const request = (id: number, callId: string) => ({
      id,
      callId,
      method: "item/tool/requestUserInput",
      params: {},
    });
    const requests = [request(1, "a"), request(2, "b")] as unknown as ThreadState["requests"];
    const late = [{ callId: "b" }] as unknown as ThreadState["rap"]["late"];
    const state = folded(withTurn({}, { requests, rap: { ...running.rap, late } }), ended);
    expect(state.requests.map(({ id }) => id)).toEqual([2]);
  });
});

it("leaves the state as it is if a record is about another turn", () => {
  const other = folded(running, { type: "itemStarted", turnId: "turn-0", at: 5, item: item("plan", "p") });
  expect(other.turn).toEqual(running.turn);
});
