import { describe, expect, it } from "vitest";
import {
  askForReview as ask,
  callingTools as calling,
  connectToHost as connects,
  reviewedAs as judged,
  REVIEWED_TURN as TURN,
  verdictOf as verdict,
} from "../../../../../test/support/reviewed-thread.ts";
import { after, decided, ONE_TOKEN } from "../../../../../test/support/test-thread.ts";
import type { Command } from "../commands.ts";
import { fold } from "../fold.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { runningCalls } from "../turn/phase.ts";

const types = (records: readonly ThreadRecord[]) => records.map(({ type }) => type);

describe("a review of a call", () => {
  it("takes the place of a question, and its verdict the place of an answer", () => {
    const asked = decided(calling("auto_review", "a"), ask("a"));
    expect(types(asked.records)).toEqual(["reviewStarted"]);
    expect(asked.state.requests).toEqual([]);
    expect(asked.state.status).toEqual({ type: "active", activeFlags: [] });
    const { state } = decided(asked.state, judged("a", verdict("approved", "low")));
    expect(runningCalls(state)[0]?.stage).toMatchObject({
      kind: "heard",
      answer: { kind: "result", result: { decision: "accept" } },
    });
  });

  it("counts only the verdict of the review that runs, once", () => {
    const asked = after(calling("auto_review", "a"), ask("a"));
    expect(decided(asked, judged("a", verdict("approved"), "another")).records).toEqual([]);
    const ended = after(asked, judged("a", verdict("denied")));
    expect(decided(ended, judged("a", verdict("approved"))).records).toEqual([]);
  });

  it("ends the turn at the third denial in a row; reviews that failed do not count", () => {
    const three = calling("auto_review", "a", "b", "c", "d");
    const twice = after(
      three,
      ask("a"),
      judged("a", verdict("denied")),
      ask("b"),
      judged("b", verdict("denied")),
    );
    const failed = after(twice, ask("c"), judged("c", verdict("denied", null)));
    expect(failed.turn?.reviews).toEqual([true, true, false]);
    expect(after(failed, ask("d"), judged("d", verdict("denied"))).turn).not.toBeNull();
    const third = decided(after(twice, ask("c")), judged("c", verdict("denied")));
    expect(types(third.records)).toContain("reviewsExhausted");
    expect(types(third.records).at(-1)).toBe("turnEnded");
    expect(third.state.turn).toBeNull();
  });

  it("completes the item of the call that the turn ends with", () => {
    const item = { type: "commandExecution", id: "c", command: "act", status: "inProgress" };
    const state = after(
      calling("auto_review", "a", "b", "c"),
      ask("a"),
      judged("a", verdict("denied")),
      ask("b"),
      judged("b", verdict("denied")),
      ask("c", "c", { item }),
    );
    const { records } = decided(state, judged("c", verdict("denied")));
    expect(records.filter(({ type }) => type === "itemCompleted")).toMatchObject([
      { item: { type: "commandExecution", id: "c", command: "act", status: "declined", completedAtMs: 4 } },
    ]);
    expect(records.find(({ type }) => type === "toolAnswered")).toMatchObject({
      callId: "c",
      success: false,
      output: expect.stringContaining("a reason"),
    });
  });

  it("is approved without a review after a person approved the denial of the same action, once", () => {
    const denied = after(calling("auto_review", "a", "b", "c"), ask("a"), judged("a", verdict("denied")));
    const approved = after(denied, { kind: "approveDenied", at: 5, reviewId: "review-a" });
    const { records, state } = decided(approved, ask("b", "a"));
    const review = { callId: "b", reviewId: "review-b", targetItemId: "b", action: { type: "command" } };
    expect(records).toMatchObject([
      { type: "reviewStarted", ...review },
      { type: "reviewEnded", ...review, review: { status: "approved" }, usage: null },
    ]);
    expect(runningCalls(state).find(({ call }) => call.callId === "b")?.stage).toMatchObject({
      kind: "heard",
      answer: { kind: "result", result: { decision: "accept" } },
    });
    expect(types(decided(state, ask("c", "a")).records)).toEqual(["reviewStarted"]);
  });

  it("that denied can be overruled until the thread is closed, but not by a host that ends", () => {
    const denied = after(calling("auto_review", "a"), ask("a"), judged("a", verdict("denied")));
    const left = (reason: "requested" | "shutdown" | "lost") =>
      after(denied, { kind: "close", at: 5, reason }).denials?.map(({ reviewId }) => reviewId);
    expect(left("requested")).toBeUndefined();
    expect(left("shutdown")).toEqual(["review-a"]);
    expect(left("lost")).toEqual(["review-a"]);
  });

  it("remembers the last 32 denials", () => {
    const denied = Array.from({ length: 40 }, (_, nth) => `c${nth}`);
    let state = calling("auto_review", ...denied);
    for (const callId of denied) {
      state = after(state, ask(callId), judged(callId, verdict("denied", null)));
    }
    expect(state.denials?.map(({ reviewId }) => reviewId)).toEqual(
      denied.slice(-32).map((callId) => `review-${callId}`),
    );
  });
});

/** A thread with a running command. */
function running(approvalsReviewer: "user" | "auto_review"): ThreadState {
  const dispatched: ThreadRecord = { type: "toolDispatched", turnId: TURN, at: 3, callId: "a", again: false };
  return fold(calling(approvalsReviewer, "a"), dispatched);
}

const settles: Command = {
  kind: "stepCall",
  at: 6,
  turnId: TURN,
  callId: "a",
  from: "dispatched",
  step: { kind: "settle", output: "done", success: true },
};

describe("a review of a host beside a call", () => {
  it("leaves the call as it is, and runs once for each host", () => {
    const asked = decided(running("auto_review"), connects(1));
    expect(types(asked.records)).toEqual(["reviewStarted"]);
    expect(runningCalls(asked.state)[0]?.stage.kind).toBe("dispatched");
    expect(decided(asked.state, connects(2)).records).toEqual([]);
    expect(types(decided(asked.state, connects(2, "example.com")).records)).toEqual(["reviewStarted"]);
    const { records, state } = decided(asked.state, judged("a", verdict("approved"), "review-1"));
    expect(records).toMatchObject([{ type: "reviewEnded", requestId: 1, review: { status: "approved" } }]);
    expect(state.asideReviews).toBeUndefined();
  });

  it("is one of at most eight", () => {
    let state = running("auto_review");
    for (let nth = 1; nth <= 8; nth++) state = after(state, connects(nth, `${nth}.example.org`));
    expect(decided(state, connects(9)).records).toEqual([]);
  });

  it("is given up when the command ends, when the host is lost, and with the turn", () => {
    const asked = after(running("auto_review"), connects(1));
    const aborted = { type: "reviewEnded", requestId: 1, review: { status: "aborted" } };
    const ends: readonly Command[] = [
      settles,
      { kind: "adopt", at: 6 },
      { kind: "interrupt", at: 6, turnId: TURN },
      { kind: "close", at: 6, reason: "requested" },
    ];
    for (const end of ends) {
      const { records, state } = decided(asked, end);
      expect(records.filter(({ type }) => type === "reviewEnded")).toMatchObject([aborted]);
      expect(state.asideReviews).toBeUndefined();
    }
  });

  it("is approved without a review after a person approved its denial, once", () => {
    const denied = after(running("auto_review"), connects(1), judged("a", verdict("denied"), "review-1"));
    const approved = after(denied, { kind: "approveDenied", at: 6, reviewId: "review-1" });
    const { records, state } = decided(approved, connects(2));
    expect(records).toMatchObject([{ type: "reviewStarted" }, { review: { status: "approved" } }]);
    expect(types(decided(state, connects(3)).records)).toEqual(["reviewStarted"]);
  });
});

describe("a question about a host", () => {
  it("is withdrawn when its turn completes while the command goes on", () => {
    for (const reviewer of ["user", "auto_review"] as const) {
      const asked = after(running(reviewer), connects(1));
      const left = after(asked, {
        ...settles,
        step: {
          kind: "settle",
          output: "goes on",
          success: true,
          left: { processId: "1", outside: false },
        },
      } as Command);
      const { turn } = fold(left, { type: "sampleRequested", turnId: TURN, attempt: 2 });
      const usage = ONE_TOKEN;
      const { records } = decided(
        { ...left, turn },
        {
          kind: "sampled",
          at: 7,
          turnId: TURN,
          attempt: 2,
          outcome: { kind: "done", usage, contextWindow: null },
        },
      );
      expect(types(records)).toContain(reviewer === "user" ? "requestResolved" : "reviewEnded");
      expect(types(records).at(-1)).toBe("turnEnded");
    }
  });
});
