// Vitest's usual report, with a count of the test files that are done, so that a long run shows how far it is.
import { DefaultReporter } from "vitest/node";

const EVERY = 10;

// biome-ignore lint/style/noDefaultExport: Vitest takes a reporter so.
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
