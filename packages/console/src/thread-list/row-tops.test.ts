import { expect, it } from "vitest";
import { rowAt, rowTops } from "./row-tops.ts";

it("finds the row at a height among rows of different heights", () => {
  const tops = rowTops([40, 60, 60, 40], (height) => height);
  expect([...tops]).toEqual([0, 40, 100, 160, 200]);
  expect([0, 39, 40, 99, 100, 199, 5000].map((pixels) => rowAt(tops, pixels))).toEqual([0, 0, 1, 1, 2, 3, 3]);
  expect(
    rowAt(
      rowTops([], () => 1),
      10,
    ),
  ).toBe(0);
});
