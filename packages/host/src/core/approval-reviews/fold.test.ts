import { describe, expect, it } from "vitest";
import {
  askForReview,
  callingTools,
  connectToHost,
  REVIEWED_TURN,
  reviewedAs,
  verdictOf,
} from "../../../../../test/support/reviewed-thread.ts";
import { after, decided, refusal } from "../../../../../test/support/test-thread.ts";
import { fold } from "../fold.ts";
import { checkpointOf } from "../life/make-checkpoint.ts";
import { notify } from "../notify.ts";
import { problemOf } from "../record-problem.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { runningCalls } from "../turn/phase.ts";

const stage = (state: ThreadState, callId = "a") =>
  runningCalls(state).find(({ call }) => call.callId === callId)?.stage;
const approve = (reviewId: string) => ({ kind: "approveDenied", at: 5, reviewId }) as const;
const running = (approvalsReviewer: "user" | "auto_review"): ThreadState =>
  fold(callingTools(approvalsReviewer, "a"), {
    type: "toolDispatched",
    turnId: REVIEWED_TURN,
    at: 3,
    callId: "a",
    again: false,
  });
const ofType = (records: readonly ThreadRecord[], wanted: ThreadRecord["type"]) =>
  records.filter(({ type }) => type === wanted);

describe("the tool's own ID of a question", () => {
  it("goes through the review to the answer", () => {
    const asked = decided(callingTools("auto_review", "a"), askForReview("a", "a", { question: "q" }));
    expect(asked.records).toMatchObject([{ type: "reviewStarted", question: "q", fingerprint: "a" }]);
    expect(stage(asked.state)).toMatchObject({ kind: "reviewing", question: "q", fingerprint: "a" });
    const heard = after(asked.state, reviewedAs("a", verdictOf("approved", "low")));
    expect(stage(heard)).toMatchObject({ kind: "heard", question: "q" });
  });

  it("is missing if the tool gave none", () => {
    const asked = decided(callingTools("auto_review", "a"), askForReview("a"));
    const heard = after(asked.state, reviewedAs("a", verdictOf("approved", "low")));
    for (const value of [asked.records[0], stage(asked.state), stage(heard)])
      expect(value).not.toHaveProperty("question");
  });
});

describe("a strict review", () => {
  it("reviews what a person would decide otherwise", () => {
    const state = callingTools("user", "a");
    expect(ofType(decided(state, askForReview("a")).records, "reviewStarted")).toEqual([]);
    const strict = { ...state, turn: { ...state.turn!, strictReview: true } };
    expect(ofType(decided(strict, askForReview("a")).records, "reviewStarted")).toHaveLength(1);
  });
});

describe("the end of a review", () => {
  const asked = after(callingTools("auto_review", "a"), askForReview("a"));
  const ended = (more: object): ThreadRecord =>
    ({
      type: "reviewEnded",
      turnId: REVIEWED_TURN,
      at: 4,
      callId: "a",
      startedAt: 3,
      reviewId: "review-a",
      targetItemId: "a",
      action: { type: "command" },
      review: verdictOf("approved"),
      usage: null,
      ...more,
    }) as ThreadRecord;

  it("is heard only by the call that waits for this review", () => {
    expect(stage(fold(asked, ended({})))?.kind).toBe("heard");
    const others = [
      { reviewId: "another" },
      { turnId: "another" },
      { callId: "another" },
      { review: verdictOf("aborted") },
      { reviewId: "another", review: verdictOf("aborted") },
    ];
    for (const more of others) {
      const state = fold(asked, ended(more));
      expect(stage(state)?.kind).toBe("reviewing");
      expect(state.turn?.reviews).toBeUndefined();
    }
  });

  it("adds its tokens to the thread's, even if no call waits for it", () => {
    const usage = {
      totalTokens: 5,
      inputTokens: 3,
      cachedInputTokens: 0,
      cacheWriteInputTokens: 0,
      outputTokens: 2,
      reasoningOutputTokens: 0,
    };
    for (const more of [{}, { callId: "another" }]) {
      expect(fold(asked, ended({ ...more, usage })).usage?.total.totalTokens).toBe(5);
      expect(fold(asked, ended(more)).usage).toBeNull();
    }
  });

  it("warns clients before it completes for them, but not if it was aborted", () => {
    const methods = (status: "denied" | "aborted") =>
      notify("t", ended({ review: verdictOf(status) })).map(({ method }) => method);
    expect(methods("denied")).toEqual(["guardianWarning", "item/autoApprovalReview/completed"]);
    expect(methods("aborted")).toEqual(["item/autoApprovalReview/completed"]);
  });
});

describe("a denied action", () => {
  const denied = after(
    callingTools("auto_review", "a", "b", "c", "d"),
    askForReview("a"),
    reviewedAs("a", verdictOf("denied")),
    askForReview("b"),
    reviewedAs("b", verdictOf("approved")),
    askForReview("c"),
    reviewedAs("c", verdictOf("denied")),
  );
  const action = { type: "command", source: "unifiedExec", command: "act", cwd: "/work" };
  const denial = (callId: string, approved = false) => {
    return { reviewId: `review-${callId}`, action, fingerprint: callId, approved };
  };

  it("is kept until a call has used its approval; the others stay", () => {
    expect(denied.denials).toEqual([denial("a"), denial("c")]);
    const approved = after(denied, approve("review-a"));
    expect(approved.denials).toEqual([denial("a", true), denial("c")]);
    // The approval of one action does not approve another denied action, nor use the approval up.
    const other = decided(approved, askForReview("d", "c"));
    expect(ofType(other.records, "reviewEnded")).toEqual([]);
    expect(after(other.state, reviewedAs("d", verdictOf("approved"))).denials).toEqual(approved.denials);
    expect(after(approved, askForReview("d", "a")).denials).toEqual([denial("c")]);
  });

  it("is approved with a message for the model, once", () => {
    const { records, state } = decided(denied, approve("review-a"));
    expect(records).toMatchObject([
      { type: "denialApproved", at: 5, reviewId: "review-a" },
      {
        type: "itemsInjected",
        after: REVIEWED_TURN,
        items: [{ type: "message", role: "developer", content: [{ type: "input_text" }] }],
      },
    ]);
    expect(JSON.stringify(records[1])).toContain(JSON.stringify(JSON.stringify(action)).slice(1, -1));
    expect(decided(state, approve("review-a")).records).toEqual([]);
    expect(refusal(denied, approve("review-b"))).toBe("unknownDenial");
    expect(refusal(callingTools("user"), approve("review-a"))).toBe("unknownDenial");
  });

  it("is forgotten with the close of the thread, and nothing else is", () => {
    const { denials, facts, settings } = after(denied, { kind: "close", at: 6, reason: "requested" });
    expect({ denials, facts }).toEqual({ denials: undefined, facts: denied.facts });
    expect(settings).toEqual(denied.settings);
  });

  it("without a fingerprint is never used up by another", () => {
    const { fingerprint: _, ...nameless } = denial("a", true);
    const state = { ...denied, denials: [nameless] } as ThreadState;
    const started = fold(state, {
      type: "reviewStarted",
      turnId: REVIEWED_TURN,
      at: 6,
      callId: "d",
      reviewId: "review-d",
      targetItemId: null,
      action: denial("d").action,
      ask: askForReview("d").step.ask,
    } as ThreadRecord);
    expect(stage(started, "d")).not.toHaveProperty("fingerprint");
    expect(after(started, reviewedAs("d", verdictOf("approved"))).denials).toEqual([nameless]);
  });
});

describe("too many denials", () => {
  const twice = (state: ThreadState) => ({ ...state, turn: { ...state.turn!, reviews: [true, true] } });

  it("end the turn, also those of connections, and say how many there were", () => {
    const asked = twice(after(running("auto_review"), connectToHost(1)));
    const { records, state } = decided(asked, reviewedAs("a", verdictOf("denied"), "review-1"));
    expect(ofType(records, "reviewsExhausted")).toEqual([
      { type: "reviewsExhausted", turnId: REVIEWED_TURN, at: 5, consecutive: 3, recent: 3 },
    ]);
    expect(records.at(-1)).toMatchObject({ type: "turnEnded", status: "interrupted" });
    expect(state.turn).toBeNull();
  });

  it.each([
    [{ type: "fileChange", id: "a", changes: [], status: "inProgress" }, { status: "declined" }],
    [
      { type: "mcpToolCall", id: "a", status: "inProgress", startedAtMs: 1 },
      { status: "failed", error: { message: "The call was given up." }, durationMs: 3 },
    ],
    [
      { type: "dynamicToolCall", id: "a", status: "inProgress", startedAtMs: 1 },
      { status: "failed", success: false },
    ],
  ])("complete the item of the call alone: %j", (item, end) => {
    const other = { type: "fileChange", id: "b", changes: [], status: "inProgress" };
    const state = twice(
      after(
        callingTools("auto_review", "a", "b"),
        askForReview("a", "a", { item }),
        askForReview("b", "b", { item: other }),
      ),
    );
    const { records } = decided(state, reviewedAs("a", verdictOf("denied")));
    const completed = records.slice(
      0,
      records.findIndex(({ type }) => type === "toolAnswered"),
    );
    expect(ofType(completed, "itemCompleted")).toMatchObject([
      { item: { ...item, ...end, completedAtMs: 4 } },
    ]);
  });
});

describe("reviews of connections", () => {
  it("of another call go on when a command ends", () => {
    const asked = after(running("auto_review"), connectToHost(1), connectToHost(2, "example.com"));
    const [first, second] = asked.asideReviews!;
    const state = { ...asked, asideReviews: [{ ...first!, callId: "b" }, second!] };
    const settled = decided(state, {
      kind: "stepCall",
      at: 6,
      turnId: REVIEWED_TURN,
      callId: "a",
      from: "dispatched",
      step: { kind: "settle", output: "done", success: true },
    });
    expect(ofType(settled.records, "reviewEnded")).toMatchObject([{ requestId: 2 }]);
    expect(settled.state.asideReviews).toEqual([{ ...first!, callId: "b" }]);
  });

  it("keep the rest of the state, and do not count if they were aborted", () => {
    const asked = after(running("auto_review"), connectToHost(1));
    const aborted = after(asked, reviewedAs("a", verdictOf("aborted"), "review-1"));
    expect(aborted).toEqual({ ...asked, asideReviews: undefined, lastAt: aborted.lastAt });
    const denied = after(asked, reviewedAs("a", verdictOf("denied"), "review-1"));
    expect(denied.turn?.reviews).toEqual([true]);
    expect(denied.denials).toMatchObject([
      { reviewId: "review-1", fingerprint: "network https://example.org:443" },
    ]);
  });
});

describe("a checkpoint with a running review", () => {
  const saved = (state: ThreadState) => JSON.parse(JSON.stringify(checkpointOf(state)));
  const required = ["reviewId", "targetItemId", "action", "ask", "startedAt"];

  it("is valid only with all of the review of a call", () => {
    const state = after(callingTools("auto_review", "a"), askForReview("a"));
    expect(problemOf(saved(state))).toBeUndefined();
    for (const name of required) {
      const damaged = saved(state);
      delete damaged.state.turn.calls[0].stage[name];
      expect(problemOf(damaged), name).toBeTypeOf("string");
    }
  });

  it("is valid only with all of the review of a connection", () => {
    const state = after(running("auto_review"), connectToHost(1));
    expect(problemOf(saved(state))).toBeUndefined();
    for (const name of [...required, "requestId", "turnId", "callId"]) {
      const damaged = saved(state);
      delete damaged.state.asideReviews[0][name];
      expect(problemOf(damaged), name).toBeTypeOf("string");
    }
  });
});
