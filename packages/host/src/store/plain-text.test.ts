import { describe, expect, it } from "vitest";
import { plainText } from "./plain-text.ts";

describe("an answer as people see it", () => {
  it.each([
    ["**bold**, *leaning* and `code`", "bold, leaning and code"],
    ["nee**dle**", "needle"],
    ["[a link](http://example.org 'title') and ![a picture](x.png)", "a link and a picture"],
    ["[by name][ref]\n\n[ref]: http://example.org", "by name"],
    ["# Head\n\ntext\nnext line  \nafter a break", "Head text next line after a break"],
    ["- one\n- two\n  1. three\n\n> quoted\n\n---\n\nlast", "one two three quoted last"],
    ["```ts info\nconst  a = 1;\n```\n\n    indented", "const a = 1; indented"],
    ["text\n```\ncode\n```\ntext\n<div>block</div>", "text code text <div>block</div>"],
    ["&amp; &lt;b&gt; \\*not bold\\* a&nbsp;b", "& <b> *not bold* a b"],
    ["<b>html</b> <https://example.org>", "<b>html</b> https://example.org"],
    ["<div>\na block\n</div>", "<div> a block </div>"],
    ["| a | b |\n|---|---|\n| c | d |", "| a | b | |---|---| | c | d |"],
    ["  spaced \t out  ", "spaced out"],
    ["", ""],
  ])("%j is %j", (written, seen) => {
    expect(plainText(written)).toBe(seen);
  });

  it("is read in a time that grows with its length, whatever is in it", () => {
    for (const piece of ["[a](", "*[a](b)", "![[]()", "- ", "> ", "`a", "**_[`", "<a b=", "[a]: x\n"])
      expect(plainText(piece.repeat(20_000))).toEqual(expect.any(String));
  });

  it("stays as it is written past a length, but for spaces", () => {
    expect(plainText(`**a**  ${"b ".repeat(200_000)}`)).toMatch(/^\*\*a\*\* b b /);
    const longest = `**a** ${"b".repeat(256 * 1024 - 6)}`;
    expect([plainText(longest), plainText(`${longest}b`)].map((text) => text.slice(0, 5))).toEqual([
      "a bbb",
      "**a**",
    ]);
  });
});
