import { expect, it } from "vitest";
import { deadlineMs } from "./deadlines.ts";

it.each([
  [undefined, 3000],
  ["1", 3000],
  ["2.5", 7500],
  ["100", 300_000],
  ["101", 3000],
  ["0", 3000],
  ["-4", 3000],
  ["", 3000],
  ["soon", 3000],
  ["Infinity", 3000],
])("a deadline of 3 s with a factor of %j takes %d ms", (factor, ms) => {
  expect(deadlineMs(3000, { BOBBIN_DEADLINE_FACTOR: factor })).toBe(ms);
});
