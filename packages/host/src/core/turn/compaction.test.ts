import type { ThreadItem, TurnError } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { after, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import type { ThreadState, TurnState } from "../state.ts";
import type { TurnCommand } from "./commands.ts";
import { beginCompaction, coverage, mayCompact, startCompaction, summarised } from "./compaction.ts";
import type { Compacting } from "./records.ts";

const usage = (totalTokens: number) => ({
  totalTokens,
  inputTokens: totalTokens * 2,
  cachedInputTokens: totalTokens * 3,
  cacheWriteInputTokens: totalTokens * 4,
  outputTokens: totalTokens * 5,
  reasoningOutputTokens: totalTokens * 6,
});
const NONE = new Map<string, string>();
const state = after(newThread(), startTurn());
const turn = state.turn!;
const error = (codexErrorInfo: TurnError["codexErrorInfo"] = "other"): TurnError => {
  return { message: "no", codexErrorInfo, additionalDetails: null, misalignment: null };
};
const ALL: Compacting = { covers: "all", lighter: 0, because: null };

describe("a turn may compact the conversation", () => {
  it.each<[string, Partial<TurnState>, boolean]>([
    ["while it calls the model", {}, true],
    ["not in a review", { kind: "review" }, false],
    ["not if it is a compaction itself", { kind: "compact" }, false],
    ["not while tools run", { phase: { kind: "calling", calls: [] } }, false],
    ["not at its end", { phase: { kind: "ending" } }, false],
    ["not twice in a row", { compacted: "done" }, false],
    ["not after that failed", { compacted: "failed" }, false],
  ])("%s", (_, fields, may) => {
    expect(mayCompact({ ...turn, ...fields })).toBe(may);
  });

  it("with earlier turns alone before its first answer, and with everything afterwards", () => {
    expect([0, 1, 2].map((answers) => coverage({ ...turn, answers }))).toEqual(["past", "all", "all"]);
  });
});

describe("a compaction that begins", () => {
  const item = { type: "contextCompaction", id: "c-compaction-1", startedAtMs: 9, completedAtMs: null };
  const begun = [
    { type: "turnStarted", turnId: "c", at: 9, input: [], outputSchema: null, kind: "compact" },
    { type: "itemStarted", turnId: "c", at: 9, item },
    { type: "compactionRequested", turnId: "c", at: 9, attempt: 1, covers: "all", lighter: 0, because: null },
  ];

  it("is a turn of its own, and ends the one that runs", () => {
    expect(startCompaction(newThread(), { at: 9, turnId: "c" }, NONE)).toEqual(begun);
    const [ended, ...rest] = startCompaction(state, { at: 9, turnId: "c" }, NONE);
    expect(ended).toMatchObject({ type: "turnEnded", turnId: "turn-1", status: "interrupted", at: 9 });
    expect(rest).toEqual(begun);
  });

  it("takes the place of the model call that was due", () => {
    const how: Compacting = { covers: "past", lighter: 2, because: error() };
    expect(beginCompaction({ id: "t", attempt: 4 }, 9, how)).toEqual([
      { type: "itemStarted", turnId: "t", at: 9, item: { ...item, id: "t-compaction-5" } },
      { type: "compactionRequested", turnId: "t", at: 9, attempt: 5, ...how },
    ]);
  });
});

type Summarised = Extract<TurnCommand, { kind: "summarised" }>;
const about = { kind: "summarised", at: 9, turnId: "turn-1", attempt: 1 } as const;

describe("a summary", () => {
  const done = (more: object = {}, hooks: object = {}): Summarised => ({
    ...about,
    outcome: {
      kind: "done",
      summary: "s",
      kept: [],
      contextTokens: 7,
      usage: usage(1),
      contextWindow: null,
      ...more,
    },
    ...hooks,
  });
  const records = (fields: Partial<TurnState>, command = done(), of: ThreadState = state) =>
    summarised(of, { ...turn, ...fields }, ALL, command, NONE);

  it("replaces the conversation, whose size is then that of the summary", () => {
    const last = { ...usage(0), totalTokens: 7 };
    const first = { total: usage(1), last, modelContextWindow: null };
    expect(records({})).toEqual([
      {
        type: "compacted",
        turnId: "turn-1",
        at: 9,
        attempt: 1,
        summary: "s",
        kept: [],
        spent: usage(1),
        usage: first,
      },
      { type: "sampleRequested", turnId: "turn-1", attempt: 2 },
    ]);
    const used: ThreadState = {
      ...state,
      usage: { total: usage(10), last: usage(3), modelContextWindow: 500 },
    };
    expect(records({}, done(), used)[0]).toMatchObject({
      usage: { total: usage(11), last, modelContextWindow: 500 },
    });
    expect(records({}, done({ contextWindow: 800 }), used)[0]).toMatchObject({
      usage: { modelContextWindow: 800 },
    });
  });

  it("completes the item of the compaction, and no other", () => {
    const shown: ThreadItem = { type: "contextCompaction", id: "c", startedAtMs: 5, completedAtMs: null };
    const other = { ...shown, type: "reasoning", id: "r", summary: [], content: [] } as unknown as ThreadItem;
    expect(records({ open: [other, shown] })[0]).toEqual({
      type: "itemCompleted",
      turnId: "turn-1",
      at: 9,
      item: { ...shown, completedAtMs: 9 },
    });
    expect(records({ open: [other] }).map(({ type }) => type)).toEqual(["compacted", "sampleRequested"]);
  });

  it("ends a turn that was started for it, after the hooks if there are some", () => {
    const ended = records({ kind: "compact" });
    expect(ended.map(({ type }) => type)).toEqual(["compacted", "turnEnded"]);
    expect(ended[1]).toMatchObject({ status: "completed", error: null, turnId: "turn-1", at: 9 });
    const lastHooks = { event: "stop" };
    const due = records({ kind: "compact" }, done({}, { lastHooks }));
    expect(due.slice(1)).toEqual([{ type: "lastHooksDue", turnId: "turn-1", at: 9, event: lastHooks }]);
    expect(records({}, done({}, { lastHooks })).map(({ type }) => type)).toEqual([
      "compacted",
      "sampleRequested",
    ]);
  });
});

describe("a summary that failed", () => {
  const tooLong = error("contextWindowExceeded");
  const failed = (
    cause: TurnError,
    retry?: { readonly of: number; readonly afterMs: number },
  ): Summarised => ({
    ...about,
    outcome: { kind: "failed", error: cause, ...(retry && { retry }) },
  });
  const records = (fields: Partial<TurnState>, command: Summarised, how: Compacting = ALL) => {
    const failing = { ...turn, ...fields };
    return summarised({ ...state, turn: failing }, failing, how, command, NONE);
  };
  const requested = { type: "compactionRequested", turnId: "turn-1", at: 9, attempt: 2, ...ALL };

  it("is asked for again as often as is allowed", () => {
    const retry = { of: 2, afterMs: 50 };
    for (const retries of [0, 1]) {
      expect(records({ retries }, failed(error(), retry))).toMatchObject([
        requested,
        { type: "retrying", at: 9, until: 59, retry: retries + 1, of: 2 },
      ]);
    }
    expect(records({ retries: 2 }, failed(error(), retry))[0]).toMatchObject({ type: "compactionFailed" });
    expect(records({ retries: 0 }, failed(error()))[0]).toMatchObject({ type: "compactionFailed" });
  });

  it("is asked for again with less of the conversation if that is too long, six times", () => {
    for (const lighter of [0, 5]) {
      expect(records({}, failed(tooLong), { ...ALL, lighter })).toEqual([
        { ...requested, lighter: lighter + 1 },
      ]);
    }
    expect(records({}, failed(tooLong), { ...ALL, lighter: 6 })[0]).toMatchObject({
      type: "compactionFailed",
    });
    expect(records({}, failed(error()), ALL)[0]).toMatchObject({ type: "compactionFailed" });
  });

  it("fails the turn that was started for it", () => {
    const ended = { type: "turnEnded", status: "failed", error: error() };
    expect(records({ kind: "compact" }, failed(error()))).toMatchObject([ended]);
  });

  it("fails a turn whose conversation the model refused, for that reason", () => {
    const ended = { type: "turnEnded", status: "failed", error: tooLong };
    expect(records({}, failed(error()), { ...ALL, because: tooLong })).toMatchObject([ended]);
  });

  it("lets any other turn go on without it", () => {
    expect(records({}, failed(error()))).toEqual([
      { type: "compactionFailed", turnId: "turn-1", at: 9, error: error() },
      { type: "sampleRequested", turnId: "turn-1", attempt: 2 },
    ]);
  });
});
