import { expect, it } from "vitest";
import { after, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import type { Command } from "../commands.ts";
import type { ThreadState } from "../state.ts";
import { runningCalls } from "../turn/phase.ts";

const called = (callId: string): Command => ({
  kind: "toolCalled",
  at: 2,
  turnId: "turn-1",
  attempt: 1,
  call: { callId, name: "act", namespace: null, arguments: "{}", kind: "function" },
});
const asks = (callId: string, requestId: number, question?: string): Command => ({
  kind: "stepCall",
  at: 3,
  turnId: "turn-1",
  callId,
  from: "proposed",
  step: {
    kind: "ask",
    requestId,
    reviewId: "review",
    fingerprint: "f",
    question,
    ask: {
      method: "item/tool/call",
      params: { threadId: "t", turnId: "turn-1", callId, namespace: null, tool: "act", arguments: {} },
    },
  },
});
const answers = (requestId: number): Command => ({
  kind: "answer",
  at: 4,
  requestId,
  answer: { kind: "result", result: { contentItems: [], success: true } },
});
const stageOf = (state: ThreadState, callId: string) =>
  runningCalls(state).find(({ call }) => call.callId === callId)?.stage;

it("gives an answer to the call that asked, with the tool's own name of the question", () => {
  const asked = after(
    newThread(),
    startTurn(),
    called("a"),
    called("b"),
    asks("a", 1, "which"),
    asks("b", 2),
  );
  expect(asked.requests.map(({ id }) => id)).toEqual([1, 2]);
  expect(stageOf(asked, "a")).toEqual({ kind: "asking", requestId: 1 });
  const first = after(asked, answers(1));
  expect(first.requests.map(({ id }) => id)).toEqual([2]);
  expect(stageOf(first, "a")).toMatchObject({ kind: "heard", method: "item/tool/call", question: "which" });
  expect(stageOf(first, "b")).toEqual({ kind: "asking", requestId: 2 });
  const both = after(first, answers(2));
  expect(both.requests).toEqual([]);
  expect(stageOf(both, "b")).toMatchObject({ kind: "heard", answer: { kind: "result" } });
  expect(stageOf(both, "b")).not.toHaveProperty("question");
});
