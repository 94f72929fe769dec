import { expect, it } from "vitest";
import { visibleJson, visibleLine } from "./visible-text.ts";

it("shows every character that is invisible or moves others, and leaves the rest", () => {
  expect(visibleLine("rm -rf ä 漢 é 👍 ~/x")).toBe("rm -rf ä 漢 é 👍 ~/x");
  expect(visibleLine("a\nb\rc\td\u001b[2K")).toBe("a␊b␍c␉d␛[2K");
  const hidden =
    "\u007f\u0085\u00a0\u00ad\u061c\u115f\u200b\u200e\u2028\u2029\u202e\u2066\u3000\ufe0f\ufeff\u{e0041}";
  for (const character of hidden)
    expect(visibleLine(`a${character}b`)).toBe(
      `a<U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}>b`,
    );
});

it("writes JSON that shows them, too, and is read as the same text", () => {
  const text = 'one\u001b[2K\n"\u202e\u00a0\u{e0041}ä';
  expect(visibleJson(text)).toBe('"one\\u001b[2K\\n\\"\\u202E\\u00A0\\uDB40\\uDC41ä"');
  expect(JSON.parse(visibleJson(text))).toBe(text);
});
