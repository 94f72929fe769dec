import { expect, it } from "vitest";
import { newThread } from "../../../../../test/support/test-thread.ts";
import { OUTSIDE_CALL, withRap } from "../../../../../test/support/tool-server-thread.ts";
import { weightOf } from "../memory-size.ts";
import type { ThreadState } from "../state.ts";
import { isFullFor, isFullForView } from "./memory-limit.ts";
import type { RapState, View } from "./records.ts";

const LIMIT = 16 * 1024 * 1024;
/** An object of this weight. */
const weighing = (weight: number) => ({ x: "y".repeat(weight - weightOf({ x: "" })) });
const event = { id: "e", kind: "event", call: OUTSIDE_CALL, output: "text", success: true } as const;

it("is full beyond 16 MiB, and not at that", () => {
  expect(isFullFor(newThread(), weighing(LIMIT))).toBe(false);
  expect(isFullFor(newThread(), weighing(LIMIT + 1))).toBe(true);
});

it.each<[string, Partial<RapState>]>([
  ["subscriptions", { subscriptions: [OUTSIDE_CALL] }],
  ["deferred calls", { late: [{ ...OUTSIDE_CALL, turnId: "turn-1", until: null }] }],
  ["events", { events: [{ ...event, shown: { content: [], _meta: null } }] }],
  ["choices", { choices: [{ requestId: 1, callId: "c", server: "s", responseUrl: "u", selected: 0 }] }],
  ["views", { views: [{ type: "v", server: "s", callId: "c", content: {} }] }],
  ["names", { keys: ["a name"] }],
])("counts %s", (_, rap) => {
  const held = Object.values(rap).flat()[0];
  const room = LIMIT - weightOf(held);
  expect(isFullFor(withRap(rap), weighing(room))).toBe(false);
  expect(isFullFor(withRap(rap), weighing(room + 1))).toBe(true);
});

it("counts the requests of tool servers, not those of calls", () => {
  const request = { id: 1, at: 1, callId: "c", method: "item/tool/requestUserInput", params: {} };
  const aside = { ...request, aside: { kind: "oauth" } };
  const of = (...requests: readonly object[]) => ({ ...newThread(), requests }) as unknown as ThreadState;
  expect(isFullFor(of(request), weighing(LIMIT))).toBe(false);
  const room = LIMIT - weightOf(aside);
  expect(isFullFor(of(request, aside), weighing(room))).toBe(false);
  expect(isFullFor(of(request, aside), weighing(room + 1))).toBe(true);
});

it("has 8 MiB for views, of which one replaces another of its type and an empty one needs no room", () => {
  const view = (type: string, weight: number): View =>
    ({ type, ...weighing(weight - weightOf({ type }) + 8) }) as unknown as View;
  const half = LIMIT / 2;
  const one = view("one", 1000);
  expect(weightOf(one)).toBe(1000);
  expect(isFullForView(withRap({ views: [one] }), "two", weighing(half - 1000))).toBe(false);
  expect(isFullForView(withRap({ views: [one] }), "two", weighing(half - 999))).toBe(true);
  expect(isFullForView(withRap({ views: [one] }), "one", weighing(half))).toBe(false);
  expect(isFullForView(withRap({ views: [one] }), "one", weighing(half + 1))).toBe(true);
  expect(isFullForView(withRap({ views: [view("one", half + 1)] }), "two", {})).toBe(false);
});
