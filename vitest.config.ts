import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

/** Tests inside of one process, on fakes or on small pieces. They share workers: starting one costs more than most of them. */
const INSIDE = ["packages/*/src/**/*.test.ts", "test/simulation/**/*.test.ts", "test/model/**/*.test.ts"];
/** Tests that run whole programs. */
const PROGRAMS = ["test/**/*.test.ts", "examples/**/*.test.ts"];
const REAL_MODEL = "test/model/real.test.ts";
// As long as one asks for: `npm run storm`.
const STORM = process.env.BOBBIN_STORM_MINUTES === undefined ? ["test/storm/**"] : [];

export default defineConfig({
  test: {
    globalSetup: ["test/support/global-setup.ts"],
    setupFiles: ["test/support/clean-up.ts"],
    // Tests of programs mostly wait, so there is room for more of them than there are cores.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // Waits have limits of their own, which follow the machine (test/support/patience.ts). These only end what is stuck.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    projects: [
      { extends: true, test: { name: "inside", include: INSIDE, exclude: [REAL_MODEL], isolate: false } },
      {
        extends: true,
        test: {
          name: "programs",
          include: [...PROGRAMS, REAL_MODEL],
          exclude: ["test/simulation/**", "test/model/!(real).test.ts", ...STORM],
        },
      },
    ],
  },
});
