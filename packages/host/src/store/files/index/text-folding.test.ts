import { expect, it } from "vitest";
import { folded } from "./text-folding.ts";

it.each([
  ["", null],
  ["plain ASCII, Any Case", null],
  ["東京", null],
  ["straße", null],
  ["Über Café", "uber Cafe"],
  ["ΩΜΈΓΑ ωμέγα", "ωμεγα ωμεγα"],
  ["ПРИВЕТ й", "привет й"],
  ["Ångström ñ", "angstrom n"],
  // Longer in lower case, and as long as before without its dot.
  ["İstanbul", "istanbul"],
  ["𝕏 😀 é", "𝕏 😀 e"],
  // A mark that stands alone stays.
  ["\u{1d242} É", "\u{1d242} e"],
  // Beyond the basic plane, with a lower case.
  ["𐐀", "𐐨"],
])("%j becomes %j", (text, expected) => {
  const found = folded(text);
  expect(found).toBe(expected);
  expect((found ?? text).length).toBe(text.length);
});

it("gives the same for a letter whatever other letters it has seen", () => {
  const many = Array.from({ length: 12_000 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join("");
  for (const text of [many, many]) {
    expect(folded(text)).toBeNull();
    expect(folded("É")).toBe("e");
  }
});
