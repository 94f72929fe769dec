import { describe, expect, it } from "vitest";
import { after, decided, newThread, startTurn } from "../../../../../test/support/test-thread.ts";
import {
  askToChoose,
  OUTSIDE_CALL as CALL,
  eventOf,
  LATE_CALL as LATE,
  withRap as threadWith,
} from "../../../../../test/support/tool-server-thread.ts";
import { decide } from "../decide.ts";
import { fold } from "../fold.ts";
import { next } from "../next.ts";
import type { ThreadState } from "../state.ts";
import type { RapCommand } from "./commands.ts";

function codeOf(state: ThreadState, command: RapCommand): string {
  const decision = decide(state, command, new Map());
  return decision.kind === "refused" ? decision.fault.code : "accepted";
}

describe("a choice that cannot be told now", () => {
  const choice = {
    requestId: 7,
    callId: "c",
    server: "desk",
    responseUrl: "https://desk/answer",
    selected: 1,
  };
  const later = { kind: "choiceDelayed", at: 10, requestId: 7, until: 99 } as const;

  it("is told at another time, which the journal knows", () => {
    const first = threadWith({ late: [{ ...LATE, until: null }], choices: [choice] });
    const { state } = decided(first, later);
    const [before, after] = [first, state].map((one) => next(one)[0]);
    expect(before).toMatchObject({ kind: "postChoice", due: null });
    expect(after).toMatchObject({ kind: "postChoice", due: 99, choice: { delays: 1 } });
    expect(after!.key).not.toBe(before!.key);
  });

  it("is given up when its call is over", () => {
    const { records, state } = decided(threadWith({ choices: [choice] }), later);
    expect(records).toEqual([{ type: "choicePosted", at: 10, requestId: 7 }]);
    expect(next(state)).toEqual([]);
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

  it("is taken only once the journal has the call as sent: a power cut may have lost that it was", () => {
    const call = { callId: "c", name: "deploy", namespace: null, arguments: "{}", kind: "function" } as const;
    const called = { kind: "toolCalled", at: 2, turnId: "turn-1", attempt: 1, call } as const;
    const state = after(newThread(), startTurn(), called);
    expect(codeOf(state, result("c", 1))).toBe("overloaded");
    const sent = { type: "toolDispatched", turnId: "turn-1", at: 3, callId: "c", again: false } as const;
    const { records } = decided(fold(state, sent), result("c", 1));
    expect(records.map(({ type }) => type)).toContain("toolAnswered");
  });

  it("is bounded for late results, of which one passes whatever its size", () => {
    let state = decided(threadWith({ late }), result("c0", 40 * MIB)).state;
    expect(codeOf(state, result("c1", 1))).toBe("overloaded");
    state = threadWith({ late });
    for (let at = 0; at < 15; at++) state = decided(state, result(`c${at}`, MIB)).state;
    expect(codeOf(state, result("c15", MIB))).toBe("overloaded");
    // The model has been shown the events.
    const shown = { ...state, rap: { ...state.rap, events: [] } };
    expect(codeOf(shown, result("c15", MIB))).toBe("accepted");
  });

  it("is bounded for children, which keep out none but further ones", () => {
    const event = (childId: string | null) =>
      eventOf({ digest: `digest of ${childId}`, eventId: `event ${childId}`, childId });
    let state = threadWith({ late, subscriptions: [{ ...CALL, callId: "s" }] });
    for (let at = 0; at < 32; at++) state = decided(state, event(`child ${at}`)).state;
    expect(codeOf(state, event("one more"))).toBe("overloaded");
    expect(codeOf(state, event(null))).toBe("accepted");
    expect(codeOf(state, result("c0", MIB))).toBe("accepted");
  });

  it("is bounded for views, and what they had before does not count", () => {
    let state = threadWith({ late });
    for (let at = 0; at < 7; at++) state = decided(state, view(`v${at}`, { text: "x".repeat(MIB) })).state;
    expect(codeOf(state, view("v7", { text: "x".repeat(MIB) }))).toBe("overloaded");
    expect(codeOf(state, view("v0", { text: "y".repeat(MIB) }))).toBe("accepted");
    expect(codeOf(state, view("v0", {}))).toBe("accepted");
    expect(codeOf(state, result("c0", 4 * MIB))).toBe("accepted");
  });

  it("is bounded for the questions of a call", () => {
    const ask = (callId: string, at: number) => askToChoose(at, { callId, key: `choice ${callId} ${at}` });
    let state = threadWith({ late });
    for (let at = 0; at < 16; at++) state = decided(state, ask("c0", at)).state;
    expect(codeOf(state, ask("c0", 16))).toBe("overloaded");
    // A repeat of an open question has no effect.
    expect(codeOf(state, ask("c0", 3))).toBe("accepted");
    expect(codeOf(state, ask("c1", 17))).toBe("accepted");
  });
});

describe("a message to an earlier load", () => {
  const state = threadWith({ late: [LATE], subscriptions: [{ ...CALL, callId: "s" }] });
  const shown = { content: [], _meta: null };
  const about = { at: 1, callId: "c" };
  type Loaded = Extract<RapCommand, { readonly load: number }>;
  const messages: Record<Loaded["kind"], (load: number) => Loaded> = {
    reportCall: (load) => ({
      load,
      kind: "reportCall",
      ...about,
      eventId: "e",
      report: { output: "done", success: true, shown, subscription: false },
    }),
    receiveEvent: (load) => ({
      load,
      kind: "receiveEvent",
      at: 1,
      callId: "s",
      key: null,
      digest: "d",
      eventId: "e",
      event: { output: "a bird", success: true, shown },
      childId: null,
      final: false,
    }),
    updateView: (load) => ({ load, kind: "updateView", ...about, server: "desk", viewType: "v", view: {} }),
    askChoice: (load) => ({
      load,
      kind: "askChoice",
      ...about,
      requestId: 1,
      server: "desk",
      prompt: "Where to?",
      choices: ["here"],
      fallback: 0,
      responseUrl: "https://desk/answer",
      key: "k",
      named: false,
    }),
    askOAuth: (load) => ({ load, kind: "askOAuth", ...about, requestId: 1 }),
  };

  it.each(Object.entries(messages))("changes nothing (%s), and one to this load does", (_, message) => {
    const taken = (load: number, of = state) => decided(of, message(load)).records;
    const { loadEpoch } = state;
    expect(taken(loadEpoch)).not.toEqual([]);
    for (const load of [loadEpoch - 1, loadEpoch + 1]) expect(taken(load)).toEqual([]);
    // A call with the same ID may wait in the next load.
    expect(taken(loadEpoch, { ...state, loadEpoch: loadEpoch + 1 })).toEqual([]);
  });
});

describe("an event that is sent twice", () => {
  const watching = threadWith({ subscriptions: [CALL, { ...CALL, callId: "other" }] });
  const event = (at: number, more: { key?: string; digest?: string; callId?: string } = {}) =>
    eventOf({ at, callId: "c", digest: "d", eventId: `event ${at}`, ...more });
  const isTaken = (state: ThreadState, command: RapCommand) => decided(state, command).records.length > 0;

  it("is known by its bytes for ten seconds, in the call that it is for", () => {
    const { state } = decided(watching, event(1000));
    expect(isTaken(state, event(10_999))).toBe(false);
    expect(isTaken(state, event(11_000))).toBe(true);
    expect(isTaken(state, event(1001, { digest: "e" }))).toBe(true);
    expect(isTaken(state, event(1001, { callId: "other" }))).toBe(true);
    // The clock may have been set back.
    expect(isTaken(state, event(500))).toBe(false);
  });

  it("is known by its sender's name for longer, whatever its bytes", () => {
    const { state } = decided(watching, event(1000, { key: "k" }));
    expect(isTaken(state, event(99_000, { key: "k", digest: "e" }))).toBe(false);
    expect(isTaken(state, event(1001, { key: "l" }))).toBe(true);
    expect(isTaken(state, event(1001, { key: "k", callId: "other" }))).toBe(true);
  });
});

describe("a question that a tool server asks twice", () => {
  const ask = (requestId: number, named: boolean) => askToChoose(requestId, { key: "choice c k", named });

  it.each([
    [false, "a new question", [["requestSent"], [], [], ["requestSent"]]],
    [true, "the same question, for its sender says so", [["requestSent"], [], [], []]],
  ])("is a repeat until its answer was sent, and then (named: %s) %s", (named, _, expected) => {
    const seen: string[][] = [];
    let state = threadWith({ late: [LATE] });
    const asked = (requestId: number): void => {
      const { records, state: after } = decided(state, ask(requestId, named));
      seen.push(records.map(({ type }) => type));
      state = after;
    };
    asked(1);
    asked(2);
    const [request] = state.requests;
    const answer = { answers: { choice: { answers: ["yes"] } } };
    const answered = decide(
      state,
      { kind: "answer", at: 2, requestId: request!.id, answer: { kind: "result", result: answer } },
      new Map(),
    );
    if (answered.kind === "refused") throw answered.fault;
    state = answered.state;
    asked(3);
    state = decided(state, { kind: "choicePosted", at: 3, requestId: request!.id }).state;
    asked(4);
    expect(seen).toEqual(expected);
  });
});
