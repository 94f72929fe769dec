// Chooses the tests for a change, and tries those first that are likely to fail soon.
import { dirname } from "node:path";

/** Loading the modules of a test file takes this long. */
const LOAD_MS = 200;

export class TestOrder {
  #tests;
  #loads = new Map();
  #reach;
  #tries = new Map();
  #unchanged = new Set();
  #failures = 0;

  /** `loads` gives the modules that a test file loads (import-graph.mjs); `reach` may be undefined (reach.mjs). */
  constructor(tests, loads, reach) {
    this.#tests = tests;
    this.#reach = reach;
    for (const test of tests) this.#loads.set(test, loads(test));
  }

  /**
   * The test files that can notice a change, the most likely kills per second first. Those beyond `mostMs` of their usual
   * time are left out.
   */
  testsFor(change, mostMs = Infinity) {
    let ms = 0;
    return this.#tests
      .filter((test) => this.#loads.get(test).has(change.file) && (this.#reach?.enters(test, change) ?? true))
      .map((test) => [this.#chance(test, change) / (this.usualMs(test) + LOAD_MS), test])
      .sort(([one], [other]) => other - one)
      .map(([, test]) => test)
      .filter((test) => {
        ms += this.usualMs(test) + LOAD_MS;
        return ms <= mostMs;
      });
  }

  usualMs(test) {
    return this.#reach?.ms(test) ?? guessedMs(test);
  }

  /**
   * Whether a failure of a test file is a kill at once. Not before the file is known to pass on the unchanged code; and
   * each tenth failure is checked again, in case that something else went wrong since.
   */
  isTrusted(test) {
    this.#failures++;
    if (this.#failures % 10 === 0) return false;
    return this.#unchanged.has(test) || this.#reach?.ms(test) !== undefined;
  }

  learnUnchanged(test) {
    this.#unchanged.add(test);
  }

  /** Remembers what a test made of a mutant: tests that killed many are tried sooner. */
  learn(test, failed) {
    const [kills, tries] = this.#tries.get(test) ?? [0, 0];
    this.#tries.set(test, [kills + (failed ? 1 : 0), tries + 1]);
  }

  #chance(test, { file }) {
    const [kills, tries] = this.#tries.get(test) ?? [0, 0];
    const near = test === file.replace(/\.ts$/, ".test.ts") ? 8 : dirname(test) === dirname(file) ? 3 : 0;
    const direct = this.#loads.get(test).get(file) === 1 ? 3 : 0;
    return (kills + 1 + near + direct) / (tries + 4);
  }
}

/** For tests without a measurement: unit tests are quick, and sweeps over all crashes are slow. */
function guessedMs(test) {
  if (test.startsWith("packages/")) return 300;
  return test.startsWith("test/model/crash-") ? 20_000 : 2000;
}
