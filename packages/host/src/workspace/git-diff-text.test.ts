import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { times } from "../../../../test/support/long-form.ts";
import { type FileChange, type FileState, fileDiffs } from "./git-diff-text.ts";

const RUNS = times(60, 500);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "diff-text-"));
  git("init", "-q");
  git("config", "core.quotePath", "false");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const git = (...args: readonly string[]): string =>
  execFileSync("git", args, { cwd: folder, encoding: "latin1", env: { ...process.env, LC_ALL: "C" } });

const file = (content: string, mode = 0o644): FileState => ({ content, mode });
const change = (path: string, before: FileState | null, after: FileState | null): FileChange => ({
  path,
  before,
  after,
});

/** Writes a file, or removes it if it should not exist. */
function put(path: string, state: FileState | null): void {
  rmSync(join(folder, path), { force: true });
  if (state !== null)
    writeFileSync(join(folder, path), Buffer.from(state.content, "latin1"), { mode: state.mode });
}

/** The output of git for the same change. */
function byGit(changes: readonly FileChange[]): string {
  git("rm", "-rqf", "--cached", "--ignore-unmatch", ".");
  for (const { path, before } of changes) put(path, before);
  git("add", "-A");
  const old = git("write-tree").trim();
  for (const { path, after } of changes) put(path, after);
  git("add", "-A");
  const now = git("write-tree").trim();
  for (const { path } of changes) put(path, null);
  return git("diff", "--full-index", "--no-indent-heuristic", old, now);
}

const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join("");
const TEN = lines("1", "2", "3", "4", "5", "6", "7", "8", "9", "10");

describe("the diff of a turn's files", () => {
  const cases: Readonly<Record<string, readonly FileChange[]>> = {
    "a changed line": [change("a.txt", file(TEN), file(TEN.replace("5", "five")))],
    "a new file": [change("new.txt", null, file("x\ny\n"))],
    "a removed file": [change("old.txt", file("x\ny\n"), null)],
    "a new empty file": [change("empty", null, file(""))],
    "a removed empty file": [change("empty", file(""), null)],
    "a missing last newline": [change("a.txt", file("a\nb"), file("a\nb\n"))],
    "a last newline that goes": [change("a.txt", file("a\nb\n"), file("a\nB"))],
    "a new mode": [change("run.sh", file("x\n"), file("x\n", 0o755))],
    "a new mode and content": [change("run.sh", file("x\n"), file("y\n", 0o755))],
    "a new name": [change("a.txt", file(TEN), null), change("b.txt", null, file(TEN))],
    "changes far apart": [
      change("a.txt", file(TEN + TEN), file(`${TEN.replace("1\n", "one\n")}${TEN.replace("10", "ten")}`)),
    ],
    "changes near each other": [change("a.txt", file(TEN), file(TEN.replace("2", "two").replace("8", "e")))],
    "a binary file": [change("x.bin", file("a\0b"), file("a\0c"))],
    "CRLF lines": [change("a.txt", file("a\r\nb\r\nc\r\n"), file("a\r\nB\r\nc\r\n"))],
    "several files in order": [
      change("z.txt", file("z\n"), file("Z\n")),
      change("a.txt", file("a\n"), file("A\n")),
      change("m/n.txt", null, null),
    ],
    "a name with spaces": [change("a b.txt", file("a\n"), file("b\n"))],
    "a name with a quote and a tab": [change('a"\tb.txt', file("a\n"), file("b\n"))],
    "a name beyond ASCII": [change(Buffer.from("ä.txt").toString("latin1"), file("a\n"), file("b\n"))].map(
      (one) => ({ ...one, path: one.path }),
    ),
    nothing: [change("same.txt", file("a\n"), file("a\n"))],
  };
  for (const [name, changes] of Object.entries(cases)) {
    it(`is what git prints for ${name}`, () => {
      const real = changes.map((one) => ({ ...one, path: Buffer.from(one.path, "latin1").toString("utf8") }));
      expect(fileDiffs(changes).join("")).toBe(byGit(real));
    });
  }

  it("shows a file that was changed and got another name as one", () => {
    const [diff, ...more] = fileDiffs([
      change("a.txt", file(TEN), null),
      change("b.txt", null, file(TEN.replace("5", "five"))),
    ]);
    expect(more).toEqual([]);
    expect(diff).toMatch(
      /^diff --git a\/a.txt b\/b.txt\nsimilarity index \d\d%\nrename from a.txt\nrename to b/,
    );
    expect(diff).toContain("\n-5\n+five\n");
  });

  it("can be applied by git, whatever changed", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "c", "", "\r", "long line", "\xe4"), { maxLength: 40 })
      .chain((all) => fc.constantFrom("\n", "").map((end) => (all.length === 0 ? "" : all.join("\n") + end)));
    fc.assert(
      fc.property(text, text, (before, after) => {
        const [diff] = fileDiffs([change("f.txt", file(before), file(after))]);
        if (diff === undefined) return before === after;
        put("f.txt", file(before));
        writeFileSync(join(folder, "f.diff"), Buffer.from(diff, "latin1"));
        git("apply", "--whitespace=nowarn", "f.diff");
        return readFileSync(join(folder, "f.txt"), "latin1") === after;
      }),
      { numRuns: RUNS },
    );
    expect(statSync(join(folder, "f.txt")).isFile()).toBe(true);
  });

  it("stays quick where a large file has nothing in common with what it becomes", () => {
    const before = Array.from({ length: 20_000 }, (_, nth) => `old ${nth}\n`).join("");
    const after = Array.from({ length: 20_000 }, (_, nth) => `new ${nth}\n`).join("");
    const [diff] = fileDiffs([change("a.txt", file(before), file(after))]);
    expect(diff).toContain("@@ -1,20000 +1,20000 @@");
  });
});
