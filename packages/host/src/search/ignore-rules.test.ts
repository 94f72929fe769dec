import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { freshFolder } from "../../../../test/support/folder.ts";
import { IgnoreRules } from "./ignore-rules.ts";

const FILES = [
  ..."a b ab abc a.log b.log.txt build/x build/a.log foo/bar foo/a.log foo/b/c foo/b/ab x/foo/bar x/y/z/a.log x/build".split(
    " ",
  ),
  ..."Foo/Bar a-b a_b [a] a] a*b a?b !a #a a\\b .hidden .dot/x doc/a.html doc/x/a.html foo.log/a foo/foo/foo dir/ab/b".split(
    " ",
  ),
  "end ",
  "two words",
  "two more/x",
];

let folder: string;
beforeAll(async () => {
  folder = await freshFolder("ignore");
  execFileSync("git", ["init", "-q"], { cwd: folder });
  for (const file of FILES) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), "");
  }
});

/** The files that git does not ignore with one `.gitignore`. */
function byGit(rules: string): readonly string[] {
  writeFileSync(join(folder, ".gitignore"), rules);
  const args = ["-c", "core.excludesFile=/dev/null", "ls-files", "--others", "--exclude-standard", "-z"];
  const listed = execFileSync("git", args, { cwd: folder }).toString().split("\0");
  return FILES.filter((file) => listed.includes(file));
}

/** The files that a walk finds; it does not enter ignored folders. */
function byUs(rules: string): readonly string[] {
  const ours = new IgnoreRules(rules);
  return FILES.filter((file) => {
    const names = file.split("/");
    return names.every(
      (name, nth) =>
        ours.verdict(names.slice(0, nth + 1).join("/"), name, nth < names.length - 1) !== "ignored",
    );
  });
}

describe("rules", () => {
  it.each([
    "a\nb/\n",
    "*.log\n!a.log\n",
    "/foo/*\n!/foo/bar\n",
    "foo/**\n!foo/b/\n",
    "**/bar\n",
    "x/**/a.log\n",
    "doc/*.html\n",
    "build/\n!build\n",
    "[ab]\n[!ab]bc\n",
    "\\#a\n\\!a\n#a\n",
    "a\\*b\na\\?b\n",
    "end\\ \ntwo words  \n",
    "a.log   \n\n   \n",
    "a\r\nb.log.txt\r\n",
    "\ufeffa\n",
    "[[:alpha:]]\n[a-\n",
    "/\n//\n**\n!**/c\n",
    "***/bar\nfoo/***\n",
    "*\n!*/\n!*.log\n",
    "a]\n[]a]\n[^]]x\n",
    "foo\\\nab\\",
    "*/bar\nx*/f?o\n",
    "**foo/bar\nfoo**bar\n",
  ])("[SEARCH-3] say what git says: %j", (rules) => {
    expect(byUs(rules)).toEqual(byGit(rules));
  });

  it("[SEARCH-3] say what git says, whatever is in them", () => {
    const piece = fc.constantFrom(
      "a",
      "b",
      "ab",
      "*",
      "**",
      "?",
      "/",
      "/**/",
      "[ab]",
      "[!a]",
      ".log",
      "-",
      "foo",
    );
    const line = fc
      .tuple(
        fc.constantFrom("", "", "!", "/"),
        fc.array(piece, { minLength: 1, maxLength: 5 }),
        fc.constantFrom("", "", "/"),
      )
      .map(([start, middle, end]) => `${start}${middle.join("")}${end}`)
      // Git is inconsistent about two stars next to other characters.
      .filter((rule) => !/[^/!]\*\*|\*\*[^/]/.test(rule));
    fc.assert(
      fc.property(fc.array(line, { minLength: 1, maxLength: 4 }), (lines) => {
        const rules = `${lines.join("\n")}\n`;
        expect(byUs(rules)).toEqual(byGit(rules));
      }),
      { numRuns: 60 },
    );
  });
});
