// Runs the static checks and then the tests. Test files or folders as arguments run these alone, without the checks.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { lockMachine } from "./machine-lock.mjs";

const USAGE = `usage: npm test -- [--changed[=REV]] [--no-check] [--second-try] [FILE or FOLDER …] [options of vitest]

  --changed      runs the tests that the changes since main, or since REV, can touch: those of the changed files first,
                 and as many others as take about a minute
  --no-check     does not run the static checks first
  --second-try   runs test files with up to three failed tests again, alone; if they pass then, the run passes,
                 and its last lines name these tests as unsteady

BOBBIN_FULL=1 runs the long forms of tests (see docs/testing.md), BOBBIN_SEED=N sets the seed of random tests.
`;
/** More tests than this that fail at first fail the run: they are not a matter of luck. */
const MAX_UNSTEADY = 3;
/** Seconds that each test file took in the last whole run. */
const SECONDS_FILE = ".cache/test-seconds.json";
/** Seconds of all tests of `--changed` together. Several run at the same time: it is about a minute. */
const CHANGED_BUDGET = 130;

const args = process.argv.slice(2);
if (args.includes("--help") || args.includes("-h")) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const noCheck = takeFlag("--no-check");
const secondTry = takeFlag("--second-try");
const changedSince = takeChanged();
await lockMachine(`npm test ${args.join(" ").slice(0, 200)}`.trimEnd());

// The factor of test/support/long-form.ts.
const factor = Number(process.env.BOBBIN_FULL ?? 0);
// In the short form, every run is the same. Long forms look further.
process.env.BOBBIN_SEED ??= factor > 0 ? String(Math.floor(Math.random() * 1_000_000)) : "1";

if (changedSince !== undefined) args.push(...(await testsChangedSince(changedSince)));
const isWhole = args.length === 0;
if (isWhole) {
  if (!noCheck) {
    process.stdout.write("static checks, about 15 seconds …\n");
    const code = await node("scripts/check.mjs", []);
    if (code !== 0) process.exit(code);
  }
  const minutes = factor > 0 ? 25 * factor : 4;
  process.stdout.write(`tests, about ${minutes} minutes on two idle cores …\n`);
}

const folder = mkdtempSync(join(tmpdir(), "bobbin-test-"));
const first = await runTests("first", args);
if (isWhole && factor === 0) storeSeconds(first.results);
const failed = failuresIn(first.results);
let { status } = first;
const unsteady = [];
if (status !== 0 && secondTry && failed.length > MAX_UNSTEADY)
  process.stdout.write(`\n${failed.length} tests failed. More than ${MAX_UNSTEADY} are not tried again.\n`);
else if (status !== 0 && secondTry && failed.length > 0) {
  status = 0;
  for (const file of new Set(failed.map(({ file }) => file))) {
    process.stdout.write(`\n== second try, alone, with BOBBIN_SEED=${process.env.BOBBIN_SEED}: ${file}\n`);
    const again = await runTests("again", [file]);
    if (again.status === 0) unsteady.push(...failed.filter((failure) => failure.file === file));
    else status = again.status;
  }
}
for (const { file, title, output } of unsteady)
  process.stdout.write(`\n== unsteady: failed at first, passed alone: ${file} > ${title}\n${output}\n`);
process.stdout.write(`${summary(first.results, unsteady.length)}\n`);
rmSync(folder, { recursive: true });
process.exit(status);

function takeFlag(flag) {
  const at = args.indexOf(flag);
  if (at >= 0) args.splice(at, 1);
  return at >= 0;
}

/** The commit of `--changed=REV`; main without one; undefined without `--changed`. */
function takeChanged() {
  const at = args.findIndex((arg) => arg === "--changed" || arg.startsWith("--changed="));
  return at < 0 ? undefined : (args.splice(at, 1)[0].split("=")[1] ?? "main");
}

async function testsChangedSince(base) {
  const { changedFiles, changedTests, storedSeconds } = await import("./changed-tests.mjs");
  const changed = changedFiles(base);
  const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    encoding: "utf8",
  })
    .split("\n")
    .filter((file) => existsSync(file));
  const { chosen, candidates } = changedTests({
    root: process.cwd(),
    files,
    changed,
    seconds: storedSeconds(SECONDS_FILE),
    budget: CHANGED_BUDGET,
  });
  process.stdout.write(
    `${changed.length} files have changed since ${base}. They can touch ${candidates} test files; ` +
      `these are the nearest ${chosen.length}. The gate runs all.\n`,
  );
  if (chosen.length === 0) process.exit(0);
  return chosen;
}

/** Stores how long each test file took. */
function storeSeconds(results) {
  if (results === undefined) return;
  const seconds = results.testResults.map(({ name, startTime, endTime }) => [
    relative(process.cwd(), name),
    Math.round((endTime - startTime) / 10) / 100,
  ]);
  mkdirSync(dirname(SECONDS_FILE), { recursive: true });
  writeFileSync(SECONDS_FILE, JSON.stringify(Object.fromEntries(seconds)));
}

async function runTests(name, names) {
  const report = join(folder, `${name}.json`);
  const status = await node("node_modules/vitest/vitest.mjs", [
    "run",
    "--reporter=./scripts/progress-reporter.mjs",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...names,
  ]);
  return { status, results: resultsIn(report) };
}

/** Undefined if vitest ended before it could write a report. */
function resultsIn(report) {
  try {
    return JSON.parse(readFileSync(report, "utf8"));
  } catch {
    return undefined;
  }
}

/** The tests that failed. A file that failed outside of its tests counts as one. */
function failuresIn(results) {
  return (results?.testResults ?? [])
    .filter(({ status }) => status === "failed")
    .flatMap(({ name, message, assertionResults }) => {
      const file = relative(process.cwd(), name);
      const tests = assertionResults.filter((test) => test.status === "failed");
      if (tests.length === 0) return [{ file, title: "the file itself", output: message }];
      return tests.map((test) => ({
        file,
        title: test.fullName,
        output: test.failureMessages.join("\n"),
      }));
    });
}

/** A last line with the counts, for other tools. */
function summary(results, unsteadyTests) {
  if (results === undefined) return "0 passed, 1 failed";
  const { numPassedTests, numFailedTests, numPendingTests } = results;
  const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : "";
  return `${numPassedTests + unsteadyTests} passed, ${Math.max(0, numFailedTests - unsteadyTests)} failed${skipped}`;
}

function node(script, scriptArgs) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script, ...scriptArgs], { stdio: "inherit" });
    child.on("error", () => resolve(1));
    child.on("close", (code) => resolve(code ?? 1));
  });
}
