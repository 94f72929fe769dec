import { expect, it } from "vitest";
import { outputStart, outputTail, SAVED_OUTPUT } from "./output-tail.ts";

it("keeps all of an output up to the limit, and its end beyond that", () => {
  const full = "x".repeat(SAVED_OUTPUT - 1);
  expect(outputTail("a", full)).toBe(`a${full}`);
  expect(outputTail("ab", full)).toBe(`b${full}`);
  expect([outputStart(""), outputStart(`a${full}`), outputStart(`ab${full}`)]).toEqual([0, 0, 1]);
});

it("cuts no character in halves", () => {
  const rest = "x".repeat(SAVED_OUTPUT - 1);
  // The cut falls between the halves of the pair.
  expect(outputTail("😀", rest)).toBe(rest);
  expect(outputTail("y😀", rest.slice(1))).toBe(`😀${rest.slice(1)}`);
  for (const half of ["\udc00", "\udfff"]) expect(outputTail(`a${half}`, rest)).toBe(rest);
  for (const whole of ["\udbff", "\ue000"]) expect(outputTail(`a${whole}`, rest)).toBe(whole + rest);
  // A text that begins with a lone half, and is not cut, stays as it is.
  expect(outputTail("\udc00", "")).toBe("\udc00");
  expect(outputStart("\udc00")).toBe(0);
});
