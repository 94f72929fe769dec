import type { ThreadItem } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { newThread } from "../../../../../test/support/test-thread.ts";
import { fold } from "../fold.ts";
import { next } from "../next.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";

const T = "turn";
const folded = (state: ThreadState, ...records: readonly ThreadRecord[]): ThreadState =>
  records.reduce((one, record) => fold(one, record), state);

const call = (callId: string, before = true, via?: string): readonly ThreadRecord[] => [
  {
    type: "toolCalled",
    turnId: T,
    at: 1,
    call: { callId, name: "n", namespace: null, arguments: "{}", kind: "function" },
  },
  {
    type: "toolDispatched",
    turnId: T,
    at: 1,
    callId,
    again: false,
    ...(before && { before: { pack: null, files: [], trees: [] } }),
    ...(via !== undefined && { via }),
  },
];
const fileChange = (id: string, status: "completed" | "failed" | "declined"): ThreadRecord => {
  const item: ThreadItem = {
    type: "fileChange",
    id,
    changes: [],
    status,
    startedAtMs: 1,
    completedAtMs: 1,
  };
  return { type: "itemCompleted", turnId: T, at: 1, item };
};
const answered = (callId: string): ThreadRecord => ({
  type: "toolAnswered",
  turnId: T,
  at: 1,
  callId,
  output: "",
  success: true,
});
const diffed = (upTo: number, diff: string | null): ThreadRecord => ({
  type: "turnDiffed",
  turnId: T,
  at: 1,
  upTo,
  diff,
  digest: "d",
  trees: [],
});
const started: ThreadState = folded(
  { ...newThread(), status: { type: "idle" } },
  { type: "turnStarted", turnId: T, at: 0, input: [], outputSchema: null },
  { type: "sampleRequested", turnId: T, attempt: 1 },
);
const diffs = (state: ThreadState) => next(state).filter(({ kind }) => kind === "diff");

describe("a turn that changes files", () => {
  it("wants a diff after each call that may have changed some, until one was made", () => {
    const running = folded(started, ...call("a"));
    expect(diffs(running)).toEqual([]);
    const settled = folded(running, fileChange("a", "completed"), answered("a"));
    const [effect] = diffs(settled);
    expect(effect).toMatchObject({ kind: "diff", turnId: T, upTo: 2 });
    const shown = folded(settled, diffed(2, "text"));
    expect(diffs(shown)).toEqual([]);
    expect(shown.turn?.changes).toMatchObject({ digest: "d", sent: 4 });
    // A call that ends during a diff makes another diff due, with another key.
    const more = folded(settled, ...call("b"), answered("b"), diffed(2, null));
    expect(diffs(more)).toHaveLength(1);
    expect(diffs(more)[0]!.key).not.toBe(effect!.key);
  });

  it("wants one for a call that goes on in the background, too", () => {
    expect(diffs(folded(started, ...call("a"), answered("a")))).toHaveLength(1);
  });

  it("wants none for what was declined, and none where nothing could change", () => {
    expect(diffs(folded(started, ...call("a"), fileChange("b", "declined")))).toEqual([]);
    expect(diffs(folded(started, ...call("a", false), fileChange("a", "completed"), answered("a")))).toEqual(
      [],
    );
  });

  it("wants none for a call that a tool server ran, nor for one that never ran", () => {
    const shown = folded(started, ...call("a"), answered("a"), diffed(1, "text"));
    expect(diffs(folded(shown, ...call("b", false), answered("b")))).toHaveLength(1);
    expect(diffs(folded(shown, ...call("b", false, "desk"), answered("b")))).toEqual([]);
    const [proposed] = call("b");
    expect(diffs(folded(shown, proposed!, answered("b")))).toEqual([]);
  });

  it("wants what is left to show after its end, until that was shown or another turn begins", () => {
    const end: ThreadRecord = {
      type: "turnEnded",
      turnId: T,
      startedAt: 0,
      at: 1,
      status: "interrupted",
      error: null,
      answer: null,
    };
    const ended = folded(started, ...call("a"), answered("a"), end);
    expect(diffs(ended)).toMatchObject([{ turnId: T, upTo: 1 }]);
    expect(diffs(folded(ended, diffed(1, "text")))).toEqual([]);
    expect(diffs(folded(started, ...call("a"), answered("a"), diffed(1, "text"), end))).toEqual([]);
    const next: ThreadRecord = { type: "turnStarted", turnId: "other", at: 2, input: [], outputSchema: null };
    expect(diffs(folded(ended, next))).toEqual([]);
    expect(folded(ended, { type: "closed", at: 2, reason: "requested" })).not.toHaveProperty("undiffed");
  });
});
