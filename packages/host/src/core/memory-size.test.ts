import { expect, it } from "vitest";
import { knownWeight, weightOf } from "./memory-size.ts";

it("counts the characters of texts and names, and a little for each value", () => {
  expect([weightOf("four"), weightOf(1), weightOf(null), weightOf(undefined)]).toEqual([4, 8, 8, 8]);
  expect(weightOf(["ab", "c"])).toBe(8 + 3);
  expect(weightOf({ name: "ab", list: [true] })).toBe(8 + 4 + 2 + 4 + 8 + 8);
});

it("weighs a value that never changes once", () => {
  const value = { text: "ab" };
  expect(knownWeight(value)).toBe(14);
  value.text = "abcdef";
  expect(knownWeight(value)).toBe(14);
  for (const plain of [null, undefined, 3, "four"]) expect(knownWeight(plain)).toBe(weightOf(plain));
});
