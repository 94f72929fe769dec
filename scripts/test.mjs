// Runs the static checks (npm run check), then every test. Arguments go to vitest, and a run with arguments skips
// the checks.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const only = process.argv.slice(2);
if (only.length === 0) {
  process.stdout.write("static checks, about 10 seconds …\n");
  run("scripts/check.mjs", []);
  process.stdout.write("tests, about 5 minutes on two idle cores …\n");
}

const folder = mkdtempSync(join(tmpdir(), "bobbin-test-"));
const report = join(folder, "report.json");
const status = node("node_modules/vitest/vitest.mjs", [
  "run",
  "--reporter=./scripts/progress-reporter.mjs",
  "--reporter=json",
  `--outputFile.json=${report}`,
  ...only,
]);
process.stdout.write(`${summary()}\n`);
rmSync(folder, { recursive: true });
process.exit(status);

/** One plain line at the end that any tool can read. */
function summary() {
  try {
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, "utf8"));
    const skipped = numPendingTests > 0 ? `, ${numPendingTests} skipped` : "";
    return `${numPassedTests} passed, ${numFailedTests} failed${skipped}`;
  } catch {
    return "0 passed, 1 failed";
  }
}

function node(script, args) {
  return spawnSync(process.execPath, [script, ...args], { stdio: "inherit" }).status ?? 1;
}

function run(script, args) {
  const code = node(script, args);
  if (code !== 0) process.exit(code);
}
