import { expect, it } from "vitest";
import { cutToWidth, textWidth } from "./text-width.ts";

it("counts the columns that a terminal uses", () => {
  for (const [line, columns] of [
    ["", 0],
    ["plain", 5],
    ["e\u0301", 1],
    ["日本", 4],
    ["👩‍👩‍👧", 2],
  ] as const)
    expect([line, textWidth(line)]).toEqual([line, columns]);
});

it("cuts between letters, and keeps to the width", () => {
  expect(cutToWidth("plain", 5)).toBe("plain");
  expect(cutToWidth("plains", 5)).toBe("plai…");
  expect(cutToWidth("日本語", 4)).toBe("日…");
  expect(cutToWidth("a👩‍👩‍👧bc", 3)).toBe("a…");
});
