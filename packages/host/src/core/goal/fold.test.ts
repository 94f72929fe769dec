import { describe, expect, it } from "vitest";
import {
  after,
  decided,
  endModelCall,
  newThread,
  startTurn,
} from "../../../../../test/support/test-thread.ts";
import type { Command } from "../commands.ts";
import { fold } from "../fold.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { withGoal as accounted } from "./goal-accounting.ts";
import { goalNews } from "./goal-prompts.ts";
import { goalAnswer } from "./goal-tool-call.ts";
import type { Goal, GoalState } from "./records.ts";

const goal: Goal = {
  objective: "Ship it",
  status: "active",
  tokenBudget: 100,
  tokensUsed: 10,
  timeUsedSeconds: 5,
  createdAt: 0,
  updatedAt: 1,
};
const GOAL: GoalState = {
  goal,
  countedUntil: null,
  held: false,
  deferred: false,
  news: null,
  fruitless: 3,
  endedIn: null,
};
const withGoal = (
  { goal: changes, ...more }: Partial<Omit<GoalState, "goal">> & { goal?: Partial<Goal> } = {},
  from: ThreadState = newThread(),
): ThreadState => ({ ...from, goal: { ...GOAL, goal: { ...goal, ...changes }, ...more } });
const running = (state: ThreadState) => ({ ...after(newThread(), startTurn()), goal: state.goal });
const changed = (more: Partial<Extract<ThreadRecord, { type: "goalChanged" }>> = {}): ThreadRecord => ({
  type: "goalChanged",
  at: 9000,
  turnId: "turn-1",
  goal,
  countedUntil: 9000,
  ...more,
});

describe("a changed goal", () => {
  it("forgets what happened to it before, if a client changed it", () => {
    const before = withGoal({ held: true, deferred: true, fruitless: 3 });
    expect(fold(before, changed({ turnId: null })).goal).toEqual({
      ...GOAL,
      countedUntil: 9000,
      deferred: true,
      fruitless: 0,
    });
    const byTurn = fold(before, changed()).goal;
    expect(byTurn).toMatchObject({ held: true, deferred: true, fruitless: 3, endedIn: null });
    expect(fold(before, changed({ deferred: false })).goal?.deferred).toBe(false);
    expect(fold(newThread(), changed()).goal).toMatchObject({ held: false, deferred: false, fruitless: 0 });
    expect(fold(newThread(), changed({ deferred: true })).goal?.deferred).toBe(true);
  });

  it("is ended in the turn that ended it", () => {
    const complete = changed({ goal: { ...goal, status: "complete" } });
    expect(fold(withGoal(), complete).goal?.endedIn).toBe("turn-1");
    expect(fold(withGoal({ endedIn: "turn-0" }), changed()).goal?.endedIn).toBeNull();
  });

  it.each<[string, Partial<GoalState>, Partial<Goal>, Partial<Goal>, string | null]>([
    ["reaches its budget", {}, {}, { status: "budgetLimited" }, "budget"],
    ["has reached its budget before", {}, { status: "budgetLimited" }, { status: "budgetLimited" }, null],
    [
      "has reached its budget, and the model does not know",
      { news: "budget" },
      { status: "budgetLimited" },
      { status: "budgetLimited" },
      "budget",
    ],
    ["gets a larger budget", { news: "budget" }, { status: "budgetLimited" }, {}, null],
    ["gets another objective", {}, {}, { objective: "Other" }, "objective"],
    ["gets another objective while paused", {}, {}, { objective: "Other", status: "paused" }, null],
    ["has another objective that the model does not know", { news: "objective" }, {}, {}, "objective"],
    [
      "is paused before the model knows its objective",
      { news: "objective" },
      {},
      { status: "paused" },
      "objective",
    ],
  ])("is news for the model if it %s", (_, state, before, now, news) => {
    const record = changed({ goal: { ...goal, ...now } });
    expect(fold(running(withGoal({ ...state, goal: before })), record).goal?.news).toBe(news);
  });

  it("gives the thread a preview until there is another", () => {
    expect(fold(newThread(), changed()).preview).toBe("Ship it");
    expect(fold({ ...newThread(), preview: "Hello" }, changed()).preview).toBe("Hello");
  });
});

describe("a turn of a thread with a goal", () => {
  const start = (input: unknown[]): ThreadRecord =>
    ({ type: "turnStarted", turnId: "turn-1", at: 7000, input, outputSchema: null }) as ThreadRecord;

  it.each([
    ["active", null, 7000],
    ["active", 3000, 3000],
    ["budgetLimited", null, 7000],
    ["paused", 3000, null],
    ["complete", null, null],
  ] as const)(
    "counts the time of a goal that is %s (counted until %s) from %s",
    (status, until, expected) => {
      const state = withGoal({ goal: { status }, countedUntil: until, held: true, deferred: true });
      expect(fold(state, start([])).goal).toMatchObject({
        countedUntil: expected,
        held: false,
        deferred: false,
        fruitless: 3,
      });
      expect(fold(state, start([{ type: "text", text: "go" }])).goal?.fruitless).toBe(0);
    },
  );

  it.each([
    ["active", "completed", 3000, false],
    ["active", "interrupted", 3000, true],
    ["budgetLimited", "completed", null, false],
    ["paused", "failed", null, false],
  ] as const)("ends: the goal is %s, the turn %s", (status, ended, countedUntil, held) => {
    const state = running(withGoal({ goal: { status }, countedUntil: 3000, held: !held, news: "budget" }));
    const end = { type: "turnEnded", turnId: "turn-1", at: 8000, status: ended, error: null } as ThreadRecord;
    expect(fold(state, end).goal).toMatchObject({ countedUntil, held, news: "budget" });
    expect(fold(running(withGoal({ news: "objective" })), end).goal?.news).toBeNull();
  });

  it("forgets at its next model call that it has ended the goal", () => {
    const request: ThreadRecord = { type: "sampleRequested", turnId: "turn-1", attempt: 2 };
    const ended = running(withGoal({ endedIn: "turn-1", goal: { status: "complete" } }));
    expect(fold(ended, request).goal).toEqual({ ...ended.goal, endedIn: null });
    expect(fold(running(withGoal()), request).goal).toEqual(GOAL);
    expect(fold(running(newThread()), request).goal).toBeNull();
  });
});

describe("a load of a thread with a goal", () => {
  const open: Command = { kind: "open", at: 9000, load: {}, docs: [], changes: {} };
  const closed = (state: ThreadState) => after(state, { kind: "close", at: 8000, reason: "requested" });

  it("lets the goal go on, and counts no time before the load", () => {
    const before = withGoal({ countedUntil: 3000, held: true, news: "budget" });
    expect(after(closed(before), open).goal).toEqual({ ...GOAL, countedUntil: 9000, news: "budget" });
    const paused = withGoal({ goal: { status: "paused" }, countedUntil: 3000 });
    expect(after(closed(paused), open).goal?.countedUntil).toBeNull();
    expect(after(closed(newThread()), open).goal).toBeNull();
  });

  it("that another host adopts counts from then on", () => {
    const adopt: Command = { kind: "adopt", at: 9000 };
    expect(after(withGoal({ countedUntil: 3000 }), adopt).goal).toEqual({ ...GOAL, countedUntil: 9000 });
    expect(after(withGoal(), adopt).goal).toEqual(GOAL);
    expect(after(newThread(), adopt).goal).toBeNull();
  });
});

describe("the accounts of a goal", () => {
  const tokens = (inputTokens: number) => ({
    totalTokens: inputTokens,
    inputTokens,
    cachedInputTokens: 0,
    cacheWriteInputTokens: 0,
    outputTokens: 0,
    reasoningOutputTokens: 0,
  });
  const used = (inputTokens: number): ThreadRecord => {
    const usage = { last: tokens(inputTokens), total: tokens(inputTokens), modelContextWindow: null };
    return { type: "usageReported", turnId: "turn-1", usage };
  };
  const request = (attempt: number): ThreadRecord => ({ type: "sampleRequested", turnId: "turn-1", attempt });
  const changes = (records: readonly ThreadRecord[]) =>
    records.flatMap((record) => (record.type === "goalChanged" ? [record] : []));
  const types = (records: readonly ThreadRecord[]) => records.map(({ type }) => type);

  it("are made before the next model call, and each token counts once", () => {
    const state = running(withGoal({ countedUntil: 1000 }));
    const records = accounted(state, [used(7), request(2), used(5)], 3500);
    expect(types(records)).toEqual([
      "usageReported",
      "goalChanged",
      "sampleRequested",
      "usageReported",
      "goalChanged",
    ]);
    expect(changes(records)).toEqual([
      {
        type: "goalChanged",
        at: 3500,
        turnId: "turn-1",
        goal: { ...goal, tokensUsed: 17, timeUsedSeconds: 7, updatedAt: 3500 },
        countedUntil: 3000,
      },
      {
        type: "goalChanged",
        at: 3500,
        turnId: "turn-1",
        goal: { ...goal, tokensUsed: 22, timeUsedSeconds: 7, updatedAt: 3500 },
        countedUntil: 3000,
      },
    ]);
  });

  it("change nothing without tokens, time or another status", () => {
    const state = running(withGoal({ countedUntil: 1000 }));
    expect(accounted(state, [request(2)], 1500)).toEqual([request(2)]);
    expect(accounted(state, [used(0)], 1500)).toEqual([used(0)]);
    expect(types(accounted(state, [request(2)], 2000))).toEqual(["goalChanged", "sampleRequested"]);
    // The first model call of a turn comes right after the turn's start.
    expect(accounted(state, [request(1)], 2000)).toEqual([request(1)]);
  });

  it("count no time that nobody worked in, and keep the time of the last change", () => {
    const state = running(withGoal({ countedUntil: 1000 }));
    expect(changes(accounted(state, [used(7)], undefined))).toMatchObject([
      { at: 1, goal: { tokensUsed: 17, timeUsedSeconds: 5, updatedAt: 1 }, countedUntil: 1000 },
    ]);
  });

  it.each([
    ["active", null, 17, 3000],
    ["budgetLimited", null, 17, 3000],
    ["paused", null, 10, null],
    ["complete", "turn-1", 17, null],
    ["complete", "turn-0", 10, null],
  ] as const)("of a goal that is %s, ended in %s, say %s tokens", (status, endedIn, tokensUsed, until) => {
    const state = running(withGoal({ goal: { status }, endedIn, countedUntil: 1000 }));
    expect(changes(accounted(state, [used(7)], 3500))).toMatchObject([
      { goal: { status, tokensUsed, timeUsedSeconds: 7 }, countedUntil: until },
    ]);
  });

  it("end a goal at its budget, which the model learns before its next call", () => {
    const state = running(withGoal());
    const records = accounted(state, [used(90), request(2)], 3500);
    expect(types(records)).toEqual(["usageReported", "goalChanged", "goalContext", "sampleRequested"]);
    const limited: Goal = { ...goal, status: "budgetLimited", tokensUsed: 100, updatedAt: 3500 };
    expect(records[1]).toMatchObject({ goal: limited });
    const text = goalNews("budget", limited);
    expect(records[2]).toEqual({ type: "goalContext", at: 3500, turnId: "turn-1", about: "budget", text });
    expect(text).toMatch(/^<goal>\nThis thread's goal has used up its budget/);
    expect(records.reduce(fold, state).goal).toMatchObject({ news: null, fruitless: 3 });
  });

  it("inform the model of another objective before its next call, once", () => {
    const state = running(withGoal({ news: "objective" }));
    const records = accounted(state, [request(2), request(3)], undefined);
    expect(types(records)).toEqual(["goalContext", "sampleRequested", "sampleRequested"]);
    expect(records[0]).toEqual({
      type: "goalContext",
      at: 1,
      turnId: "turn-1",
      about: "objective",
      text: goalNews("objective", goal),
    });
    expect(goalNews("objective", goal)).toMatch(/^<goal>\nThe user has changed this thread's goal/);
    expect(goalNews("objective", goal)).toContain("Used so far: 10 tokens (90 left), 5 seconds.");
  });

  it("are none without a goal, and none for a goal that is cleared", () => {
    expect(accounted(running(newThread()), [used(7)], 3500)).toEqual([used(7)]);
    const cleared: ThreadRecord = { type: "goalCleared", at: 3 };
    expect(accounted(running(withGoal()), [cleared, used(7)], 3500)).toEqual([cleared, used(7)]);
  });

  it("are part of a turn's end", () => {
    const state = running(withGoal({ countedUntil: 1000 }));
    const { records } = decided(state, endModelCall(4000));
    expect(types(records).filter((type) => type === "goalChanged" || type === "turnEnded")).toEqual([
      "goalChanged",
      "turnEnded",
    ]);
  });
});

describe("the answer of a goal tool", () => {
  const answer = (state: ThreadState) => JSON.parse(goalAnswer(state));

  it("is the goal with the tokens that are left", () => {
    expect(answer(newThread())).toEqual({ goal: null, remainingTokens: null });
    expect(answer(withGoal())).toMatchObject({ goal: { objective: "Ship it" }, remainingTokens: 90 });
    expect(answer(withGoal({ goal: { tokensUsed: 200 } })).remainingTokens).toBe(0);
    expect(answer(withGoal({ goal: { tokenBudget: null } })).remainingTokens).toBeNull();
  });
});
