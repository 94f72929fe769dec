import { describe, expect, it } from "vitest";
import { triggerAt } from "./completion-trigger.ts";
import { textPieces } from "./items/text-pieces.ts";
import { mentionOf, messageInput } from "./message-input.ts";

const PICTURE = "data:image/png;base64,AA==";

describe("the parts of a message", () => {
  it("are its text, the files that it mentions, and pictures", () => {
    const mentions = new Map([
      ["@src/ä.ts", "/work/src/ä.ts"],
      ['@"a b.md"', "/work/a b.md"],
      ["@logo.png", "/work/logo.png"],
      ["@gone.ts", "/work/gone.ts"],
    ]);
    const text = 'Grüße: @src/ä.ts, "@src/ä.ts" and @"a b.md" @logo.png.';
    const input = messageInput(text, mentions, [PICTURE]);
    expect(input.slice(1)).toEqual([
      { type: "mention", name: "src/ä.ts", path: "/work/src/ä.ts" },
      { type: "mention", name: "a b.md", path: "/work/a b.md" },
      { type: "localImage", path: "/work/logo.png" },
      { type: "image", url: PICTURE },
    ]);
    const [part] = input;
    if (part?.type !== "text") throw new Error("the text comes first");
    expect(part.text).toBe(text);
    const marked = textPieces(part.text, part.text_elements ?? []);
    expect(marked.filter(({ isElement }) => isElement).map((piece) => piece.text)).toEqual([
      "@src/ä.ts",
      '@"a b.md"',
      "@logo.png",
    ]);
    expect(marked.map((piece) => piece.text).join("")).toBe(text);
  });

  it("do not include a file whose name only begins a word", () => {
    const mentions = new Map([["@a", "/work/a"]]);
    expect(messageInput("@a.ts x@a @a1", mentions, [])).toEqual([{ type: "text", text: "@a.ts x@a @a1" }]);
  });

  it("have no text if there is only a picture", () => {
    expect(messageInput(" ", new Map(), [PICTURE])).toEqual([{ type: "image", url: PICTURE }]);
  });

  it("quote paths with spaces", () => {
    expect([mentionOf("a.ts"), mentionOf("a b.ts")]).toEqual(["@a.ts", '@"a b.ts"']);
  });
});

describe("marked ranges of a text", () => {
  it("are ignored if they overlap or are outside of the text", () => {
    const range = (start: number, end: number) => ({ byteRange: { start, end } });
    const pieces = textPieces("abcdef", [range(4, 99), range(1, 3), range(2, 5), range(5, 4), range(-1, 1)]);
    expect(pieces).toEqual([
      { text: "a", isElement: false },
      { text: "bc", isElement: true },
      { text: "def", isElement: false },
    ]);
  });
});

describe("the word at the caret", () => {
  it.each([
    ["@", 1, { kind: "file", query: "", from: 0, to: 1 }],
    ["see @src/a and", 10, { kind: "file", query: "src/a", from: 4, to: 10 }],
    ["/re", 3, { kind: "command", query: "re", from: 0, to: 3 }],
    ["mail me@example.org", 19, undefined],
    [" /re", 4, undefined],
    ["/rename a", 9, undefined],
    ["@a b", 4, undefined],
  ])("asks for suggestions: %s", (text, caret, trigger) => {
    expect(triggerAt(text, caret)).toEqual(trigger);
  });
});
