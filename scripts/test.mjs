// Runs the static checks and then all tests. Arguments are passed to vitest, and skip the static checks.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";

const only = process.argv.slice(2);
if (only.length === 0) {
  process.stdout.write("static checks, about 10 seconds …\n");
  run("scripts/check.mjs", []);
  // As in test/support/long-form.ts.
  const factor = Number(process.env.BOBBIN_FULL ?? 0);
  const minutes = factor > 0 ? 25 * factor : 5;
  process.stdout.write(`tests, about ${minutes} minutes on two idle cores …\n`);
}

/**
 * With BOBBIN_RERUN_FAILED=N, up to N test files that failed are run again, alone, and count by that run. Both results
 * are printed. For CI, where one test of many thousands that depends on the machine's speed would refuse everything.
 */
const mayRerun = Number(process.env.BOBBIN_RERUN_FAILED ?? 0);

const folder = mkdtempSync(join(tmpdir(), "bobbin-test-"));
let { status, results } = runTests("first", only);
const failedFiles = (results?.testResults ?? []).filter((file) => file.status === "failed");
if (status !== 0 && failedFiles.length > 0 && failedFiles.length <= mayRerun) {
  const again = runTests(
    "again",
    failedFiles.map((file) => relative(process.cwd(), file.name)),
  );
  const failedAgain = (again.results?.testResults ?? []).filter((file) => file.status === "failed");
  process.stdout.write("\n== failed at first:\n");
  for (const file of failedFiles) process.stdout.write(describeFailures(file));
  process.stdout.write(
    again.status === 0 ? "== run again, alone, they passed\n" : "== run again, alone, these failed:\n",
  );
  for (const file of failedAgain) process.stdout.write(describeFailures(file));
  status = again.status;
  if (again.status === 0 && results !== undefined) {
    results.numPassedTests += results.numFailedTests;
    results.numFailedTests = 0;
  }
}
process.stdout.write(`${summary(results)}\n`);
rmSync(folder, { recursive: true });
process.exit(status);

function runTests(name, args) {
  const report = join(folder, `${name}.json`);
  const status = node("node_modules/vitest/vitest.mjs", [
    "run",
    "--reporter=./scripts/progress-reporter.mjs",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...args,
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

function describeFailures({ name, message, assertionResults }) {
  const failed = assertionResults.filter((test) => test.status === "failed");
  const titles = failed.map(
    (test) => `    ${test.fullName}\n      ${test.failureMessages[0]?.split("\n")[0]}\n`,
  );
  return `  ${relative(process.cwd(), name)}\n${titles.join("") || `    ${message}\n`}`;
}

/** A last line with the counts, for other tools. */
function summary(results) {
  if (results === undefined) return "0 passed, 1 failed";
  const { numPassedTests, numFailedTests, numPendingTests } = results;
  const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : "";
  return `${numPassedTests} passed, ${numFailedTests} failed${skipped}`;
}

function node(script, args) {
  return spawnSync(process.execPath, [script, ...args], { stdio: "inherit" }).status ?? 1;
}

function run(script, args) {
  const code = node(script, args);
  if (code !== 0) process.exit(code);
}
