import { describe, expect, it } from "vitest";
import { after, decided, refusal } from "../../../../../test/support/test-thread.ts";
import {
  askToChoose,
  eventOf,
  LATE_CALL,
  OUTSIDE_CALL,
  reportOf,
  steerTurn,
  waitingFor,
  withRap,
} from "../../../../../test/support/tool-server-thread.ts";
import { fold } from "../fold.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import type { RapEvent, RapState } from "./records.ts";

const of = <T extends ThreadRecord["type"]>(records: readonly ThreadRecord[], type: T) =>
  records.filter((record) => record.type === type) as Extract<ThreadRecord, { type: T }>[];
const item = {
  type: "mcpToolCall",
  id: "c",
  server: "front desk",
  tool: "deploy",
  status: "inProgress",
  arguments: {},
  startedAtMs: 3,
};
const shown = { content: [{ type: "text", text: "live" }], _meta: { a: 1 } };
const event = (id: string): RapEvent => ({
  id,
  kind: "event",
  call: OUTSIDE_CALL,
  output: "a bird",
  success: true,
  shown: { content: [], _meta: null },
});

describe("the result of a call in the running turn", () => {
  it.each([
    [true, "completed"],
    [false, "failed"],
  ])("completes its item (success: %s)", (success, status) => {
    const state = waitingFor(["c"], { item });
    const { records } = decided(state, reportOf("c", { success, shown }));
    expect(of(records, "itemCompleted").map(({ item }) => item)).toEqual([
      {
        ...item,
        status,
        result: { content: shown.content, structuredContent: null, _meta: shown._meta },
        durationMs: 6,
        completedAtMs: 9,
      },
    ]);
    expect(of(records, "toolAnswered")).toMatchObject([{ callId: "c", output: "live", success }]);
  });

  it("completes the item of its call among others", () => {
    const state = after(waitingFor(["c", "d"]));
    const open = [{ ...item, id: "d" }, item] as never;
    const { records } = decided({ ...state, turn: { ...state.turn!, open } }, reportOf("c"));
    expect(of(records, "itemCompleted")).toMatchObject([{ item: { id: "c", status: "completed" } }]);
  });

  it("refers to its blobs", () => {
    const blobs = { b: { size: 1 } } as never;
    const { records } = decided(waitingFor(["c"], { item }), reportOf("c", { blobs }));
    expect(of(records, "itemCompleted")).toMatchObject([{ blobs }]);
    expect(of(records, "toolAnswered")).toMatchObject([{ blobs }]);
  });
});

describe("a result that starts a subscription", () => {
  const subscription = { ...OUTSIDE_CALL, server: "deploy", args: '{"to":"prod"}' };
  const many = (count: number) =>
    Array.from({ length: count }, (_, nth) => ({ ...OUTSIDE_CALL, callId: `s${nth}` }));

  it("is recorded with a note for the model, up to 64 subscriptions", () => {
    const state = waitingFor(["c"]);
    const few = decided(withRap({ subscriptions: many(63) }, state), reportOf("c", { subscription: true }));
    expect(of(few.records, "subscribed")).toEqual([
      { type: "subscribed", turnId: "turn-1", at: 9, subscription },
    ]);
    expect(of(few.records, "callNoted")).toMatchObject([{ turnId: "turn-1", at: 9 }]);
    expect(few.state.rap.subscriptions).toHaveLength(64);
    const full = decided(withRap({ subscriptions: many(64) }, state), reportOf("c", { subscription: true }));
    expect(of(full.records, "subscribed")).toEqual([]);
    expect(of(full.records, "subscriptionEnded")).toEqual([
      { type: "subscriptionEnded", at: 9, callId: "c", by: "cancelled" },
    ]);
    expect(of(full.records, "toolAnswered")).toHaveLength(1);
  });

  it("can be that of a deferred call", () => {
    const { records } = decided(withRap({ late: [LATE_CALL] }), reportOf("c", { subscription: true }));
    expect(of(records, "subscribed")).toMatchObject([{ turnId: "turn-0", subscription: OUTSIDE_CALL }]);
    expect(of(records, "eventReceived")).toHaveLength(1);
  });
});

describe("events that wait", () => {
  const watching = { subscriptions: [{ ...OUTSIDE_CALL, callId: "s" }] };

  it("are received with their content, and without what does not belong to an event", () => {
    const received = (more: object) => {
      const sent = { output: "a bird", success: false, shown, ...more };
      const { records } = decided(withRap(watching), eventOf({ event: sent, key: "k" }));
      return of(records, "eventReceived");
    };
    const call = { ...OUTSIDE_CALL, callId: "s" };
    const event = { id: "event", kind: "event", call, output: "a bird", success: false, shown };
    expect(received({})).toEqual([{ type: "eventReceived", at: 9, key: "s k", event }]);
    expect(received({})[0]!.event).not.toHaveProperty("blobs");
    const blobs = { b: { size: 1 } } as never;
    expect(received({ blobs, other: 1 })[0]!.event).toEqual({ ...event, blobs });
  });

  it("are 256 at most", () => {
    const events = Array.from({ length: 256 }, (_, nth) => event(`e${nth}`));
    expect(refusal(withRap({ ...watching, events: events.slice(1) }), eventOf())).toBeNull();
    expect(refusal(withRap({ ...watching, events }), eventOf())).toBe("overloaded");
    expect(refusal(withRap({ late: [LATE_CALL], events }), reportOf("c"))).toBe("overloaded");
  });

  it("let a large one in if nothing else waits, also not in a child", () => {
    const size = 17 * 1024 * 1024;
    const large = eventOf({ event: { output: "x".repeat(size), success: true, shown } });
    const withChild = (task: object | null) =>
      ({ ...withRap(watching), children: [{ childId: "child", task }] }) as unknown as ThreadState;
    expect(refusal(withRap(watching), large)).toBeNull();
    expect(refusal(withChild(null), large)).toBeNull();
    expect(refusal(withChild({ event: event("e") }), large)).toBe("overloaded");
    expect(refusal(withRap({ ...watching, events: [event("e")] }), large)).toBe("overloaded");
  });

  it("come after the result that starts their subscription: an earlier one is refused for now", () => {
    expect(refusal(withRap({ late: [LATE_CALL] }), eventOf({ callId: "c" }))).toBe("overloaded");
    expect(refusal(waitingFor(["c"]), eventOf({ callId: "c" }))).toBe("overloaded");
    const both = withRap({ late: [LATE_CALL], subscriptions: [OUTSIDE_CALL] });
    expect(decided(both, eventOf({ callId: "c" })).records).toMatchObject([{ type: "eventReceived" }]);
  });
});

describe("a call that is deferred because a client speaks", () => {
  it("completes its item for now", () => {
    const { records } = decided(waitingFor(["c"], { item }), steerTurn());
    expect(of(records, "itemCompleted").find(({ item }) => item.id === "c")).toEqual({
      type: "itemCompleted",
      turnId: "turn-1",
      at: 5,
      item: {
        ...item,
        status: "completed",
        result: {
          content: [{ type: "text", text: "It is still running; its result comes later." }],
          structuredContent: null,
          _meta: null,
        },
        durationMs: 2,
        completedAtMs: 5,
      },
    });
    expect(of(records, "callDeferred")).toMatchObject([{ call: { server: "front desk" } }]);
  });

  it("completes an item of another kind as it is, and that of its own call", () => {
    const state = waitingFor(["c", "d"]);
    const open = ["x", "d"].map((id) => ({ type: "dynamicToolCall", id, tool: id })) as never;
    const { records } = decided({ ...state, turn: { ...state.turn!, open } }, steerTurn());
    const deferred = records.slice(
      0,
      records.findLastIndex(({ type }) => type === "callDeferred"),
    );
    expect(of(deferred, "itemCompleted").map(({ item }) => item)).toEqual([
      { type: "dynamicToolCall", id: "d", tool: "d", completedAtMs: 5 },
    ]);
    expect(of(records, "callDeferred").map(({ call }) => call.callId)).toEqual(["c", "d"]);
  });

  it("says to the model whether the call waits for the user", () => {
    const outputs = (state: ThreadState) =>
      of(decided(state, steerTurn()).records, "toolAnswered").map(({ output }) =>
        String(output).includes("It waits for the user"),
      );
    const both = waitingFor(["c", "d"]);
    expect(outputs(both)).toEqual([false, false]);
    expect(outputs(after(both, askToChoose(1)))).toEqual([true, false]);
    expect(outputs(after(both, askToChoose(1), askToChoose(2, { callId: "d" })))).toEqual([true, true]);
    const direct = after(both, askToChoose(1));
    const [{ aside: _, ...request }] = direct.requests as never as [{ aside: unknown }];
    expect(outputs({ ...direct, requests: [request] as never })).toEqual([false, false]);
  });

  it("stays unacknowledged if its server has not acknowledged it", () => {
    const state = waitingFor(["c"]);
    const deferred = (unacknowledged: boolean) => {
      const phase = structuredClone(state.turn!.phase) as unknown as { calls: { stage: object }[] };
      phase.calls[0]!.stage = { ...phase.calls[0]!.stage, ...(unacknowledged && { unacknowledged }) };
      const { records } = decided({ ...state, turn: { ...state.turn!, phase: phase as never } }, steerTurn());
      return of(records, "callDeferred").map(({ call }) => call);
    };
    expect(deferred(true)).toMatchObject([{ callId: "c", unacknowledged: true }]);
    expect(deferred(false)[0]).not.toHaveProperty("unacknowledged");
  });
});

describe("a record of a tool server", () => {
  const choice = { requestId: 1, callId: "c", server: "s", responseUrl: "u", selected: 0 };
  const full = withRap({
    subscriptions: [OUTSIDE_CALL],
    late: [LATE_CALL],
    events: [event("e")],
    choices: [choice],
    views: [{ type: "v", server: "s", callId: "c", content: { a: 1 } }],
    keys: ["k"],
    cancels: ["x", "y"],
  });

  it.each<[ThreadRecord, Partial<RapState>]>([
    [
      { type: "subscribed", turnId: "t", at: 0, subscription: { ...OUTSIDE_CALL, callId: "n" } },
      { subscriptions: [OUTSIDE_CALL, { ...OUTSIDE_CALL, callId: "n" }] },
    ],
    [
      { type: "subscriptionEnded", at: 0, callId: "c", by: "cancelled" },
      { subscriptions: [], cancels: ["x", "y", "c"] },
    ],
    [{ type: "subscriptionEnded", at: 0, callId: "c", by: "final" }, { subscriptions: [] }],
    [
      { type: "callDeferred", turnId: "t", at: 0, call: { ...LATE_CALL, callId: "n" } },
      { late: [LATE_CALL, { ...LATE_CALL, callId: "n" }] },
    ],
    [{ type: "eventInjected", turnId: "t", at: 0, event: event("e") }, { events: [] }],
    [
      { type: "eventReceived", at: 0, event: { ...event("n"), kind: "result" }, key: "n" },
      { late: [], events: [event("e"), { ...event("n"), kind: "result" }], keys: ["k", "n"] },
    ],
    [
      { type: "choiceMade", at: 0, choice: { ...choice, requestId: 2 } },
      { choices: [choice, { ...choice, requestId: 2 }] },
    ],
    [
      { type: "choiceDelayed", at: 0, requestId: 1, until: 5 },
      { choices: [{ ...choice, until: 5, delays: 1 }] },
    ],
    [{ type: "choicePosted", at: 0, requestId: 1 }, { choices: [] }],
    [{ type: "viewUpdated", at: 0, server: "s", callId: "c", viewType: "v", view: {} }, { views: [] }],
    [{ type: "cancelNotified", at: 0, callId: "x" }, { cancels: ["y"] }],
  ])("changes what it is about, and nothing else: %j", (record, change) => {
    const { contextTokens: _, ...changed } = fold(full, record);
    expect({ contextTokens: full.contextTokens, ...changed }).toEqual({
      ...full,
      rap: { ...full.rap, ...change },
    });
  });
});
