import type { ThreadItem } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import type { TurnState } from "../state.ts";
import { type CallStage, givenUp, KEPT_CALL_IDS, onlyWaits, uniqueCallId } from "./call-stages.ts";

/** The call IDs of a thread whose model gives these IDs, in order. */
function named(names: readonly string[]): readonly string[] {
  let callIds: readonly string[] = [];
  return names.map((name, callCount) => {
    const callId = uniqueCallId(name, { callIds, callCount });
    callIds = [...callIds.slice(-63), callId];
    return callId;
  });
}

it("a call keeps the name that its model gave it, unless it is no name or not the only one", () => {
  expect(named(["call_1", "call_2", "call_1", "call_1", "a b", "", "x".repeat(65)])).toEqual([
    "call_1",
    "call_2",
    "call_1-2",
    "call_1-3",
    "a_b-2",
    "call-2",
    `${"x".repeat(48)}-2`,
  ]);
});

it("no two calls of a thread have one name, however many there are", () => {
  for (const repeated of [["call_1"], ["0", "1", "2"], Array.from({ length: 80 }, (_, nth) => `n${nth}`)]) {
    const all = named(Array.from({ length: 500 }, (_, nth) => repeated[nth % repeated.length]!));
    expect(new Set(all).size).toBe(500);
    for (const callId of all) expect(callId).toMatch(/^[\w-]{1,64}$/);
  }
});

it("a name has the number of its call as soon as old names are forgotten", () => {
  const nth = (callCount: number) => uniqueCallId("call", { callIds: [], callCount });
  expect(nth(KEPT_CALL_IDS - 1)).toBe("call");
  expect(nth(KEPT_CALL_IDS)).toBe(`call-${KEPT_CALL_IDS + 1}`);
  const taken = (callCount: number) => uniqueCallId("call", { callIds: ["call"], callCount });
  expect(taken(KEPT_CALL_IDS - 1)).toBe("call-2");
  expect(taken(KEPT_CALL_IDS)).toBe(`call-${KEPT_CALL_IDS + 1}`);
});

it("a turn only waits if each of its calls is settled, or waits for a client or a tool", () => {
  const waits = (...stages: readonly CallStage[]): boolean => {
    const calls = stages.map((stage) => ({ stage }));
    return onlyWaits({ phase: { kind: "calling", calls } } as unknown as TurnState);
  };
  const waiting: CallStage = { kind: "waiting", until: null };
  expect(waits(waiting, { kind: "settled" }, { kind: "asking", requestId: 1 })).toBe(true);
  expect(waits(waiting, { kind: "proposed" })).toBe(false);
  expect(waits({ kind: "dispatched", again: false })).toBe(false);
});

describe("the item of a call that was given up", () => {
  const failed = (item: object) => givenUp(item as ThreadItem, 9);

  it.each([
    ["fileChange", { status: "failed" }],
    ["collabAgentToolCall", { status: "failed" }],
    ["mcpToolCall", { status: "failed", error: { message: "The call was given up." }, durationMs: 4 }],
    ["dynamicToolCall", { status: "failed", contentItems: [], success: false, durationMs: 4 }],
    ["commandExecution", { status: "failed", exitCode: -1, durationMs: 4 }],
    ["agentMessage", {}],
  ])("of the type %s", (type, more) => {
    const item = { type, id: "i", status: "inProgress", startedAtMs: 5 };
    expect(failed(item)).toEqual({ ...item, ...more });
  });

  it("keeps an exit code, and has no duration if its start is unknown", () => {
    const item = { type: "commandExecution", id: "i", exitCode: 3 };
    expect(failed(item)).toMatchObject({ exitCode: 3, durationMs: null });
    expect(failed({ ...item, startedAtMs: null })).toMatchObject({ durationMs: null });
  });
});
