import { expect, it } from "vitest";
import { newThread } from "../../../../../test/support/test-thread.ts";
import { type ContextEntry, contextAfter, contextGiven, contextOf } from "./additional-context.ts";

const entry = (key: string, value = "v", kind: ContextEntry["kind"] = "application"): ContextEntry => ({
  key,
  kind,
  value,
});
const given = (known: readonly ContextEntry[], now: readonly ContextEntry[]) =>
  contextGiven({ ...newThread(), context: known }, "turn-1", 1, now);

it("sorts entries by their keys, and cuts long values in the middle", () => {
  const limit = `${"a".repeat(2000)}${"b".repeat(2000)}`;
  const [first, second, third] = contextOf({
    c: { kind: "untrusted", value: `${"a".repeat(2000)}-----${"b".repeat(2000)}` },
    a: { kind: "application", value: "short" },
    b: { kind: "application", value: limit },
  });
  expect(first).toEqual(entry("a", "short"));
  expect(second).toEqual(entry("b", limit));
  expect(third).toEqual(
    entry("c", `${"a".repeat(2000)}…5 characters left out…${"b".repeat(2000)}`, "untrusted"),
  );
});

it("records what is new or changed, and what stays", () => {
  const known = [entry("a"), entry("b"), entry("c"), entry("d")];
  const now = [entry("a"), entry("b", "other"), entry("c", "v", "untrusted"), entry("e")];
  const [record, ...others] = given(known, now);
  expect(others).toEqual([]);
  expect(record).toEqual({
    type: "contextGiven",
    turnId: "turn-1",
    at: 1,
    entries: [now[1], now[2], now[3]],
    kept: ["a"],
  });
  expect(contextAfter(known, record as never)).toEqual([entry("a"), now[1], now[2], now[3]]);
});

it("records nothing for the same context again, and the removal of an entry", () => {
  const known = [entry("a"), entry("b")];
  expect(given(known, known)).toEqual([]);
  expect(given([], [])).toEqual([]);
  expect(given(known, [entry("b")])).toMatchObject([{ entries: [], kept: ["b"] }]);
  expect(given(known, [])).toMatchObject([{ entries: [], kept: [] }]);
});
