import { describe, expect, it } from "vitest";
import { diffCounts, diffLines } from "./diff-lines.ts";

describe("the lines of a diff", () => {
  it("have the numbers of both files", () => {
    const diff =
      "--- a/x\n+++ b/x\n@@ -3,3 +3,4 @@ f()\n same\n-old\n+new\n+more\n end\n\\ No newline at end of file\n";
    const lines = diffLines(diff, "update");
    expect(lines.map(({ kind, text, oldNumber, newNumber }) => [kind, text, oldNumber, newNumber])).toEqual([
      ["place", "@@ -3,3 +3,4 @@ f()", null, null],
      ["same", "same", 3, 3],
      ["removed", "old", 4, null],
      ["added", "new", null, 4],
      ["added", "more", null, 5],
      ["same", "end", 5, 6],
    ]);
    expect(diffCounts(lines)).toEqual({ added: 2, removed: 1 });
  });

  it("of a new and of a deleted file are its content", () => {
    expect(diffLines("a\nb\n", "add").map(({ kind, text }) => [kind, text])).toEqual([
      ["added", "a"],
      ["added", "b"],
    ]);
    expect(diffLines("a\n", "delete")).toEqual([
      { kind: "removed", text: "a", oldNumber: 1, newNumber: null },
    ]);
    expect(diffLines("", "add")).toEqual([]);
  });

  it("of a removed line that looks like a header stay lines", () => {
    expect(diffLines("@@ -1 +1 @@\n--- a\n+++ b\n", "update").map(({ kind, text }) => [kind, text])).toEqual([
      ["place", "@@ -1 +1 @@"],
      ["removed", "-- a"],
      ["added", "++ b"],
    ]);
  });
});
