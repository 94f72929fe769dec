import { describe, expect, it } from "vitest";
import {
  after,
  decided,
  endModelCall,
  newThread,
  startTurn,
} from "../../../../../test/support/test-thread.ts";
import {
  OUTSIDE_CALL as CALL,
  callTool as called,
  eventOf,
  LATE_CALL as LATE,
  reportOf,
  sendCall as send,
  steerTurn as steer,
  withRap as threadWith,
  awaitCall as wait,
  waitingFor,
} from "../../../../../test/support/tool-server-thread.ts";
import type { Command } from "../commands.ts";
import type { ThreadRecord } from "../records.ts";
import type { RapCommand } from "./commands.ts";
import { isDeferrable } from "./deferred-calls.ts";
import type { LateCall } from "./records.ts";

const of = <T extends ThreadRecord["type"]>(records: readonly ThreadRecord[], type: T) =>
  records.filter((record) => record.type === type) as Extract<ThreadRecord, { type: T }>[];

/** A turn whose only call waits for a tool server. */
const waiting = waitingFor(["c"]);

describe("a call that waits for a tool server when somebody speaks", () => {
  it("is answered for now, and its result comes later", () => {
    const { records, state } = decided(waiting, steer("and?"));
    expect(of(records, "toolAnswered")).toMatchObject([
      { callId: "c", success: true, output: expect.stringContaining("deploy is still running.") },
    ]);
    expect(of(records, "callDeferred").map(({ call }) => call)).toEqual([
      {
        callId: "c",
        server: "deploy",
        via: "desk",
        tool: "deploy",
        args: '{"to":"prod"}',
        turnId: "turn-1",
        until: 99,
      },
    ]);
    expect(of(records, "sampleRequested")).toHaveLength(1);
    expect(state.rap.late.map(({ callId }) => callId)).toEqual(["c"]);
  });

  it("goes on waiting if nothing was said, or if a local tool works, too", () => {
    const silent = { ...startTurn("turn-2", 5), input: [] } as Command;
    expect(of(decided(waiting, silent).records, "callDeferred")).toEqual([]);
    const both = after(
      newThread(),
      startTurn(),
      called("c"),
      called("local"),
      endModelCall(),
      send("c", "desk"),
      wait("c"),
      send("local"),
    );
    const { records } = decided(both, steer("and?"));
    expect(of(records, "callDeferred")).toEqual([]);
    expect(of(records, "sampleRequested")).toEqual([]);
  });

  it("is a call of the turn: while the model answers, nothing is deferred", () => {
    const answering = after(newThread(), startTurn());
    expect(isDeferrable(answering, answering.turn!)).toBe(false);
    expect(isDeferrable(waiting, waiting.turn!)).toBe(true);
  });

  it("is not deferred beyond 64 calls", () => {
    const late = (count: number) =>
      Array.from({ length: count }, (_, nth): LateCall => ({ ...LATE, callId: `late ${nth}` }));
    const deferred = (count: number) =>
      of(decided(threadWith({ late: late(count) }, waiting), steer("and?")).records, "callDeferred").length;
    expect([deferred(63), deferred(64)]).toEqual([1, 0]);
  });
});

describe("a deferred call", () => {
  const state = threadWith({ late: [LATE] });
  const expire = (callId: string): RapCommand => ({ kind: "expireCall", at: 60, callId, eventId: "event" });

  it("comes to its result as an event, once", () => {
    const { records, state: after } = decided(state, reportOf("c"));
    expect(of(records, "eventReceived")).toMatchObject([
      { event: { id: "result of c", kind: "result", output: "live", success: true, call: CALL } },
    ]);
    expect(after.rap.late).toEqual([]);
    expect(after.rap.events).toHaveLength(1);
    expect(decided(after, reportOf("c")).records).toEqual([]);
    expect(decided(state, reportOf("unknown")).records).toEqual([]);
    const inTurn = decided(threadWith({ late: [LATE] }, waitingFor(["d"])), reportOf("c"));
    expect(of(inTurn.records, "eventReceived")).toHaveLength(1);
  });

  it("ends at its deadline with an error, and is cancelled at its server", () => {
    const { records, state: after } = decided(state, expire("c"));
    expect(of(records, "callCancelled")).toMatchObject([{ turnId: "turn-0", callId: "c" }]);
    expect(of(records, "eventReceived")).toMatchObject([
      { event: { output: "Error: deploy did not answer in time.", success: false } },
    ]);
    expect(after.rap.late).toEqual([]);
    expect(decided(state, expire("unknown")).records).toEqual([]);
    const unsure = threadWith({ late: [{ ...LATE, unacknowledged: true }] });
    const [event] = of(decided(unsure, expire("c")).records, "eventReceived");
    expect(event?.event.output).not.toContain("in time");
  });
});

describe("an event of a subscription", () => {
  const state = threadWith({ subscriptions: [{ ...CALL, callId: "s" }] });
  it("is received once, and the last one ends the subscription", () => {
    const first = decided(state, eventOf());
    expect(first.records.map(({ type }) => type)).toEqual(["eventReceived"]);
    expect(decided(first.state, eventOf()).records).toEqual([]);
    const last = decided(first.state, eventOf({ digest: "other", eventId: "event 2", final: true }));
    expect(last.records.map(({ type }) => type)).toEqual(["eventReceived", "subscriptionEnded"]);
    expect(last.state.rap.subscriptions).toEqual([]);
    expect(decided(state, eventOf({ callId: "unknown" })).records).toEqual([]);
  });

  it("starts a child if its server wants one", () => {
    const { records } = decided(state, eventOf({ childId: "child" }));
    expect(records).toMatchObject([{ type: "childDue", childId: "child", event: { kind: "event" } }]);
  });
});
