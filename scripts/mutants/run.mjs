// Tries one mutant at a time in a copy of the tree.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { withMutant } from "./generate.mjs";

/** A failure that took longer than this may be the machine's: the test must pass on the unchanged code, at that time. */
const SLOW_MS = 10_000;
/** A hang is tried again with more time, up to this many times as much, while the unchanged code is too slow, too. */
const MOST = 16;

/**
 * Tries the tests that can notice a mutant, up to `mostMs` of their usual time.
 *
 * @returns {Promise<{ killedBy: string | null, ms: number, tests: number }>} The test that failed, or null if the
 * mutant lives; and the number of test files for it.
 */
export async function tryMutant({ tree, runner, order, mostMs }, mutant) {
  const path = join(tree, mutant.file);
  const source = readFileSync(path, "utf8");
  const begun = performance.now();
  const unchanged = { file: mutant.file, put: () => writeFileSync(path, source) };
  const changed = { file: mutant.file, put: () => writeFileSync(path, withMutant(source, mutant)) };
  const tests = order.testsFor(mutant, mostMs);
  try {
    const killedBy = await killer(runner, order, tests, changed, unchanged);
    return { killedBy, ms: performance.now() - begun, tests: tests.length };
  } finally {
    unchanged.put();
  }
}

async function killer(runner, order, tests, changed, unchanged) {
  let left = tests;
  let factor = 1;
  while (left.length > 0) {
    const { failed, passed, hangs } = await run(runner, order, left, changed, factor);
    for (const test of Object.keys(passed)) order.learn(test, false);
    left = left.filter((test) => passed[test] === undefined);
    if (failed === null && hangs === undefined) return null;
    const suspect = hangs ?? failed.file;
    const quick = hangs === undefined && failed.ms < SLOW_MS && order.isTrusted(suspect);
    if (quick || (await passes(runner, order, suspect, unchanged, factor / 2))) {
      order.learn(suspect, true);
      return `${suspect}: ${hangs === undefined ? failed.title : "a hang"}`;
    }
    // The unchanged code fails or is as slow. A failure says nothing then; a hang gets more time.
    if (hangs === undefined || factor === MOST) left = left.filter((test) => test !== suspect);
    else factor *= 4;
  }
  return null;
}

async function passes(runner, order, test, unchanged, factor) {
  const { failed, hangs } = await run(runner, order, [test], unchanged, factor);
  const passed = failed === null && hangs === undefined;
  if (passed) order.learnUnchanged(test);
  return passed;
}

function run(runner, order, tests, code, factor) {
  code.put();
  const usualMs = (test) => (test === undefined ? 0 : order.usualMs(test));
  return runner.run(tests, code.file, { usualMs, factor });
}
