import type { ThreadItem } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import type { CallStage, CallState } from "./call-stages.ts";
import { answerAmong, isAnswer, isCompaction } from "./item-kinds.ts";
import {
  afterAnswer,
  callsOf,
  delayed,
  ENDING,
  runningCalls,
  SAMPLING,
  type TurnPhase,
  withCall,
  withCallArguments,
  withCallStage,
} from "./phase.ts";
import { turnCompleted, turnStarted } from "./turn-view.ts";

const called = (callId: string) => {
  return { callId, name: "act", namespace: null, arguments: "{}", kind: "function" } as const;
};
const call = (callId: string, stage: CallStage = { kind: "proposed" }): CallState => ({
  call: called(callId),
  stage,
});
const settled: CallStage = { kind: "settled" };
const how = { covers: "all", lighter: 0, because: null } as const;
const compacting: TurnPhase = { kind: "compacting", due: null, how };
const hooks = { kind: "hooks", event: {} } as unknown as TurnPhase;
const shell: TurnPhase = { kind: "shell" };
const calling = (...calls: readonly CallState[]): TurnPhase => ({ kind: "calling", calls });

describe("the phase of a turn", () => {
  it("has the calls of the last answer", () => {
    expect(callsOf({ phase: { ...SAMPLING, calls: [call("a")] } })).toEqual([call("a")]);
    expect(callsOf({ phase: calling(call("a")) })).toEqual([call("a")]);
    for (const phase of [compacting, hooks, shell, ENDING]) expect(callsOf({ phase })).toEqual([]);
    expect(runningCalls({ turn: null })).toEqual([]);
  });

  it("waits for calls after an answer, or ends", () => {
    expect(afterAnswer({ ...SAMPLING, calls: [call("a")] })).toEqual(calling(call("a")));
    expect(afterAnswer({ ...SAMPLING, calls: [call("a", settled)] })).toEqual(ENDING);
    expect(afterAnswer(SAMPLING)).toEqual(ENDING);
    for (const phase of [compacting, hooks, shell, calling(call("a"))])
      expect(afterAnswer(phase)).toBe(phase);
  });

  it("takes one more call", () => {
    const one = { ...SAMPLING, shown: true, calls: [call("a")] };
    expect(withCall(one, called("b"))).toEqual({ ...one, calls: [call("a"), call("b")] });
    expect(withCall(calling(call("a")), called("b"))).toEqual(calling(call("a"), call("b")));
    for (const phase of [shell, ENDING]) expect(withCall(phase, called("b"))).toEqual(calling(call("b")));
    for (const phase of [compacting, hooks]) expect(withCall(phase, called("b"))).toBe(phase);
  });

  it("ends when the last call of a complete answer is settled", () => {
    const two = [call("a"), call("b")];
    expect(withCallStage({ ...SAMPLING, calls: two }, "a", settled)).toEqual({
      ...SAMPLING,
      calls: [call("a", settled), call("b")],
    });
    const one = withCallStage(calling(...two), "a", settled);
    expect(one).toEqual(calling(call("a", settled), call("b")));
    expect(withCallStage(one, "b", settled)).toEqual(ENDING);
    for (const phase of [compacting, hooks, shell, ENDING])
      expect(withCallStage(phase, "a", settled)).toBe(phase);
  });

  it("gives a call other arguments", () => {
    const other = { ...call("b"), call: { ...called("b"), arguments: "[]" } };
    expect(withCallArguments(calling(call("a"), call("b")), "b", "[]")).toEqual(calling(call("a"), other));
  });

  it("delays the call of a model", () => {
    expect(delayed(SAMPLING, 7)).toEqual({ ...SAMPLING, due: 7 });
    expect(delayed(compacting, 7)).toEqual({ ...compacting, due: 7 });
    for (const phase of [hooks, shell, ENDING]) expect(delayed(phase, 7)).toBe(phase);
  });
});

describe("the answer among items", () => {
  const said = (id: string, phase: string | null | undefined): ThreadItem =>
    ({ type: "agentMessage", id, text: "", phase }) as unknown as ThreadItem;
  const other = { type: "reasoning", id: "r" } as unknown as ThreadItem;

  it("is the last one that is marked as final, else the last that is not a comment", () => {
    const among = (...items: readonly ThreadItem[]) => answerAmong(items)?.id;
    expect(among()).toBeUndefined();
    expect(among(other, said("a", "commentary"))).toBeUndefined();
    expect(among(said("a", null), said("b", undefined), said("c", "commentary"), other)).toBe("b");
    expect(among(said("a", "final_answer"), said("b", "final_answer"), said("c", null))).toBe("b");
  });

  it("is a message, and no comment", () => {
    expect(
      [null, undefined, "final_answer", "commentary"].map((phase) => isAnswer(said("a", phase))),
    ).toEqual([true, true, true, false]);
    expect([isAnswer(other), isCompaction(other)]).toEqual([false, false]);
    expect(isCompaction({ type: "contextCompaction", id: "c" } as unknown as ThreadItem)).toBe(true);
  });
});

describe("the turn that clients see", () => {
  it("runs since a second, or since an unknown time", () => {
    expect(turnStarted("t", 2999)).toMatchObject({
      id: "t",
      rootTurnId: "t",
      status: "inProgress",
      startedAt: 2,
    });
    expect(turnStarted("t", null, "root")).toMatchObject({ rootTurnId: "root", startedAt: null, items: [] });
  });

  it("has its answer, its times and its error at its end", () => {
    const record = {
      type: "turnEnded",
      turnId: "t",
      startedAt: 1000,
      at: 3500,
      status: "completed",
      error: null,
      answer: null,
    } as const;
    expect(turnCompleted(record)).toMatchObject({
      items: [],
      itemsView: "notLoaded",
      status: "completed",
      startedAt: 1,
      completedAt: 3,
      durationMs: 2500,
      rootTurnId: "t",
    });
    const answer = { type: "agentMessage", id: "m" } as unknown as ThreadItem;
    expect(turnCompleted({ ...record, answer, rootTurnId: "root", at: 900 })).toMatchObject({
      items: [answer],
      itemsView: "summary",
      durationMs: 0,
      rootTurnId: "root",
    });
  });
});
