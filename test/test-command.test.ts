// `npm test` (scripts/test.mjs) with checks and tests that are scripted here.
import { spawnSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { freshFolder } from "./support/folder.ts";

const script = join(import.meta.dirname, "../scripts/test.mjs");

/** The results of one run of the tests: each file with the titles that fail in it. */
type Results = Readonly<Record<string, readonly string[]>>;

/** Plays the results one after the other, and writes down how it was called. */
const VITEST = `
const { appendFileSync, readFileSync, writeFileSync } = require("node:fs");
const calls = readFileSync("calls", "utf8").split("\\n").length - 1;
const results = JSON.parse(readFileSync("results.json", "utf8"))[calls];
if (results === undefined) process.exit(3);
appendFileSync("calls", process.env.BOBBIN_SEED + " " + process.argv.slice(2).filter((arg) => arg.startsWith("test")) + "\\n");
const testResults = Object.entries(results).map(([name, titles]) => ({
  name: process.cwd() + "/" + name,
  status: titles.length > 0 ? "failed" : "passed",
  assertionResults: titles.map((title) => ({ fullName: title, status: "failed", failureMessages: [title + " was wrong\\nat line " + (calls + 1)] })),
}));
const numFailedTests = testResults.flatMap(({ assertionResults }) => assertionResults).length;
const report = process.argv.find((arg) => arg.startsWith("--outputFile.json=")).split("=")[1];
writeFileSync(report, JSON.stringify({ testResults, numPassedTests: 10 - numFailedTests, numFailedTests, numPendingTests: 0 }));
process.exit(numFailedTests > 0 ? 1 : 0);
`;

async function npmTest(
  args: readonly string[],
  runs: readonly Results[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; output: string; calls: string[] }> {
  const folder = await freshFolder();
  const files = {
    "scripts/check.mjs": "",
    "node_modules/vitest/package.json": '{"type":"commonjs"}',
    "node_modules/vitest/vitest.mjs": `import { createRequire } from "node:module"; const require = createRequire(import.meta.url); ${VITEST}`,
    "results.json": JSON.stringify(runs),
    calls: "",
  };
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), text);
  }
  const { BOBBIN_FULL: _full, BOBBIN_SEED: _seed, ...rest } = process.env;
  // Belongs to the run that this test is part of.
  const { status, stdout } = spawnSync(process.execPath, [script, ...args], {
    cwd: folder,
    env: { ...rest, BOBBIN_MACHINE_LOCK: "1", ...env },
    encoding: "utf8",
  });
  const calls = (await readFile(join(folder, "calls"), "utf8"))
    .trimEnd()
    .split("\n")
    .map((call) => call.trim());
  return { code: status, output: stdout, calls };
}

it.each([
  [undefined, "about 4 minutes"],
  ["", "about 4 minutes"],
  ["0", "about 4 minutes"],
  ["1", "about 25 minutes"],
  ["10", "about 250 minutes"],
])("announces the time of the form that it runs (BOBBIN_FULL=%j)", async (full, minutes) => {
  const { output } = await npmTest([], [{}], full === undefined ? {} : { BOBBIN_FULL: full });
  expect(output).toContain(`tests, ${minutes} on two idle cores`);
});

it("gives generated tests its seed", () => {
  const seed = process.env.BOBBIN_SEED;
  expect(fc.readConfigureGlobal().seed).toBe(seed === undefined ? undefined : Number(seed));
});

describe("a failed test", () => {
  const once: Results = { "test/a.test.ts": ["is steady"], "test/b.test.ts": [] };

  it("fails the run without --second-try", async () => {
    const { code, output, calls } = await npmTest([], [once]);
    expect({ code, calls }).toEqual({ code: 1, calls: ["1"] });
    expect(output).toMatch(/^9 passed, 1 failed$/m);
  });

  it("is tried again alone, with the same seed, and named as unsteady if it passes then", async () => {
    const { code, output, calls } = await npmTest(["--second-try"], [once, {}], { BOBBIN_SEED: "77" });
    expect({ code, calls }).toEqual({ code: 0, calls: ["77", "77 test/a.test.ts"] });
    const end = output.slice(output.indexOf("== unsteady"));
    expect(end).toBe(
      "== unsteady: failed at first, passed alone: test/a.test.ts > is steady\nis steady was wrong\nat line 1\n10 passed, 0 failed\n",
    );
  });

  it("fails the run if it fails again", async () => {
    const { code, output, calls } = await npmTest(["--second-try"], [once, once]);
    expect({ code, calls: calls.length }).toEqual({ code: 1, calls: 2 });
    expect(output).toMatch(/^9 passed, 1 failed$/m);
    expect(output).not.toContain("unsteady");
  });

  it("is not tried again if more than three have failed", async () => {
    const many = { "test/a.test.ts": ["one", "two"], "test/b.test.ts": ["three", "four"] };
    const { code, output, calls } = await npmTest(["--second-try"], [many, {}]);
    expect({ code, calls: calls.length }).toEqual({ code: 1, calls: 1 });
    expect(output).toContain("4 tests failed. More than 3 are not tried again.");
    const three = { "test/a.test.ts": ["one", "two"], "test/b.test.ts": ["three"] };
    expect(await npmTest(["--second-try"], [three, {}, {}])).toMatchObject({ code: 0 });
  });

  it("fails the run if vitest ends without a report", async () => {
    const { code, output } = await npmTest(["--second-try"], []);
    expect(code).toBe(3);
    expect(output).toMatch(/^0 passed, 1 failed$/m);
  });
});
