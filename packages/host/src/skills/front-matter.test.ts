import { describe, expect, it } from "vitest";
import { readFrontMatter } from "./front-matter.ts";

const read = (...lines: string[]): object =>
  Object.fromEntries(readFrontMatter(["---", ...lines, "---", "# Text", "name: not this"].join("\n")));

describe("the head of a skill", () => {
  it("has names and sentences, plain or quoted", () => {
    expect(
      read("name: lint", 'description: "Says \\"no\\": often" # really', "other: 'it''s'", "n: 5 # five"),
    ).toEqual({ name: "lint", description: 'Says "no": often', other: "it's", n: "5" });
  });

  it("may fold a text over lines, or keep them", () => {
    expect(
      read("a: >-", "  one", "  two", "", "  three", "b: |", "  x", "    y", "c: plain", "  goes on"),
    ).toEqual({
      a: "one two\nthree",
      b: "x\n  y",
      c: "plain goes on",
    });
  });

  it("nests once, and values of other kinds are as good as none", () => {
    const lines = [
      "metadata:",
      "  short-description: Short",
      "  deep:",
      "    x: 1",
      "list:",
      "  - a",
      "tags: [a, b]",
    ];
    expect(read(...lines, "# note", "", "name: z")).toMatchObject({
      "metadata.short-description": "Short",
      name: "z",
    });
    expect(read(...lines)).not.toHaveProperty("tags");
  });

  it("is found behind a byte order mark and with CRLF", () => {
    expect(readFrontMatter("\uFEFF---\r\nname: a\r\n---\r\n").get("name")).toBe("a");
  });

  it.each([
    ["no head", "name: a"],
    ["no end", "---\nname: a\n"],
    ["no key", "---\njust words\n---\n"],
    ["an open quote", '---\nname: "a\n---\n'],
    ["another open quote", "---\nname: 'a\n---\n"],
  ])("is refused with a reason: %s", (_what, text) => {
    expect(() => readFrontMatter(text)).toThrow(/\w+ \w+/);
  });
});
