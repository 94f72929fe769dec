import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { applyHunks } from "./apply-hunks.ts";
import { fromByteText, toByteText } from "./byte-text.ts";
import { type FilePatch, PatchError, parsePatch } from "./parse-patch.ts";
import { unifiedHunks } from "./unified-hunks.ts";

type Update = Extract<FilePatch, { kind: "update" }>;

function hunksOf(body: string): Update["hunks"] {
  const [file] = parsePatch(`*** Begin Patch\n*** Update File: a.txt\n${body}\n*** End Patch\n`);
  return (file as Update).hunks;
}

function patched(content: string, body: string): string {
  return fromByteText(applyHunks("a.txt", toByteText(content), hunksOf(body)).after);
}

function problemOf(content: string, body: string): string {
  try {
    patched(content, body);
  } catch (cause) {
    expect(cause).toBeInstanceOf(PatchError);
    return (cause as PatchError).message;
  }
  throw new Error("it fits");
}

describe("hunks", () => {
  it("replace, remove and add lines where their old lines stand", () => {
    expect(patched("one\ntwo\nthree\n", "@@\n one\n-two\n+TWO\n three")).toBe("one\nTWO\nthree\n");
    expect(patched("a\nb\nc\n", "@@\n-b")).toBe("a\nc\n");
    expect(patched("a\nb\n", " a\n+between\n b")).toBe("a\nbetween\nb\n");
  });

  it("are looked for in order, each behind the one before", () => {
    expect(patched("x\n1\nx\n2\n", "@@\n-x\n+first\n@@\n-x\n+second")).toBe("first\n1\nsecond\n2\n");
  });

  it("name the first place where the most lines fit", () => {
    const content = "a\nb\na\na\nb\nc\na\na\nb\nd\n";
    expect(problemOf(content, "@@\n a\n a\n b\n-x")).toContain('at line 6 it expects "x", and there is "c"');
    expect(problemOf(content, "@@\n b\n-d\n x")).toContain('at line 11 it expects "x", and the file ends');
    expect(problemOf(content, "@@\n-y")).toContain('at line 1 it expects "y", and there is "a"');
  });

  it("are looked for among many equal lines without a comparison of each with each", () => {
    const content = "same\n".repeat(200_000);
    const body = `@@\n${" same\n".repeat(100_000)}-other`;
    expect(problemOf(content, body)).toContain('at line 100001 it expects "other"');
  });

  it("are found behind their anchors", () => {
    const content = "class A\n  f\n    x\nclass B\n  f\n    x\n";
    expect(patched(content, "@@ class B\n@@   f\n-    x\n+    y")).toBe(
      "class A\n  f\n    x\nclass B\n  f\n    y\n",
    );
    expect(patched("a\nb\nc\n", "@@ b\n+new")).toBe("a\nb\nnew\nc\n");
  });

  it("without old lines and anchors go to the end", () => {
    expect(patched("a\n", "@@\n+b")).toBe("a\nb\n");
    expect(patched("a", "@@\n+b")).toBe("a\nb");
    expect(patched("", "@@\n+b")).toBe("b\n");
  });

  it("marked as the end of the file are taken from the end first", () => {
    expect(patched("x\ny\nx\n", "@@\n-x\n+z\n*** End of File")).toBe("x\ny\nz\n");
  });

  it("are found as they are first, then without trailing spaces, then without outer ones", () => {
    expect(patched("a \na\n", "@@\n-a\n+b")).toBe("a \nb\n");
    expect(patched("a \n", "@@\n-a\n+b")).toBe("b\n");
    expect(patched("\ta\n", "@@\n-  a\n+b")).toBe("b\n");
    // What a hunk keeps stays as the file has it.
    expect(patched("\tkeep  \nold\n", "@@\n keep\n-old\n+new")).toBe("\tkeep  \nnew\n");
  });

  it("leave line ends, a BOM and a missing last newline as they were", () => {
    expect(patched("a\r\nb\r\nc\r\n", "@@\n a\n-b\n+B\n+BB")).toBe("a\r\nB\r\nBB\r\nc\r\n");
    expect(patched("a\r\nb\nc\r\n", "@@\n-b\n+B")).toBe("a\r\nB\nc\r\n");
    expect(patched("a\nb", "@@\n-b\n+B")).toBe("a\nB");
    expect(patched("a\r\nb", "@@\n-b\n+B\n+C")).toBe("a\r\nB\r\nC");
    expect(patched("\ufeffa\nb\n", "@@\n-a\n+A")).toBe("\ufeffA\nb\n");
  });

  it("keep every byte of a file that is not valid UTF-8", () => {
    const content = Buffer.from([0xff, 0x0a, 0x61, 0x0a, 0xc3, 0xa0, 0x0a]).toString("latin1");
    const { after } = applyHunks("a.txt", content, hunksOf("@@\n-a\n+b"));
    expect(Buffer.from(after, "latin1")).toEqual(Buffer.from([0xff, 0x0a, 0x62, 0x0a, 0xc3, 0xa0, 0x0a]));
    // The last byte of à is no space.
    expect(patched("xà\n", "@@\n-xà\n+y")).toBe("y\n");
  });

  it("that do not fit say where, what they expect and what is there", () => {
    expect(problemOf("one\ntwo\nthree\n", "@@\n one\n-2\n+TWO")).toBe(
      'Hunk 1 of a.txt (line 3 of the patch) does not fit: at line 2 it expects "2", and there is "two". Read the file again and make the patch from what is in it.',
    );
    expect(problemOf("one\n", "@@\n one\n-two")).toContain('expects "two", and the file ends');
    expect(problemOf("one\n", "@@ class X\n-one")).toContain('no line from 1 on is "class X"');
    expect(problemOf("x\ny\n", "@@\n-y\n+z\n@@\n-x\n+w")).toContain("Hunk 2 of a.txt");
  });
});

const line = fc.string({ unit: fc.constantFrom("a", "b", " ", "é") });
const file = fc.array(line, { minLength: 1, maxLength: 30 });

/** Hunks that take one text to another, each with all lines around it. */
function bodyOf(before: readonly string[], after: readonly string[], from: number, to: number): string {
  const tail = before.length - to;
  return [
    "@@",
    ...before.slice(0, from).map((text) => ` ${text}`),
    ...before.slice(from, to).map((text) => `-${text}`),
    ...after.slice(from, after.length - tail).map((text) => `+${text}`),
    ...before.slice(to).map((text) => ` ${text}`),
    "*** End of File",
  ].join("\n");
}

it("hunks with all of a file as context make exactly what was meant, whatever its line ends", () => {
  fc.assert(
    fc.property(
      file,
      fc.array(line, { maxLength: 6 }),
      fc.nat(),
      fc.nat(),
      fc.constantFrom("\n", "\r\n"),
      fc.boolean(),
      (before, fresh, one, two, end, open) => {
        const from = Math.min(one, two) % (before.length + 1);
        const to = Math.min(before.length, from + (Math.max(one, two) % 4));
        const after = [...before.slice(0, from), ...fresh, ...before.slice(to)];
        fc.pre(to > from || fresh.length > 0);
        // The last line of an open file must not be empty, or there is none.
        fc.pre(!open || (before.at(-1) !== "" && after.at(-1) !== ""));
        // A file of one line without an end does not say which end it would have.
        fc.pre(!open || end === "\n" || before.length > 1);
        const text = (lines: readonly string[]): string =>
          lines.length === 0 ? "" : lines.join(end) + (open ? "" : end);
        expect(patched(text(before), bodyOf(before, after, from, to))).toBe(text(after));
      },
    ),
  );
});

describe("the diff that clients are shown", () => {
  const diff = (content: string, body: string): string =>
    unifiedHunks(applyHunks("a.txt", toByteText(content), hunksOf(body)));

  it("has one line of context and numbers of both sides", () => {
    expect(diff("one\ntwo\nthree\n", "@@\n one\n-two\n+TWO\n three")).toBe(
      "@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n",
    );
    expect(diff("1\n2\n3\n4\n5\n6\n7\n", "@@\n-2\n+b\n+bb\n@@\n-6\n+f")).toBe(
      "@@ -1,3 +1,4 @@\n 1\n-2\n+b\n+bb\n 3\n@@ -5,3 +6,3 @@\n 5\n-6\n+f\n 7\n",
    );
  });

  it("shows line ends as they are, and where the last one is missing", () => {
    expect(diff("one\r\ntwo\r\n", "@@\n-two\n+TWO")).toBe("@@ -1,2 +1,2 @@\n one\r\n-two\r\n+TWO\r\n");
    const missing = "\\ No newline at end of file\n";
    expect(diff("a", "@@\n-a\n+b")).toBe(`@@ -1 +1 @@\n-a\n${missing}+b\n${missing}`);
    expect(diff("a\nb", "@@\n b\n+c")).toBe(`@@ -1,2 +1,3 @@\n a\n-b\n${missing}+b\n+c\n${missing}`);
    expect(diff("a\nb", "@@\n+c")).toBe(`@@ -1,2 +1,3 @@\n a\n-b\n${missing}+b\n+c\n${missing}`);
    expect(diff("a\nb", "@@\n-b")).toBe(`@@ -1,2 +1 @@\n-a\n+a\n${missing}-b\n${missing}`);
    expect(diff("\ufeffa\nb", "@@\n-a\n+A")).toBe(`@@ -1,2 +1,2 @@\n-a\n+A\n b\n${missing}`);
  });
});
