import { describe, expect, it } from "vitest";
import type { RapCommand } from "../commands.ts";
import { decide } from "../decide.ts";
import { next } from "../next.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import { newThread } from "../test-thread.ts";
import { type LateCall, NO_RAP, type RapState } from "./records.ts";

const CALL = { callId: "c", server: "desk", via: "desk", tool: "deploy", args: "{}" };
const LATE: LateCall = { ...CALL, turnId: "turn-1", until: null };

function threadWith(rap: Partial<RapState>): ThreadState {
  return { ...newThread(), rap: { ...NO_RAP, ...rap } };
}

function accepted(
  state: ThreadState,
  command: RapCommand,
): { records: readonly ThreadRecord[]; state: ThreadState } {
  const decision = decide(state, command, new Map());
  if (decision.kind === "refused") throw decision.fault;
  return decision;
}

function codeOf(state: ThreadState, command: RapCommand): string {
  const decision = decide(state, command, new Map());
  return decision.kind === "refused" ? decision.fault.code : "accepted";
}

describe("a choice that can not be told now", () => {
  const choice = {
    requestId: 7,
    callId: "c",
    server: "desk",
    responseUrl: "https://desk/answer",
    selected: 1,
  };
  const later = { kind: "choiceDelayed", at: 10, requestId: 7, until: 99 } as const;

  it("is told at another time, which the journal knows", () => {
    const first = threadWith({ late: [LATE], choices: [choice] });
    const { state } = accepted(first, later);
    const [before, after] = [first, state].map((one) => next(one)[0]);
    expect(before).toMatchObject({ kind: "postChoice", due: null });
    expect(after).toMatchObject({ kind: "postChoice", due: 99, choice: { delays: 1 } });
    expect(after!.key).not.toBe(before!.key);
  });

  it("is given up when its call is over", () => {
    const { records, state } = accepted(threadWith({ choices: [choice] }), later);
    expect(records).toEqual([{ type: "choicePosted", at: 10, requestId: 7 }]);
    expect(next(state)).toEqual([]);
  });
});

describe("a child that can not be made", () => {
  const event = {
    id: "event_1",
    kind: "event",
    call: CALL,
    output: "a bird",
    success: true,
    shown: { content: [], _meta: null },
  } as const;
  const failed = { kind: "childFailed", at: 10, childId: "child" } as const;

  it("leaves its event to the thread itself, which does not wait for it any more", () => {
    const { state } = accepted(threadWith({ children: [{ childId: "child", event }] }), failed);
    expect(state.rap).toMatchObject({ children: [], events: [event] });
    expect(accepted(state, failed).records).toEqual([]);
  });

  it("has had its event if it was made", () => {
    const { state } = accepted(threadWith({ children: [{ childId: "child", event: null }] }), failed);
    expect(state.rap).toMatchObject({ children: [], events: [] });
  });

  it("is not over before it has its event, whatever is said of what was left of it", () => {
    const due = threadWith({ children: [{ childId: "child", event }] });
    expect(accepted(due, { kind: "childEnded", at: 10, childId: "child" }).records).toEqual([]);
  });
});

describe("what a thread holds of tool servers", () => {
  const load = newThread().loadEpoch;
  const MIB = 1024 * 1024;
  const late = Array.from({ length: 40 }, (_, at) => ({ ...LATE, callId: `c${at}` }));
  const result = (callId: string, size: number): RapCommand => ({
    kind: "reportCall",
    at: 1,
    load,
    callId,
    eventId: `late ${callId}`,
    report: {
      output: "x".repeat(size),
      success: true,
      shown: { content: [], _meta: null },
      subscription: false,
    },
  });
  const view = (viewType: string, content: object): RapCommand => ({
    kind: "updateView",
    at: 1,
    load,
    server: "desk",
    callId: "c0",
    viewType,
    view: content as Record<string, unknown>,
  });

  it("is bounded for late results, of which one passes whatever its size", () => {
    let state = accepted(threadWith({ late }), result("c0", 40 * MIB)).state;
    expect(codeOf(state, result("c1", 1))).toBe("overloaded");
    state = threadWith({ late });
    for (let at = 0; at < 15; at++) state = accepted(state, result(`c${at}`, MIB)).state;
    expect(codeOf(state, result("c15", MIB))).toBe("overloaded");
    // The model was shown them.
    const shown = { ...state, rap: { ...state.rap, events: [] } };
    expect(codeOf(shown, result("c15", MIB))).toBe("accepted");
  });

  it("is bounded for children, which keep out none but further ones", () => {
    const event = (childId: string | null): RapCommand => ({
      kind: "receiveEvent",
      at: 1,
      load,
      callId: "s",
      key: null,
      eventId: `event ${childId}`,
      event: { output: "a bird", success: true, shown: { content: [], _meta: null } },
      childId,
      final: false,
    });
    let state = threadWith({ late, subscriptions: [{ ...CALL, callId: "s" }] });
    for (let at = 0; at < 32; at++) state = accepted(state, event(`child ${at}`)).state;
    expect(codeOf(state, event("one more"))).toBe("overloaded");
    expect(codeOf(state, event(null))).toBe("accepted");
    expect(codeOf(state, result("c0", MIB))).toBe("accepted");
  });

  it("is bounded for views, and what they had before does not count", () => {
    let state = threadWith({ late });
    for (let at = 0; at < 7; at++) state = accepted(state, view(`v${at}`, { text: "x".repeat(MIB) })).state;
    expect(codeOf(state, view("v7", { text: "x".repeat(MIB) }))).toBe("overloaded");
    expect(codeOf(state, view("v0", { text: "y".repeat(MIB) }))).toBe("accepted");
    expect(codeOf(state, view("v0", {}))).toBe("accepted");
    expect(codeOf(state, result("c0", 4 * MIB))).toBe("accepted");
  });

  it("is bounded for the questions of a call", () => {
    const ask = (callId: string, at: number): RapCommand => ({
      kind: "askChoice",
      at: 1,
      load,
      callId,
      requestId: at,
      server: "desk",
      prompt: "Where to?",
      choices: ["here", "there"],
      fallback: 0,
      responseUrl: "https://desk/answer",
      key: `choice ${callId} ${at}`,
    });
    let state = threadWith({ late });
    for (let at = 0; at < 16; at++) state = accepted(state, ask("c0", at)).state;
    expect(codeOf(state, ask("c0", 16))).toBe("overloaded");
    // Asked before: there is nothing to do.
    expect(codeOf(state, ask("c0", 3))).toBe("accepted");
    expect(codeOf(state, ask("c1", 17))).toBe("accepted");
  });
});
