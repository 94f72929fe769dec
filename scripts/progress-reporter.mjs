// Vitest's default reporter, plus a count of finished test files as progress of a long run, and at its end the names of
// the tests that were skipped and why.
import { DefaultReporter } from "vitest/node";

const EVERY = 10;
/** Limit on the names of skipped tests. */
const MAX_NAMED = 30;

// biome-ignore lint/style/noDefaultExport: Vitest requires a default export.
export default class ProgressReporter extends DefaultReporter {
  #files = 0;
  #done = 0;
  #skipped = [];
  /** What tests need and the machine does not have. */
  #missing = new Set();

  onUserConsoleLog(log, ...more) {
    const [, missing] = /^(not on this machine: .*)$/m.exec(log.content) ?? [];
    if (missing === undefined) super.onUserConsoleLog(log, ...more);
    else this.#missing.add(missing);
  }

  onTestRunStart(specifications) {
    this.#files = specifications.length;
    super.onTestRunStart(specifications);
  }

  onTestModuleEnd(module) {
    super.onTestModuleEnd(module);
    this.#done++;
    for (const test of module.children.allTests("skipped")) this.#skipped.push(test);
    if (!this.isTTY && this.#done % EVERY === 0) this.log(`   … ${this.#done} of ${this.#files} files`);
  }

  onTestRunEnd(...results) {
    super.onTestRunEnd(...results);
    // With a pattern for names, everything else is skipped on purpose.
    if (this.#skipped.length === 0 || this.ctx.config.testNamePattern !== undefined) return;
    for (const test of this.#skipped.slice(0, MAX_NAMED)) {
      const why = test.result().note ?? "see below";
      this.log(`skipped: ${test.module.relativeModuleId} > ${test.fullName} (${why})`);
    }
    const more = this.#skipped.length - MAX_NAMED;
    if (more > 0) this.log(`skipped: ${more} more`);
    for (const missing of this.#missing) this.log(missing);
  }
}
