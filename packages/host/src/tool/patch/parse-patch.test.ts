import { describe, expect, it } from "vitest";
import { PatchError, parsePatch } from "./parse-patch.ts";

const wrapped = (body: string): string => `*** Begin Patch\n${body}\n*** End Patch`;

function problemOf(text: string): string {
  try {
    parsePatch(text);
  } catch (cause) {
    expect(cause).toBeInstanceOf(PatchError);
    return (cause as PatchError).message;
  }
  throw new Error("it was read");
}

describe("a patch", () => {
  it("adds, deletes, updates and moves files", () => {
    const text = wrapped(
      "*** Add File: new.txt\n+one\n+\n*** Delete File: old.txt\n*** Update File: a.txt\n*** Move to: b.txt\n@@ fn x\n keep\n-gone\n+here\n*** End of File",
    );
    expect(parsePatch(text)).toEqual([
      { kind: "add", path: "new.txt", lines: ["one", ""] },
      { kind: "delete", path: "old.txt" },
      {
        kind: "update",
        path: "a.txt",
        moveTo: "b.txt",
        hunks: [
          {
            patchLine: 8,
            anchors: ["fn x"],
            edits: [
              { kind: "keep", text: "keep" },
              { kind: "remove", text: "gone" },
              { kind: "add", text: "here" },
            ],
            atEnd: true,
          },
        ],
      },
    ]);
  });

  it("may have blank lines, a heredoc or CRLF around it, and a move without changes", () => {
    const plain = parsePatch(wrapped("*** Add File: a\n+x"));
    expect(parsePatch(`\n\n${wrapped("*** Add File: a\n+x")}\n\n`)).toEqual(plain);
    expect(parsePatch(`<<'EOF'\n${wrapped("*** Add File: a\n+x")}\nEOF\n`)).toEqual(plain);
    expect(parsePatch(`${wrapped("*** Add File: a\n+x").replaceAll("\n", "\r\n")}\r\n`)).toEqual(plain);
    expect(parsePatch(wrapped("*** Update File: a\n*** Move to: b"))).toEqual([
      { kind: "update", path: "a", moveTo: "b", hunks: [] },
    ]);
  });

  it("ignores line numbers, which are often wrong, and blank lines between files", () => {
    const [first, second] = parsePatch(
      wrapped("*** Update File: a\n@@ -1,3 +1,3 @@ fn\n-x\n+y\n\n*** Update File: b\n@@ -9 +9 @@\n-x\n+y"),
    );
    expect(first).toMatchObject({ hunks: [{ anchors: ["fn"], edits: [{ text: "x" }, { text: "y" }] }] });
    expect(second).toMatchObject({ hunks: [{ anchors: [] }] });
  });

  it("that cannot be read names the line and what is wrong", () => {
    expect(problemOf("rubbish")).toContain('The first line of a patch is "*** Begin Patch"');
    expect(problemOf("*** Begin Patch\nrubbish")).toContain('The last line of a patch is "*** End Patch"');
    expect(problemOf(wrapped(""))).toBe("The patch changes no file.");
    expect(problemOf(wrapped("rubbish"))).toContain("Line 2 of the patch stands outside of a file");
    expect(problemOf(wrapped("*** Add File: a\nx"))).toContain('Line 3 of the patch has to begin with "+"');
    expect(problemOf(wrapped("*** Update File: a\n@@\nx"))).toContain(
      "Line 4 of the patch has to begin with",
    );
    expect(problemOf(wrapped("*** Update File: a"))).toContain("says no change of a");
    expect(problemOf(wrapped("*** Update File: a\n@@"))).toContain("begins a hunk without lines");
    expect(problemOf("x".repeat(5_000_000))).toContain("longer than");
  });
});
