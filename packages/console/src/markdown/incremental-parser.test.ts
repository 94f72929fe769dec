import fc from "fast-check";
import { Lexer } from "marked";
import { describe, expect, it } from "vitest";
import { IncrementalParser } from "./incremental-parser.ts";

const PIECES = [
  ...[
    "word ",
    "a",
    " ",
    "  ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    "    ",
    "- ",
    "* ",
    "1. ",
    "2) ",
    "> ",
    "# ",
    "## ",
  ],
  ...[
    "---\n",
    "===",
    "```",
    "```ts\n",
    "~~~",
    "|",
    "| a | b |\n|-|-|\n",
    "**",
    "_",
    "`",
    "[x]",
    "[x]: /y\n",
    "]:",
  ],
  ...[
    "<div>",
    "</div>\n",
    "<!--",
    "-->",
    "&amp;",
    "\\",
    "[ ] ",
    "https://a.example ",
    "![i](p.png)",
    "(",
    ")",
  ],
];

const fullParse = (text: string) => [...new Lexer({ gfm: true }).lex(text)];

describe("a text that grows", () => {
  it("[CONSOLE-32] is parsed as if it had come at once, however it was cut", () => {
    const parts = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 });
    fc.assert(
      fc.property(parts, (pieces) => {
        const parser = new IncrementalParser();
        let text = "";
        for (const piece of pieces) {
          text += piece;
          expect(parser.parse(text)).toEqual(fullParse(text));
        }
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  it("[CONSOLE-32] parses of a long answer only its end", () => {
    const parser = new IncrementalParser();
    const text = "A paragraph.\n\n- a list\n\n".repeat(200);
    const before = parser.parse(text);
    const after = parser.parse(`${text}More`);
    expect(after.filter((token) => !before.includes(token)).length).toBeLessThan(6);
  });

  it("[CONSOLE-32] parses all of another text", () => {
    const parser = new IncrementalParser();
    parser.parse("# One\n\ntwo\n\nthree\n\nfour");
    expect(parser.parse("Other")).toEqual(fullParse("Other"));
  });
});
