// Vitest's default reporter, plus a count of finished test files as progress of a long run.
import { DefaultReporter } from "vitest/node";

const EVERY = 10;

// biome-ignore lint/style/noDefaultExport: Vitest requires a default export.
export default class ProgressReporter extends DefaultReporter {
  #files = 0;
  #done = 0;

  onTestRunStart(specifications) {
    this.#files = specifications.length;
    super.onTestRunStart(specifications);
  }

  onTestModuleEnd(module) {
    super.onTestModuleEnd(module);
    this.#done++;
    if (!this.isTTY && this.#done % EVERY === 0) this.log(`   … ${this.#done} of ${this.#files} files`);
  }
}
