import { describe, expect, it } from "vitest";
import { recordedScores } from "../../../../test/support/recorded-scores.ts";
import { PathMatcher, preparePath } from "./path-matcher.ts";

const score = (query: string, path: string): number | undefined =>
  new PathMatcher(query).score(preparePath(path));
const indices = (query: string, path: string): number[] => new PathMatcher(query).indices(preparePath(path));

/** All paths of the recording, folders included. */
const paths = [
  ...new Set(
    Object.values(recordedScores)
      .flat()
      .map(([path]) => path),
  ),
];

describe("a path", () => {
  it.each(Object.entries(recordedScores))(
    "[SEARCH-2] is scored as the Codex CLI does for %s",
    (query, rows) => {
      const ours = paths.flatMap((path) => {
        const found = score(query, path);
        return found === undefined ? [] : [[path, found, indices(query, path).join(" ")] as const];
      });
      const sorted = (all: readonly (readonly [string, number, string])[]) =>
        [...all].sort(([one], [other]) => (one < other ? -1 : 1));
      expect(sorted(ours)).toEqual(sorted(rows));
    },
  );

  it("[SEARCH-2] is compared without case and marks, unless the query has marks", () => {
    expect(score("cafe", "Café.ts")).toBe(score("cafe", "cafe.ts"));
    expect(indices("cafe", "src/Café.ts")).toEqual([4, 5, 6, 7]);
    expect(score("café", "cafe.ts")).toBeUndefined();
    expect(score("café", "CAFÉ.ts")).toBeDefined();
    expect(score("ørsted", "orsted.md")).toBeUndefined();
    expect(score("orsted", "Ørsted.md")).toBeDefined();
    // A grapheme cluster counts as one letter.
    expect(indices("b", "👩‍👩‍👧/e\u0301/b")).toEqual([4]);
    expect(indices("日本", "x/日本語.txt")).toEqual([2, 3]);
    expect(score("😀", "a/😀.png")).toBeDefined();
    expect(score("😀", "a/😁.png")).toBeUndefined();
  });

  it("is found whatever its length is", () => {
    const long = `${"a/".repeat(2000)}target.ts`;
    expect(indices("target", long)).toEqual([4000, 4001, 4002, 4003, 4004, 4005]);
    expect(score("a".repeat(1000), long)).toBeDefined();
  });
});
