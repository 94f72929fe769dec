// Compares plain commands with real bash: it runs exactly the same words, and expands, redirects and assigns nothing.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { freshFolder } from "../../../../../test/support/folder.ts";
import { times } from "../../../../../test/support/long-form.ts";
import { STUCK_MS } from "../../../../../test/support/patience.ts";
import { parseCommand } from "./parse-command.ts";

const RUNS = times(60, 2_000);
const BASH = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash"].find(existsSync);

let cwd: string;
let log: string;
const FOLDER = "sub";
const FILES = ["a", "ab", "b", "x.ts"];

beforeAll(async () => {
  cwd = await freshFolder("shell");
  log = join(await freshFolder("shell"), "log");
  for (const name of FILES) await writeFile(join(cwd, name), "");
  await mkdir(join(cwd, FOLDER));
});

/** The words of the commands that bash tries to run, none of which exists. */
function runBash(text: string, status: number): { readonly ran: string[]; readonly stderr: string } {
  writeFileSync(log, "");
  const { stderr, error } = spawnSync(BASH!, ["--norc", "--noprofile", "-c", text], {
    cwd,
    encoding: "utf8",
    input: "",
    timeout: STUCK_MS,
    env: {
      PATH: "/nonexistent",
      HOME: cwd,
      a: "expanded",
      x: "* $a",
      IFS: " \t\n",
      LOG: log,
      STATUS: String(status),
      "BASH_FUNC_command_not_found_handle%%": `() { local one= part; for part in "$@"; do one+="<$part>"; done
printf '%s\\0' "$one" >> "$LOG"; return "$STATUS"; }`,
    },
  });
  expect(error).toBeUndefined();
  const ran = readFileSync(log, "utf8").split("\0").slice(0, -1).sort();
  return { ran, stderr };
}

const shown = (words: readonly string[]): string => words.map((word) => `<${word}>`).join("");

/** Words that bash runs itself, or looks up as a file. */
const isUnseen = ([name]: readonly string[]): boolean => name === "." || name === ":" || name!.includes("/");

function expectSame(text: string): void {
  const { words } = parseCommand(text, "bash");
  if (words === null) return;
  const expected = words
    .filter((one) => !isUnseen(one))
    .map(shown)
    .sort();
  const good = runBash(text, 0);
  const bad = runBash(text, 1);
  // Errors about files that do not exist, or are no programs.
  const complaints = `${good.stderr}${bad.stderr}`.replaceAll(
    /^.*( \.: |\.: usage|: [Ii]s a directory|: No such file|: Not a directory|: Permission denied).*\n/gm,
    "",
  );
  expect(complaints).toBe("");
  for (const one of [...good.ran, ...bad.ran]) expect(expected).toContain(one);
  // Without `||` all of them run, when all succeed.
  if (!/\|\|/.test(text) && !words.some(isUnseen)) expect(good.ran).toEqual(expected);
  expect(readdirSync(cwd).sort()).toEqual([...FILES, FOLDER].sort());
}

const NAMES = ["lsx", "catx", "gitx", "x1", "a-b"];
const WORDS = [
  "a",
  "-la",
  "--x=y",
  "x.ts",
  "HEAD~1",
  "a/b",
  "'a b'",
  '"a b"',
  "''",
  "a\\ b",
  "'$a'",
  '"a\\.b"',
  "@x",
  "5%",
  "a:b",
  "^a",
  "é",
];
const OPERATORS = [" && ", " || ", "; ", " | ", "\n", ";", "|", "&&", " ;\n"];
const SPECIAL = [
  ..."$`*?[]{}~<>()&;|#!=\\'\"^\t\r\n %,".split(""),
  "$(",
  "$((",
  "${",
  "<<",
  "<(",
  ">&",
  "&>",
  "|&",
  "\\\n",
  "$'",
  '$"',
  "~a",
  "{a,b}",
  "[ab]",
  "$a",
  "a=b ",
  "!a",
  "\u00a0",
  "\0",
];

const piece = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...WORDS.map((word) => ` ${word}`)) },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom(...OPERATORS), fc.constantFrom(...NAMES)).map((two) => two.join("")),
  },
  { weight: 2, arbitrary: fc.constantFrom(...SPECIAL) },
  { weight: 1, arbitrary: fc.constantFrom(...WORDS) },
);
const commandText = fc
  .tuple(fc.constantFrom(...NAMES), fc.array(piece, { maxLength: 7 }))
  .map(([name, pieces]) => name + pieces.join(""));
/** Random text of characters with a meaning in shells. */
const noise = fc
  .array(fc.constantFrom(..."abx$`*?[]{}~<>()&;|#!=\\'\" \t\n.:,-/".split("")), { maxLength: 12 })
  .map((chars) => `lsx ${chars.join("")}`);

describe.runIf(BASH !== undefined)("a plain command, in bash", () => {
  it("has exactly the words that we read, whatever stands in it", () => {
    let plain = 0;
    fc.assert(
      fc.property(
        fc.oneof({ weight: 3, arbitrary: commandText }, { weight: 2, arbitrary: noise }),
        (text) => {
          if (parseCommand(text, "bash").words !== null) plain++;
          expectSame(text);
        },
      ),
      { numRuns: RUNS },
    );
    // Otherwise nothing would have been compared.
    expect(plain).toBeGreaterThan(RUNS / 20);
  });

  it("has each of the usual words as it stands", () => {
    for (const word of WORDS) expectSame(`lsx ${word}`);
    expectSame(`lsx ${WORDS.join(" ")}`);
  });
});

/** The closing text for each opening text before a removal. */
const ENDS: Readonly<Record<string, string>> = {
  "if a; then ": "; fi",
  "( ": ")",
  "x=$(": ")",
  "for i in 1; do ": "; done",
  "sh -c '": "'",
};

describe("any text", () => {
  it("is read without a fault, and a plain one is never a removal in disguise", () => {
    fc.assert(
      fc.property(fc.oneof(noise, fc.string({ unit: "binary", maxLength: 60 })), (text) => {
        const { words, isPlainGit } = parseCommand(text, "bash");
        expect(isPlainGit && words === null).toBe(false);
      }),
      { numRuns: RUNS * 4 },
    );
  });

  it("with a removal by force in it is dangerous, whatever is around it", () => {
    const before = fc.constantFrom(
      "",
      "ls; ",
      "ls && ",
      "sudo ",
      "env A=b ",
      "if a; then ",
      "( ",
      "x=$(",
      "time ",
      "! ",
      "for i in 1; do ",
      "sh -c '",
      "A=b ",
      "xargs ",
      "nohup ",
      "command ",
    );
    const flags = fc.constantFrom(
      "-rf",
      "-f",
      "-r",
      "-R",
      "-vrf",
      "--force",
      "--recursive",
      "-i -r",
      "-f --",
    );
    const after = fc.constantFrom("", " > log", " 2>&1", "; ls", " | cat", " || true", " &", "\n", " # x");
    fc.assert(
      fc.property(before, flags, after, (open, flag, close) => {
        const end = ENDS[open] ?? "";
        expect(parseCommand(`${open}rm ${flag} x${end}${end === "" ? close : ""}`, "bash").isDangerous).toBe(
          true,
        );
      }),
      { numRuns: RUNS },
    );
  });
});
