import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { highlightedRuns } from "./grammars.ts";
import { languageOf, languageOfFile } from "./languages.ts";
import { lineRuns, type TokenRun } from "./token-runs.ts";

const LANGUAGES = [
  ...["bash", "c", "cpp", "csharp", "css", "diff", "dockerfile", "go", "ini", "java", "javascript", "json"],
  ...["kotlin", "lua", "makefile", "markdown", "php", "python", "ruby", "rust", "sql", "swift", "typescript"],
  ...["xml", "yaml"],
];

/** The pieces of a text with their kinds; plain ones are left out. */
function pieces(text: string, runs: readonly TokenRun[]): string[] {
  let at = 0;
  return runs.flatMap(([kind, length]) => {
    const piece = text.slice(at, at + length);
    at += length;
    return kind === "" ? [] : [`${kind}: ${piece}`];
  });
}

describe("highlighting", () => {
  it("[CONSOLE-43] finds the tokens of code", () => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: it is code.
    const text = 'const x: number = 1; // "one"\nreturn `a${x}`;';
    expect(pieces(text, highlightedRuns(text, "typescript")!)).toEqual([
      "keyword: const",
      "attribute: x",
      "type: number",
      "number: 1",
      'comment: // "one"',
      "keyword: return",
      "string: `a",
      "string: `",
    ]);
  });

  it("[CONSOLE-43] accounts for every character of any text, in each language", () => {
    const parts = fc.constantFrom(
      "a",
      " ",
      "\n",
      '"',
      "'",
      "`",
      "</script>",
      "/*",
      "*/",
      "//",
      "#",
      "${",
      "}",
      "é",
      "1",
    );
    fc.assert(
      fc.property(fc.constantFrom(...LANGUAGES), fc.array(parts, { maxLength: 30 }), (language, all) => {
        const text = all.join("");
        const total = highlightedRuns(text, language)!.reduce((sum, [, length]) => sum + length, 0);
        expect(total).toBe(text.length);
      }),
      { seed: 1, numRuns: 150 },
    );
  });

  it("[CONSOLE-43] divides tokens that go over several lines", () => {
    const text = "a /* b\nc */\n\nd";
    const runs = [
      ["", 2],
      ["comment", 9],
      ["", 3],
    ] as const;
    expect(lineRuns(text, runs)).toEqual([
      [
        ["", 2],
        ["comment", 4],
      ],
      [["comment", 4]],
      [],
      [["", 1]],
    ]);
  });

  it("[CONSOLE-43] knows languages by their names and by files", () => {
    expect(LANGUAGES.map(languageOf)).toEqual(LANGUAGES);
    for (const [name, language] of [
      ["TS", "typescript"],
      ["sh", "bash"],
      ["html", "xml"],
      ["", undefined],
      ["constructor", undefined],
    ] as const)
      expect(languageOf(name), name).toBe(language);
    expect(languageOfFile("/a.b/c/main.test.py")).toBe("python");
    expect(languageOfFile("Dockerfile")).toBe("dockerfile");
    expect(languageOfFile("/a.ts/README")).toBeUndefined();
  });
});
