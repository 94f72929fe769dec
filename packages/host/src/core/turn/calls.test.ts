import { expect, it } from "vitest";
import { uniqueCallId } from "./calls.ts";

/** The names of calls that a model gives these names, one after the other. */
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
