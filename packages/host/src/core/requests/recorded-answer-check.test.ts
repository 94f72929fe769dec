import { threadRequests } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { after, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import { fold } from "../fold.ts";
import type { ThreadState } from "../state.ts";
import { runningCalls } from "../turn/phase.ts";
import type { Ask, PendingRequest, RequestAnswer } from "./records.ts";

const TURN = "turn-1";
const METHODS = Object.keys(threadRequests) as Ask["method"][];
const DAMAGED = [
  null,
  7,
  "no",
  [],
  [null],
  { decision: 7, action: 7, answers: 7, permissions: 7, success: 7 },
];

/** A thread with a pending request of this method. */
function asking(method: Ask["method"]): ThreadState {
  const call = { callId: "c", name: "act", namespace: null, arguments: "{}", kind: "function" } as const;
  const called = after(newThread(), startTurn(TURN), {
    kind: "toolCalled",
    at: 2,
    turnId: TURN,
    attempt: 1,
    call,
  });
  const request = {
    id: 7,
    at: 3,
    turnId: TURN,
    callId: "c",
    method,
    params: {},
  } as unknown as PendingRequest;
  return fold(called, { type: "requestSent", request });
}

function heard(method: Ask["method"], answer: RequestAnswer): ThreadState {
  return fold(asking(method), { type: "requestResolved", at: 4, requestId: 7, answer });
}

describe("an answer in a journal", () => {
  it.each(METHODS)("[DAMAGE-3] to %s counts as none if it is damaged", (method) => {
    for (const result of DAMAGED) {
      const state = heard(method, { kind: "result", result });
      expect(state.requests).toEqual([]);
      expect(runningCalls(state)[0]?.stage).toEqual({
        kind: "heard",
        method,
        answer: { kind: "failed", message: "the answer in the journal cannot be read" },
      });
      expect(state.turn?.strictReview).toBeUndefined();
    }
  });

  it("is taken as it is if its question takes it", () => {
    const answer = {
      kind: "result",
      result: { permissions: {}, scope: "turn", strictAutoReview: true },
    } as const;
    const state = heard("item/permissions/requestApproval", answer);
    expect(runningCalls(state)[0]?.stage).toMatchObject({ kind: "heard", answer });
    expect(state.turn?.strictReview).toBe(true);
  });
});
