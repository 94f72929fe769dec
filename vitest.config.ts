import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LONG } from "./test/support/long-form.ts";

/** Tests that run inside the worker, on fakes or on small pieces. They share workers, because starting one costs more than most of them. */
const INSIDE = ["packages/*/src/**/*.test.ts", "test/simulation/**/*.test.ts", "test/model/**/*.test.ts"];
/** Tests that run whole programs. */
const PROGRAMS = ["test/**/*.test.ts", "examples/**/*.test.ts"];
/** Crowds, kills, sweeps, published clients and walks through the docs. `npm test` alone leaves them to `npm run proof`. */
const LONG_ONLY = [
  "test/long/**",
  "test/clients/**",
  "test/runtimes/**",
  "test/packages/**",
  "test/docs/deploy.test.ts",
  "test/docs/how-to.test.ts",
  "test/docs/quick-starts.test.ts",
  "test/import-homes/**",
];
// Runs for as long as `npm run storm` is asked to.
const STORM = process.env.BOBBIN_STORM_MINUTES === undefined ? ["test/storm/**"] : [];

/** A test file or folder that the command line names is run, whatever its length. */
const named = process.argv.some((argument) => /^(test|packages|examples)\b/.test(argument));

export default defineConfig({
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/clean-up.ts"],
    // Tests of programs mostly wait, so there is room for more of them than there are cores.
    maxWorkers: Math.ceil(availableParallelism() * 2),
    // Waits have limits of their own, which follow the machine (test/support/patience.ts). These only end what is stuck.
    testTimeout: 20 * 60_000,
    hookTimeout: 20 * 60_000,
    projects: [
      { extends: true, test: { name: "inside", include: INSIDE, isolate: false } },
      {
        extends: true,
        test: {
          name: "programs",
          isolate: false,
          include: PROGRAMS,
          exclude: ["test/simulation/**", "test/model/**", ...STORM, ...(LONG || named ? [] : LONG_ONLY)],
        },
      },
    ],
  },
});
