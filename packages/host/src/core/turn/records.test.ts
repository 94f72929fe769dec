import { describe, expect, it } from "vitest";
import { after, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import { fold } from "../fold.ts";
import { notify } from "../notify.ts";
import { definitionOf, type ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";

const TURN = "turn-1";
const running = after(newThread(), startTurn(TURN));
const folded = (state: ThreadState, record: object): ThreadState =>
  fold(state, { turnId: TURN, at: 5, ...record } as ThreadRecord);
/** The notifications of a record, each as its method and its params. */
const notified = (record: object) =>
  notify("t", { turnId: TURN, at: 5, ...record } as ThreadRecord).map(({ method, params }) => [
    method,
    params,
  ]);
const methods = (record: object) => notified(record).map(([method]) => method);
const accepts = (record: object): boolean => {
  const whole = { turnId: TURN, at: 5, ...record } as ThreadRecord;
  return definitionOf(whole).check.accepts(whole);
};
const error = { message: "no", codexErrorInfo: null, additionalDetails: null };

describe("notifications of a turn", () => {
  it("that starts show the item with which a review begins, and then the turn", () => {
    const started = { type: "turnStarted", input: [], outputSchema: null };
    expect(methods(started)).toEqual(["turn/started"]);
    const entered = { type: "enteredReviewMode", id: "i", review: "r", completedAtMs: 5 };
    expect(notified({ ...started, entered })).toMatchObject([
      ["item/started", { threadId: "t", turnId: TURN, item: { ...entered, completedAtMs: null } }],
      ["item/completed", { threadId: "t", turnId: TURN, item: entered, completedAtMs: 5 }],
      ["turn/started", { threadId: "t", turn: { id: TURN } }],
    ]);
  });

  it("that retries, or fails, say whether it goes on", () => {
    const retrying = { type: "retrying", until: 9, retry: 1, of: 5, error };
    expect(notified(retrying)).toEqual([["error", { threadId: "t", turnId: TURN, error, willRetry: true }]]);
    const ended = { type: "turnEnded", startedAt: 1, status: "failed", error, answer: null };
    const [first, second] = notified(ended);
    expect(first).toEqual(["error", { threadId: "t", turnId: TURN, error, willRetry: false }]);
    expect(second).toMatchObject(["turn/completed", { turn: { id: TURN, status: "failed", error } }]);
    expect(methods({ ...ended, status: "completed", error: null })).toEqual(["turn/completed"]);
  });

  it.each([
    [undefined, true],
    ["fault", true],
    ["interrupt", false],
    ["input", false],
  ])("whose answer was cut by %s complete its item: %s", (cut, isShown) => {
    const completed = { type: "itemCompleted", item: { type: "agentMessage", id: "i", text: "" }, cut };
    expect(methods(completed)).toEqual(isShown ? ["item/completed"] : []);
  });

  it("show a diff if there is one", () => {
    const diffed = { type: "turnDiffed", upTo: 1, digest: "d", trees: [] };
    expect(notified({ ...diffed, diff: "+a" })).toEqual([
      ["turn/diff/updated", { threadId: "t", turnId: TURN, diff: "+a" }],
    ]);
    expect(notified({ ...diffed, diff: null })).toEqual([]);
  });
});

describe("a record of a turn", () => {
  it("of an accepted input is added to those of the thread", () => {
    const state = folded(running, { type: "inputAccepted", messageId: "m" });
    expect(state).toMatchObject({ facts: running.facts, turn: running.turn });
    expect(JSON.stringify(state.accepted)).toContain('"m"');
  });

  it("of additional context replaces what was not kept, and counts its tokens", () => {
    const entry = (key: string, value: string) => ({ key, kind: "application", value });
    const before = { ...running, context: [entry("a", "1"), entry("b", "2")] as never, contextTokens: 10 };
    const state = folded(before, {
      type: "contextGiven",
      entries: [entry("c", "x".repeat(400))],
      kept: ["a"],
    });
    expect(state).toMatchObject({ facts: running.facts, turn: running.turn });
    expect(state.context.map(({ key }) => key)).toEqual(["a", "c"]);
    expect(state.contextTokens).toBeGreaterThan(10);
  });

  it("of a dispatched call keeps the files from before it, if there are any", () => {
    const call = { callId: "c", name: "act", namespace: null, arguments: "{}", kind: "function" };
    const called = folded(running, { type: "toolCalled", call });
    const dispatched = { type: "toolDispatched", callId: "c", again: false };
    expect(folded(called, dispatched).turn!.changes).toBeUndefined();
    const before = { pack: null, files: [], trees: [] };
    expect(folded(called, { ...dispatched, before }).turn!.changes).toMatchObject({ before: [before] });
  });

  it("of a cancelled call settles the call, and leaves its tool server to be notified", () => {
    const call = { callId: "c", name: "act", namespace: null, arguments: "{}", kind: "function" };
    const called = folded(running, { type: "toolCalled", call });
    const state = folded(called, { type: "callCancelled", callId: "c" });
    expect(state).toMatchObject({ facts: running.facts, rap: { ...running.rap, cancels: ["c"] } });
    expect(JSON.stringify(state.turn)).toContain('"settled"');
  });

  it("is refused if a field of a compaction or of an outcome is missing", () => {
    const requested = { type: "compactionRequested", attempt: 1, covers: "past", lighter: 0, because: null };
    expect(accepts(requested)).toBe(true);
    expect(accepts({ ...requested, covers: undefined })).toBe(false);
    const ended = { type: "turnEnded", startedAt: 1, status: "completed", error: null, answer: null };
    expect(accepts(ended)).toBe(true);
    expect(accepts({ ...ended, status: undefined })).toBe(false);
  });
});
