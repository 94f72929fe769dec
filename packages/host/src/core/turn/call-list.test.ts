import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { addCall, allSettled, findCall, othersSettled, rewriteCall, stageCall } from "./call-list.ts";
import { type CallStage, type CallState, isSettled } from "./call-stages.ts";

const STAGES: readonly CallStage[] = [
  { kind: "proposed" },
  { kind: "dispatched", again: false },
  { kind: "waiting", until: null },
  { kind: "settled" },
];

const call = (callId: string) => ({
  callId,
  name: "tool",
  namespace: null,
  arguments: "{}",
  kind: "function" as const,
});

/** The reference implementation, without an index. */
function naive(calls: readonly CallState[], callId: string) {
  const found = calls.find((one) => one.call.callId === callId);
  return {
    found,
    settled: calls.every(isSettled),
    others: found && calls.filter((one) => one !== found).every(isSettled),
  };
}

describe("a list of calls", () => {
  it("finds and counts its calls, whichever lists were made of it or it was made of", () => {
    const act = fc.record({
      on: fc.nat(20),
      add: fc.boolean(),
      id: fc.nat(5).map(String),
      stage: fc.constantFrom(...STAGES),
    });
    fc.assert(
      fc.property(fc.array(act, { maxLength: 40 }), (acts) => {
        const lists: (readonly CallState[])[] = [[]];
        for (const { on, add, id, stage } of acts) {
          const from = lists[on % lists.length]!;
          const before = structuredClone(from);
          // A damaged journal may contain the same ID twice.
          const made = add ? addCall(from, call(id)) : stageCall(from, id, stage);
          expect(from).toEqual(before);
          expect(made).toEqual(
            add
              ? [...from, { call: call(id), stage: { kind: "proposed" } }]
              : from.map((one) => (one.call.callId === id ? { ...one, stage } : one)),
          );
          lists.push(made);
        }
        for (const list of lists) {
          for (const id of ["0", "1", "2", "3", "4", "5", "6"]) {
            const { found, settled, others } = naive(list, id);
            expect(findCall(list, id)).toBe(found);
            expect(allSettled(list)).toBe(settled);
            if (found !== undefined) expect(othersSettled(list, found)).toBe(others);
          }
        }
      }),
    );
  });

  it("looks at each call a few times, not once for each other one", () => {
    let looks = 0;
    const counting = (callId: string) => ({
      ...call(callId),
      get callId() {
        looks++;
        return callId;
      },
    });
    const count = 2000;
    let calls: readonly CallState[] = [];
    for (let nth = 0; nth < count; nth++) calls = addCall(calls, counting(`c${nth}`));
    for (const stage of STAGES.slice(1)) {
      for (let nth = 0; nth < count; nth++) {
        expect(findCall(calls, `c${nth}`)).toBeDefined();
        calls = stageCall(calls, `c${nth}`, stage);
      }
    }
    expect(allSettled(calls)).toBe(true);
    expect(looks).toBeLessThan(20 * count);
  });
});

it("gives one call other arguments, and still finds and counts the others", () => {
  const [first, second] = ["a", "b"].map(call) as [ReturnType<typeof call>, ReturnType<typeof call>];
  const before = stageCall(addCall(addCall([], first), second), "a", { kind: "settled" });
  const after = rewriteCall(before, "b", '{"x":1}');
  expect(after.map((one) => one.call.arguments)).toEqual(["{}", '{"x":1}']);
  expect(before.map((one) => one.call.arguments)).toEqual(["{}", "{}"]);
  expect(after.map((one) => one.stage.kind)).toEqual(["settled", "proposed"]);
  expect(findCall(after, "b")).toBe(after[1]);
  expect([allSettled(after), othersSettled(after, after[1]!)]).toEqual([false, true]);
  expect(rewriteCall(before, "unknown", "[]")).toEqual(before);
});

it("moves every call of an id to a stage, if a damaged journal has the id twice", () => {
  const twice = addCall(addCall(addCall([], call("a")), call("b")), call("a"));
  const kinds = (calls: readonly CallState[]) => calls.map(({ stage }) => stage.kind);
  expect(kinds(stageCall(twice, "a", { kind: "settled" }))).toEqual(["settled", "proposed", "settled"]);
  expect(kinds(stageCall(twice, "c", { kind: "settled" }))).toEqual(["proposed", "proposed", "proposed"]);
});
