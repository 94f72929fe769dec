import { expect, it } from "vitest";
import { plainTerminalText } from "./terminal-text.ts";

it.each([
  ["plain\ntext", "plain\ntext"],
  ["\u001b[1;31mred\u001b[0m and \u001b[2Kcleared", "red and cleared"],
  ["\u001b]0;title\u0007prompt", "prompt"],
  ["a\r\nb\r\n", "a\nb\n"],
  ["10%\r50%\r100%\ndone", "100%\ndone"],
  ["nul\u0000bell\u0007", "nulbell"],
  ["cut off \u001b[3", "cut off [3"],
])("shows %j as %j", (text, shown) => {
  expect(plainTerminalText(text)).toBe(shown);
});
