import { describe, expect, it } from "vitest";
import { after, newThread, startTurn } from "../../../../test/support/test-thread.ts";
import { LATE_CALL, withRap } from "../../../../test/support/tool-server-thread.ts";
import type { Command } from "./commands.ts";
import { next } from "./next.ts";
import type { ThreadState } from "./state.ts";
import { runningCalls } from "./turn/phase.ts";

const called = (callId: string): Command => ({
  kind: "toolCalled",
  at: 2,
  turnId: "turn-1",
  attempt: 1,
  call: { callId, name: "act", namespace: null, arguments: "{}", kind: "function" },
});

describe("what a thread has to do", () => {
  it("is the same effect for a call as long as nothing becomes of the call", () => {
    const one = after(newThread(), startTurn(), called("a"));
    const both = after(one, called("b"));
    const effect = (state: typeof one, callId: string) =>
      next(state).find((due) => due.kind === "call" && due.call.callId === callId);
    expect(effect(one, "a")).toBeDefined();
    expect(effect(both, "a")).toBe(effect(one, "a"));
    const sent = after(both, {
      kind: "stepCall",
      at: 3,
      turnId: "turn-1",
      callId: "a",
      from: "proposed",
      step: { kind: "dispatch", again: false },
    });
    expect(effect(sent, "a")?.key).not.toBe(effect(one, "a")?.key);
    expect(effect(sent, "b")).toBe(effect(both, "b"));
  });

  it("ends deferred calls at their deadlines, if they have one", () => {
    const late = [LATE_CALL, { ...LATE_CALL, callId: "d", until: null }];
    expect(next(withRap({ late }))).toEqual([{ key: "late c", kind: "lateCall", callId: "c", due: 50 }]);
  });

  it("is every kind of work at once, also if all kinds are due", () => {
    const choice = { requestId: 2, callId: "c", server: "s", responseUrl: "u", selected: 0 };
    const rule = { requestId: 3, host: "h", protocol: "https", decision: "allow" } as const;
    const review = { turnId: "turn-1", callId: "c", reviewId: "r", requestId: 4 };
    const child = (childId: string, task: object | null) => ({ childId, task });
    const helper = { childId: "h", start: null, inputs: [] };
    const terminal = { turnId: "turn-1", item: { id: "i" }, processId: "77" };
    const due = {
      ...withRap({ late: [LATE_CALL], choices: [choice], cancels: ["x", "y"] }),
      networkRules: [rule],
      asideReviews: [review],
      terminals: [terminal],
      children: [child("a", null), child("b", {})],
      helpers: { ...newThread().helpers, open: [helper] },
      requests: [
        { id: 5, at: 400 },
        { id: 6, at: 900 },
      ],
    } as unknown as ThreadState;
    const question = (id: number, since: number) => {
      const key = `question ${id} 700`;
      return { key, kind: "expireQuestion", requestId: id, since, due: since + 100 };
    };
    const effects = [
      { key: "network rule 3", kind: "networkRule", rule },
      { key: "review turn-1 r", kind: "review", turnId: "turn-1", callId: "c", call: null, review },
      { key: "command i", kind: "command", turnId: "turn-1", itemId: "i", processId: "77" },
      { key: "late c", kind: "lateCall", callId: "c", due: 50 },
      { key: "choice 2 0", kind: "postChoice", choice, due: null },
      { key: "child a made", kind: "child", child: child("a", null) },
      { key: "child b due", kind: "child", child: child("b", {}) },
      { key: "helper h hear", kind: "helper", what: "hear", helper },
      { key: "notices x y", kind: "notices" },
    ];
    const presence = { since: 700, questionDeadlineMs: 100 };
    expect(next(due, presence)).toEqual([...effects, question(5, 700), question(6, 900)]);
    expect(next(due)).toEqual(effects);
    expect(next(newThread(), presence)).toEqual([]);
  });

  it("is to send notices, if the thread is closed", () => {
    const closed = after(newThread(), { kind: "close", at: 9, reason: "requested" });
    expect(next(closed)).toEqual([{ key: "notices ", kind: "notices" }]);
    expect(next({ ...closed, untold: false })).toEqual([]);
  });

  it("is another effect for a call whose hooks have run", () => {
    const one = after(newThread(), startTurn(), called("a"));
    const keys = (state: ThreadState) => next(state).map(({ key }) => key);
    expect(keys(one)).toEqual(["sample turn-1 1", "call turn-1 a proposed"]);
    const stage = { kind: "proposed", hooked: true } as const;
    const phase = { ...one.turn!.phase, calls: runningCalls(one).map((call) => ({ ...call, stage })) };
    const hooked = { ...one, turn: { ...one.turn!, phase } } as ThreadState;
    expect(keys(hooked)).toEqual(["sample turn-1 1", "call turn-1 a proposed hooked"]);
  });

  it("is to run the user's commands of the turn, and no other open item", () => {
    const state = after(newThread(), startTurn());
    const item = (id: string, source: string) => ({ type: "commandExecution", id, source });
    const open = [item("a", "agent"), item("b", "userShell"), { type: "plan", id: "c" }] as never;
    const keys = next({ ...state, turn: { ...state.turn!, open } }).map(({ key }) => key);
    expect(keys).toEqual(["sample turn-1 1", "command b"]);
  });

  it("waits for a paused queue, and begins with its first input otherwise", () => {
    const idle = newThread();
    const first = { id: "q1" };
    const queue = (paused: boolean, ...items: readonly object[]) =>
      ({ ...idle, queue: { ...idle.queue, paused, items } }) as unknown as typeof idle;
    expect(next(queue(false))).toEqual([]);
    expect(next(queue(true, first))).toEqual([]);
    expect(next(queue(false, first))).toHaveLength(1);
  });
});
