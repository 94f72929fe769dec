import { describe, expect, it } from "vitest";
import { agoText, bytesText, countText, durationText } from "./quantity-text.ts";

const NOW = new Date(2026, 5, 15, 12).getTime() / 1000;

describe("texts of numbers", () => {
  it.each([
    [0, "now"],
    [59, "now"],
    [-30, "now"],
    [60, "1m"],
    [3599, "59m"],
    [3600, "1h"],
    [86_399, "23h"],
    [86_400, "1d"],
    [8 * 86_400, "Jun 7"],
    [400 * 86_400, "May 11, 2025"],
  ])("%i seconds ago", (age, text) => {
    expect(agoText(NOW - age, NOW)).toBe(text);
  });

  it.each([
    [40, "40 ms"],
    [1234, "1.2 s"],
    [34_000, "34 s"],
    [125_000, "2 min 5 s"],
    [120_000, "2 min"],
    [7_500_000, "2 h 5 min"],
  ])("%i ms", (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  it("has units for counts and bytes", () => {
    expect([812, 4120, 41_200, 1_234_567].map(countText)).toEqual(["812", "4.1k", "41k", "1.2M"]);
    expect([512, 2048, 300 * 1024 ** 2].map(bytesText)).toEqual(["512 B", "2.0 KiB", "300 MiB"]);
  });
});
