import type { ThreadItem } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import {
  after,
  decided,
  endModelCall,
  newThread,
  startTurn,
} from "../../../../../test/support/test-thread.ts";
import type { Command } from "../commands.ts";
import { fold } from "../fold.ts";
import type { ThreadRecord } from "../records.ts";
import type { ThreadState } from "../state.ts";
import type { CallStep } from "./call-stages.ts";

const TURN = "turn-1";
const called = (callId: string): Command => ({
  kind: "toolCalled",
  at: 2,
  turnId: TURN,
  attempt: 1,
  call: { callId, name: "act", namespace: null, arguments: "{}", kind: "function" },
});
const sampled = endModelCall();
type From = "proposed" | "dispatched" | "waiting";
const step = (taken: CallStep, from: From = "proposed", callId = "a"): Command => ({
  kind: "stepCall",
  at: 4,
  turnId: TURN,
  callId,
  from: from as "proposed",
  step: taken,
});
const settle = (more: object = {}): CallStep =>
  ({ kind: "settle", output: "done", success: true, ...more }) as CallStep;
const item = (type: "mcpToolCall" | "commandExecution", id = "a"): ThreadItem =>
  ({ type, id, status: "inProgress", startedAtMs: 4, completedAtMs: null }) as unknown as ThreadItem;

/** A turn whose model has answered with these calls. */
const calling = (...callIds: readonly string[]): ThreadState =>
  after(newThread(), startTurn(TURN), ...callIds.map(called), sampled);
const of = <T extends ThreadRecord["type"]>(records: readonly ThreadRecord[], type: T) =>
  records.filter((record) => record.type === type) as Extract<ThreadRecord, { type: T }>[];
const types = (records: readonly ThreadRecord[]) => records.map(({ type }) => type);

describe("a call that asks a client", () => {
  it("sends a request with what the tool needs for the answer, and nothing else", () => {
    const params = { threadId: "t", turnId: TURN, callId: "a", namespace: null, tool: "act", arguments: {} };
    const ask = {
      kind: "ask",
      requestId: 7,
      reviewId: "review",
      fingerprint: "f",
      ask: { method: "item/tool/call", params },
    } as const;
    const requests = (more: object) =>
      of(decided(calling("a"), step({ ...ask, ...more })).records, "requestSent").map(
        ({ request }) => request,
      );
    const request = { ...ask.ask, id: 7, at: 4, turnId: TURN, callId: "a" };
    expect(requests({})).toStrictEqual([request]);
    const more = { question: "q", argumentsJson: '{"n":1e400}' };
    expect(requests(more)).toStrictEqual([{ ...request, ...more }]);
  });
});

describe("a call that is sent to its tool", () => {
  it("is recorded with what the next host needs, and nothing else", () => {
    const bare = decided(calling("a"), step({ kind: "dispatch", again: true })).records;
    expect(bare).toEqual([{ type: "toolDispatched", turnId: TURN, at: 4, callId: "a", again: true }]);
    const plan = { closes: "child" };
    const full: CallStep = { kind: "dispatch", again: false, via: "desk", until: 99, plan, grant: "key" };
    expect(decided(calling("a"), step({ ...full, item: item("mcpToolCall") })).records).toEqual([
      { type: "approvalGranted", turnId: TURN, key: "key", grantedAt: 4 },
      { type: "itemStarted", turnId: TURN, at: 4, item: item("mcpToolCall") },
      {
        type: "toolDispatched",
        turnId: TURN,
        at: 4,
        callId: "a",
        again: false,
        via: "desk",
        until: 99,
        plan,
      },
    ]);
  });

  it("is not sent again from a stage that it has left", () => {
    const sent = after(calling("a"), step({ kind: "dispatch", again: false }));
    expect(decided(sent, step({ kind: "dispatch", again: false })).records).toEqual([]);
    expect(decided(sent, step(settle(), "dispatched", "unknown")).records).toEqual([]);
  });
});

describe("a call that is settled", () => {
  it("has its blobs in its answer, and in an item that shows the output", () => {
    const blobs = { "kept:x": "x.png" };
    const shown = decided(calling("a"), step(settle({ item: item("mcpToolCall"), blobs }))).records;
    expect(types(shown)).toEqual(["itemStarted", "itemCompleted", "toolAnswered", "sampleRequested"]);
    expect(of(shown, "itemCompleted")[0]).toMatchObject({ blobs });
    expect(of(shown, "toolAnswered")[0]).toMatchObject({ output: "done", success: true, blobs });
    const command = decided(calling("a"), step(settle({ item: item("commandExecution"), blobs }))).records;
    expect(of(command, "itemCompleted")[0]).not.toHaveProperty("blobs");
    const without = decided(calling("a"), step(settle({ item: item("mcpToolCall") }))).records;
    expect(of(without, "itemCompleted")[0]).not.toHaveProperty("blobs");
    expect(of(without, "toolAnswered")[0]).not.toHaveProperty("blobs");
  });

  it("calls the model again after the last one alone", () => {
    const first = decided(calling("a", "b"), step(settle()));
    expect(types(first.records)).toEqual(["toolAnswered"]);
    expect(types(decided(first.state, step(settle(), "proposed", "b")).records)).toEqual([
      "toolAnswered",
      "sampleRequested",
    ]);
  });

  it("completes the item that clients saw, also if the tool has none", () => {
    const dispatch: CallStep = { kind: "dispatch", again: false, item: item("commandExecution") };
    const sent = after(calling("a"), step(dispatch));
    const { records } = decided(sent, step(settle(), "dispatched"));
    expect(of(records, "itemStarted")).toEqual([]);
    expect(of(records, "itemCompleted")).toMatchObject([{ item: { id: "a", completedAtMs: 4 } }]);
    expect(of(records, "itemCompleted")[0]?.item).not.toMatchObject({ status: "inProgress" });
  });

  it("records the plan, the grant and the subscription that it ends", () => {
    const plan = { explanation: "why", steps: [{ step: "one", status: "pending" }] };
    const { records } = decided(calling("a"), step(settle({ plan, grant: "key", unsubscribe: "s" })));
    expect(types(records).slice(0, 3)).toEqual(["approvalGranted", "planUpdated", "subscriptionEnded"]);
    expect(records[1]).toMatchObject({ explanation: "why", plan: plan.steps });
    expect(records[2]).toMatchObject({ callId: "s", by: "cancelled" });
  });

  it("is cancelled at the tool server if it waited there, and not if it waited for a helper", () => {
    const sent = after(calling("a"), step({ kind: "dispatch", again: false, via: "desk" }));
    expect(types(decided(sent, step(settle(), "dispatched")).records)).not.toContain("callCancelled");
    const waiting = after(sent, step({ kind: "wait", until: 50 }, "dispatched"));
    expect(of(decided(waiting, step(settle(), "waiting")).records, "callCancelled")).toMatchObject([
      { turnId: TURN, callId: "a" },
    ]);
    const helped = fold(calling("a"), {
      type: "toolWaiting",
      turnId: TURN,
      at: 4,
      callId: "a",
      until: null,
      awaits: { kind: "ends", childIds: ["child"] },
    });
    expect(types(decided(helped, step(settle(), "waiting")).records)).not.toContain("callCancelled");
  });
});

describe("a call whose user cancels the turn", () => {
  it("ends the turn, and completes its item once", () => {
    const sent = after(
      calling("a"),
      step({ kind: "dispatch", again: false, item: item("commandExecution") }),
    );
    const declined = { ...item("commandExecution"), status: "declined", completedAtMs: 4 } as ThreadItem;
    const { records, state } = decided(sent, step({ kind: "interrupt", item: declined }, "dispatched"));
    expect(of(records, "itemCompleted")).toMatchObject([{ item: { id: "a", status: "declined" } }]);
    expect(of(records, "turnEnded")).toMatchObject([{ status: "interrupted" }]);
    expect(state.turn).toBeNull();
    const bare = decided(sent, step({ kind: "interrupt" }, "dispatched")).records;
    expect(of(bare, "itemCompleted")).toMatchObject([{ item: { id: "a" } }]);
    expect(of(bare, "turnEnded")).toHaveLength(1);
  });
});
