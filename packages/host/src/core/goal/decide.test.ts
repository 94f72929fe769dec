import { describe, expect, it } from "vitest";
import { after, decided, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import type { Command } from "../commands.ts";
import { next } from "../next.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import type { GoalCommand } from "./commands.ts";
import { withGoal as accountedGoal } from "./goal-accounting.ts";
import { goalToolCall } from "./goal-tool-call.ts";

type SetGoal = Extract<GoalCommand, { kind: "setGoal" }>;

const set = (more: Partial<SetGoal> = {}): SetGoal => ({
  kind: "setGoal",
  at: 1000,
  objective: "Ship it",
  status: undefined,
  tokenBudget: undefined,
  maxBudget: null,
  ...more,
});
/** A change of an existing goal that leaves the rest as it is. */
const change = (more: Partial<SetGoal>): SetGoal => set({ objective: undefined, at: 2000, ...more });

const create = (more: Partial<Extract<GoalCommand, { kind: "createGoal" }>> = {}): GoalCommand => ({
  kind: "createGoal",
  at: 1000,
  turnId: "turn-1",
  objective: "Ship it",
  tokenBudget: null,
  maxBudget: null,
  ...more,
});

const finish = (status: "complete" | "blocked", turnId = "turn-1"): GoalCommand => ({
  kind: "finishGoal",
  at: 5000,
  turnId,
  status,
});

const go = (turnId: string, at = 3000): Command => ({ kind: "continueGoal", at, turnId });

/** A model call of a turn that has used tokens and ended the turn. */
const sampled = (turnId: string, inputTokens: number, at = 4000): Command => ({
  kind: "sampled",
  at,
  turnId,
  attempt: 1,
  outcome: {
    kind: "done",
    usage: {
      totalTokens: inputTokens,
      inputTokens,
      cachedInputTokens: 2,
      cacheWriteInputTokens: 0,
      outputTokens: 3,
      reasoningOutputTokens: 0,
    },
    contextWindow: null,
  },
});

const failed = (turnId: string, codexErrorInfo: "usageLimitExceeded" | "badRequest"): Command => ({
  kind: "sampled",
  at: 4000,
  turnId,
  attempt: 1,
  outcome: {
    kind: "failed",
    error: { message: "no", codexErrorInfo, additionalDetails: null, misalignment: null },
  },
});

const keys = (state: ThreadState): readonly string[] => next(state).map(({ key }) => key);
const withGoal = after(newThread(), set());
const status = (state: ThreadState) => state.goal?.goal.status;

describe("a goal that a client sets", () => {
  it("begins at once, trimmed, with the largest budget that is allowed", () => {
    const { records, state } = decided(newThread(), set({ objective: "  Ship it \n", maxBudget: 50 }));
    expect(records).toEqual([
      {
        type: "goalChanged",
        at: 1000,
        turnId: null,
        goal: {
          objective: "Ship it",
          status: "active",
          tokenBudget: 50,
          tokensUsed: 0,
          timeUsedSeconds: 0,
          createdAt: 1000,
          updatedAt: 1000,
        },
        countedUntil: 1000,
      },
    ]);
    expect(state.preview).toBe("Ship it");
    expect(keys(state)).toEqual(["goal"]);
  });

  it("can begin paused, and counts no time until it is active", () => {
    const paused = after(newThread(), set({ status: "paused" }));
    expect(paused.goal).toMatchObject({ goal: { status: "paused" }, countedUntil: null });
    expect(keys(paused)).toEqual([]);
    const active = after(paused, change({ at: 9000, status: "active" }));
    expect(active.goal).toMatchObject({ goal: { status: "active", timeUsedSeconds: 0 }, countedUntil: 9000 });
  });

  it("is refused without words, with too many, or with a budget that is not allowed", () => {
    const refusal = (from: ThreadState, command: SetGoal): string => {
      try {
        decided(from, command);
      } catch (fault) {
        return (fault as { code: string }).code;
      }
      return "none";
    };
    expect(refusal(newThread(), set({ objective: undefined }))).toBe("noGoal");
    expect(refusal(newThread(), set({ objective: " " }))).toBe("goalEmpty");
    // Characters count, not the halves of a pair.
    expect(refusal(newThread(), set({ objective: "😀".repeat(4000) }))).toBe("none");
    expect(refusal(newThread(), set({ objective: "😀".repeat(4001) }))).toBe("goalTooLong");
    expect(refusal(newThread(), set({ tokenBudget: 0 }))).toBe("goalBudget");
    expect(refusal(newThread(), set({ tokenBudget: 51, maxBudget: 50 }))).toBe("goalBudgetTooLarge");
    expect(refusal(newThread(), set({ tokenBudget: 50, maxBudget: 50 }))).toBe("none");
    expect(refusal(withGoal, change({ tokenBudget: -1 }))).toBe("goalBudget");
    expect(refusal(withGoal, change({ objective: "" }))).toBe("goalEmpty");
  });

  it("changes in what is given alone", () => {
    const before = after(newThread(), set({ tokenBudget: 10, maxBudget: 50 }));
    const reworded = after(before, change({ objective: "Ship both" }));
    expect(reworded.goal?.goal).toMatchObject({
      objective: "Ship both",
      tokenBudget: 10,
      status: "active",
      timeUsedSeconds: 1,
      createdAt: 1000,
      updatedAt: 2000,
    });
    const unlimited = after(before, change({ tokenBudget: null, maxBudget: 50 }));
    expect(unlimited.goal?.goal).toMatchObject({ objective: "Ship it", tokenBudget: 50 });
    expect(after(before, change({ tokenBudget: null })).goal?.goal.tokenBudget).toBeNull();
  });

  it("is cleared, once", () => {
    const clear: Command = { kind: "clearGoal", at: 2000 };
    const { records, state } = decided(withGoal, clear);
    expect([records, state.goal]).toEqual([[{ type: "goalCleared", at: 2000 }], null]);
    expect(decided(state, clear).records).toEqual([]);
  });
});

describe("a goal that goes on", () => {
  it("starts a turn with the objective, what was used and what is left", () => {
    const limited = after(newThread(), set({ objective: "a < b & c", tokenBudget: 100 }));
    const used = after(limited, go("turn-1"), sampled("turn-1", 32));
    expect(used.goal?.goal).toMatchObject({ tokensUsed: 33, timeUsedSeconds: 3 });
    const { records } = decided(used, go("turn-2"));
    const types = records.map(({ type }) => type);
    expect(types).toEqual(["statusChanged", "turnStarted", "goalContext", "sampleRequested"]);
    const { text } = records[2] as { text: string };
    expect(text).toContain("<objective>\na &lt; b &amp; c\n</objective>");
    expect(text).toContain("Used so far: 33 tokens (67 left), 3 seconds.");
  });

  it("waits for the turn that runs, and for a client after an interruption", () => {
    const running = after(withGoal, startTurn());
    expect(decided(running, go("turn-2")).records).toEqual([]);
    const interrupted = after(running, { kind: "interrupt", at: 3000, turnId: null });
    expect(interrupted.goal?.held).toBe(true);
    expect([keys(interrupted), decided(interrupted, go("turn-2")).records]).toEqual([[], []]);
    const takeUp: Command = { kind: "takeUpGoal", at: 4000 };
    const back = after(interrupted, takeUp);
    expect(keys(back)).toEqual(["goal"]);
    expect(decided(back, takeUp).records).toEqual([]);
    expect(decided(after(interrupted, change({ status: "paused" })), takeUp).records).toEqual([]);
    // A change by a client lets it go on, too.
    expect(keys(after(interrupted, change({ objective: "Again" })))).toEqual(["goal"]);
  });

  it("stops at its budget, and tells the model to come to an end", () => {
    const limited = after(newThread(), set({ tokenBudget: 10 }), go("turn-1"));
    const used = after(limited, sampled("turn-1", 9));
    expect([status(used), used.goal?.goal.tokensUsed, used.goal?.news]).toEqual([
      "budgetLimited",
      10,
      "budget",
    ]);
    expect(decided(used, go("turn-2")).records).toEqual([]);
    // It can be neither paused nor blocked; a larger budget lets it go on.
    expect(status(after(used, change({ status: "paused" })))).toBe("budgetLimited");
    expect(status(after(used, change({ status: "blocked" })))).toBe("budgetLimited");
    expect(status(after(used, change({ status: "complete" })))).toBe("complete");
    const more = after(used, change({ tokenBudget: 20, status: "active" }));
    expect([status(more), more.goal?.news]).toEqual(["active", null]);
    const one = after(newThread(), set({ tokenBudget: 11 }), go("turn-1"), sampled("turn-1", 9));
    expect(status(one)).toBe("active");
  });

  it("is blocked by a turn that fails, and by ten turns in a row that call no tool", () => {
    expect(status(after(withGoal, go("turn-1"), failed("turn-1", "badRequest")))).toBe("blocked");
    expect(status(after(withGoal, go("turn-1"), failed("turn-1", "usageLimitExceeded")))).toBe(
      "usageLimited",
    );
    const paused = after(withGoal, change({ status: "paused" }), startTurn());
    expect(status(after(paused, failed("turn-1", "usageLimitExceeded")))).toBe("paused");
    let state = withGoal;
    for (let nth = 1; nth <= 9; nth++) state = after(state, go(`turn-${nth}`), sampled(`turn-${nth}`, 5));
    expect([status(state), state.goal?.fruitless]).toEqual(["active", 9]);
    expect(status(after(state, go("turn-10"), sampled("turn-10", 5)))).toBe("blocked");
    // Words of a person begin the count again.
    const spoken = after(state, startTurn("turn-10"), sampled("turn-10", 5));
    expect([status(spoken), spoken.goal?.fruitless]).toEqual(["active", 0]);
  });

  it("shows a new objective to the model that is at work, and not to one that is not", () => {
    const running = after(withGoal, startTurn());
    expect(after(running, change({ objective: "Other" })).goal?.news).toBe("objective");
    expect(after(running, change({ objective: "Ship it" })).goal?.news).toBeNull();
    expect(after(running, change({ objective: "Other", status: "paused" })).goal?.news).toBeNull();
    expect(after(withGoal, change({ objective: "Other" })).goal?.news).toBeNull();
    const ended = after(running, change({ objective: "Other" }), sampled("turn-1", 5));
    expect(ended.goal?.news).toBeNull();
  });
});

describe("the tokens of a goal", () => {
  const tokens = (inputTokens: number) => ({
    totalTokens: inputTokens,
    inputTokens,
    cachedInputTokens: 4,
    cacheWriteInputTokens: 0,
    outputTokens: 1,
    reasoningOutputTokens: 0,
  });
  const running = after(withGoal, startTurn());
  const usedBy = (record: object): number | undefined => {
    const records = accountedGoal(running, [record as ThreadRecord], 2000);
    return records.flatMap((one) => (one.type === "goalChanged" ? [one.goal.tokensUsed] : [])).at(-1);
  };
  const about = { turnId: "turn-1", at: 2, attempt: 1, callId: "c", server: "s", usage: null };

  it("are those of the model, of summaries, of reviews and of servers that use the model", () => {
    const usage = { last: tokens(10), total: tokens(10), modelContextWindow: null };
    expect(usedBy({ type: "usageReported", ...about, usage })).toBe(7);
    expect(usedBy({ type: "compacted", ...about, summary: "", kept: [], spent: tokens(20), usage })).toBe(17);
    expect(usedBy({ type: "serverSampled", ...about, spent: tokens(30), usage })).toBe(27);
    const review = { reviewId: "r", action: {}, review: { status: "approved" } };
    expect(usedBy({ type: "reviewEnded", ...about, ...review, usage: tokens(40) })).toBe(37);
    expect(usedBy({ type: "reviewEnded", ...about, ...review })).toBeUndefined();
    // Cached tokens are free, and never count against others.
    expect(usedBy({ type: "serverSampled", ...about, spent: tokens(3), usage })).toBe(1);
  });
});

describe("a goal of the model's own", () => {
  const running = after(newThread(), startTurn());

  it("is created and ended in the turn that asks for it, with the result as JSON", () => {
    const made = goalToolCall(running, create({ tokenBudget: 40 }));
    expect(made.success).toBe(true);
    expect(JSON.parse(made.output)).toEqual({
      goal: {
        threadId: "t",
        objective: "Ship it",
        status: "active",
        tokenBudget: 40,
        tokensUsed: 0,
        timeUsedSeconds: 0,
        createdAt: 1,
        updatedAt: 1,
      },
      remainingTokens: 40,
    });
    const state = after(running, create());
    expect(decided(running, create({ turnId: "turn-0" })).records).toEqual([]);
    expect(decided(state, finish("complete", "turn-0")).records).toEqual([]);
    const done = goalToolCall(state, finish("complete"));
    expect(JSON.parse(done.output)).toMatchObject({
      goal: { status: "complete", timeUsedSeconds: 4, tokenBudget: null },
      remainingTokens: null,
    });
  });

  it("takes the place of one that is complete, and of no other", () => {
    const state = after(running, create());
    const refused = goalToolCall(state, create({ objective: "Another" }));
    expect([refused.success, refused.goal]).toEqual([false, []]);
    expect(refused.output).not.toBe("");
    const done = after(state, finish("complete"));
    expect(goalToolCall(done, create({ objective: "Another" })).success).toBe(true);
    expect(goalToolCall(running, finish("complete")).success).toBe(false);
  });

  it("still counts the tokens of the call that ended it", () => {
    const done = after(running, create(), finish("complete"));
    expect(done.goal?.endedIn).toBe("turn-1");
    expect(after(done, sampled("turn-1", 9)).goal?.goal).toMatchObject({
      status: "complete",
      tokensUsed: 10,
    });
  });
});
