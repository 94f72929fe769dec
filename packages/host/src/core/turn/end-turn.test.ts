import type { ThreadItem, TurnError } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { after, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import type { ThreadState, TurnState } from "../state.ts";
import type { CallStage, CallState } from "./call-stages.ts";
import { closeItems, endTurn, requestSample, retrying, turnEnded } from "./end-turn.ts";

const state = after(newThread(), startTurn());
const turn = state.turn!;
const NONE = new Map<string, string>();
const error = (codexErrorInfo: TurnError["codexErrorInfo"] = "other"): TurnError => {
  return { message: "no", codexErrorInfo, additionalDetails: null, misalignment: null };
};
const item = (type: string, id: string, more: object = {}): ThreadItem =>
  ({ type, id, startedAtMs: 4, completedAtMs: null, ...more }) as unknown as ThreadItem;
const message = item("agentMessage", "m", { text: "" });
const command = item("commandExecution", "sh", {
  aggregatedOutput: null,
  exitCode: null,
  status: "inProgress",
});
const call = (callId: string, stage: CallStage): CallState => ({
  call: { callId, name: "act", namespace: null, arguments: "{}", kind: "function" },
  stage,
});
const ended = (
  fields: Partial<TurnState>,
  status: "interrupted" | "failed" = "interrupted",
  more: Partial<ThreadState> = {},
) =>
  endTurn(
    { ...state, ...more, turn: { ...turn, ...fields } },
    9,
    status,
    NONE,
    status === "failed" ? error() : null,
  );
const types = (records: readonly { readonly type: string }[]) => records.map(({ type }) => type);

describe("the items of the model", () => {
  it("are completed with what was shown, else with what was saved, else as they are", () => {
    const open = [
      message,
      item("plan", "p", { text: "old" }),
      item("reasoning", "r"),
      item("contextCompaction", "c"),
    ];
    const withItems = { ...turn, open, saved: { m: "saved", "r summary 0": "s" } };
    const shown = new Map([["m", "shown"]]);
    const closed = closeItems(withItems, 9, shown, "fault");
    expect(closed).toEqual([
      {
        type: "itemCompleted",
        turnId: "turn-1",
        at: 9,
        cut: "fault",
        item: { ...message, text: "shown", completedAtMs: 9 },
      },
      {
        type: "itemCompleted",
        turnId: "turn-1",
        at: 9,
        cut: "fault",
        item: { ...open[1], completedAtMs: 9 },
      },
      {
        type: "itemCompleted",
        turnId: "turn-1",
        at: 9,
        cut: "fault",
        item: { ...open[2], summary: ["s"], content: [], completedAtMs: 9 },
      },
    ]);
    const [saved] = closeItems(withItems, 9, NONE);
    expect(saved).toEqual({
      type: "itemCompleted",
      turnId: "turn-1",
      at: 9,
      item: { ...message, text: "saved", completedAtMs: 9 },
    });
  });

  it("do not include those of tools", () => {
    const calls = [call("a", { kind: "settled" })];
    const open = [item("mcpToolCall", "a"), command, item("mcpToolCall", "b")];
    const closed = closeItems({ ...turn, open, phase: { kind: "calling", calls } }, 9, NONE);
    expect(closed).toMatchObject([{ item: { id: "b" } }]);
  });
});

describe("the end of a turn", () => {
  it("is nothing if no turn runs", () => {
    expect(endTurn(newThread(), 9, "interrupted", NONE)).toEqual([]);
  });

  it("says why items of the model were cut off", () => {
    expect(ended({ open: [message] })[0]).toMatchObject({ cut: "interrupt" });
    expect(ended({ open: [message] }, "failed")[0]).toMatchObject({ cut: "fault" });
  });

  it("gives up the items of tools, with what they have put out", () => {
    const records = ended({ open: [command], saved: { sh: "output" } });
    expect(records).toEqual([
      {
        type: "itemCompleted",
        turnId: "turn-1",
        at: 9,
        item: {
          ...command,
          aggregatedOutput: "output",
          status: "failed",
          exitCode: -1,
          durationMs: 5,
          completedAtMs: 9,
        },
      },
      expect.objectContaining({ type: "turnEnded" }),
    ]);
    const tool = item("mcpToolCall", "a", { status: "inProgress" });
    const calls = [call("a", { kind: "proposed" })];
    expect(ended({ open: [tool], phase: { kind: "calling", calls } })[0]).toMatchObject({
      type: "itemCompleted",
      item: { id: "a", status: "failed", completedAtMs: 9 },
    });
  });

  it("cancels the calls that a tool may be working on", () => {
    const calls = [
      call("a", { kind: "proposed" }),
      call("b", { kind: "dispatched", again: false }),
      call("c", { kind: "waiting", until: null }),
      call("d", { kind: "settled" }),
    ];
    const records = ended({ phase: { kind: "calling", calls } });
    expect(records.slice(0, -1)).toEqual([
      { type: "callCancelled", turnId: "turn-1", at: 9, callId: "b" },
      { type: "callCancelled", turnId: "turn-1", at: 9, callId: "c" },
    ]);
  });

  it("withdraws the turn's requests", () => {
    const request = { id: 3, callId: "a", method: "item/tool/requestUserInput", params: {} };
    const requests = [request] as unknown as ThreadState["requests"];
    expect(ended({}, "interrupted", { requests })[0]).toMatchObject({
      type: "requestResolved",
      requestId: 3,
      at: 9,
      answer: { kind: "cleared" },
    });
    // A call of a tool server goes on, and with it its question.
    const late = [{ callId: "a" }] as unknown as ThreadState["rap"]["late"];
    const rap = { ...state.rap, late };
    expect(types(ended({}, "interrupted", { requests, rap }))).toEqual(["turnEnded"]);
  });

  it("ends a review without a result, and says why", () => {
    const review = (status: "interrupted" | "failed") =>
      ended({ kind: "review" }, status).flatMap((record) =>
        record.type === "itemCompleted" && record.item.type === "exitedReviewMode"
          ? [record.item.review]
          : [],
      );
    expect(review("interrupted")).toEqual(["The review was interrupted before it came to a result."]);
    expect(review("failed")).toEqual(["The review failed: no"]);
    expect(types(ended({ kind: "regular" }))).toEqual(["turnEnded"]);
    const silent = endTurn({ ...state, turn: { ...turn, kind: "review" } }, 9, "completed", NONE);
    expect(silent[0]).toMatchObject({ item: { review: "" } });
  });

  it("has the answer only if the turn was completed", () => {
    const answered = { ...turn, answer: message, startedAt: 2 };
    expect(turnEnded(answered, 9, "completed", null)).toEqual({
      type: "turnEnded",
      turnId: "turn-1",
      startedAt: 2,
      at: 9,
      status: "completed",
      error: null,
      answer: message,
    });
    expect(turnEnded(answered, 9, "failed", error())).toMatchObject({ answer: null, error: error() });
    expect(turnEnded(answered, 9, "interrupted", null)).toMatchObject({ answer: null });
    expect(turnEnded({ ...turn, rootTurnId: "root" }, 9, "completed", null)).toMatchObject({
      rootTurnId: "root",
    });
  });
});

describe("a retry", () => {
  it("is a further model call", () => {
    expect(requestSample({ ...turn, attempt: 4 })).toEqual({
      type: "sampleRequested",
      turnId: "turn-1",
      attempt: 5,
    });
  });

  it.each<[string, TurnError["codexErrorInfo"], number | null]>([
    ["a status", { responseTooManyFailedAttempts: { httpStatusCode: 503 } }, 503],
    ["no status", { responseTooManyFailedAttempts: { httpStatusCode: null } }, null],
    ["a name", "other", null],
    ["nothing", null, null],
  ])("shows how often it was tried, after an error with %s", (_, info, httpStatusCode) => {
    expect(retrying({ ...turn, retries: 1 }, 9, error(info), { of: 5, afterMs: 300 })).toEqual({
      type: "retrying",
      turnId: "turn-1",
      at: 9,
      until: 309,
      retry: 2,
      of: 5,
      error: {
        message: "Reconnecting... 2/5",
        codexErrorInfo: { responseStreamDisconnected: { httpStatusCode } },
        additionalDetails: "no",
        misalignment: null,
      },
    });
  });
});
