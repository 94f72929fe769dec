// Measures a cold start: from the spawn to the reply to `initialize`, on stdio.
import { result } from "./result.mjs";
import { rotate } from "./rotate-subjects.mjs";
import { withHomes } from "./subjects.mjs";

const BAR = [
  { of: "ours/floor", max: 1.5 },
  { of: "ours/peer", max: 1.7 },
];

/**
 * @param {string} name of the measure
 * @param {Parameters<typeof withHomes>[1]} home options of the home directories
 * @returns {import("../run.mjs").Measure}
 */
export function coldStart(name, home) {
  return ({ subjects, runs = 20, onRound }) =>
    withHomes(subjects("ours", "peer", "floor"), home, async (homes) => {
      const samples = await rotate(homes, { runs, warmups: 3, onRound }, async (one) => {
        const start = performance.now();
        const server = one.stdio();
        try {
          await server.initialize();
          return performance.now() - start;
        } finally {
          await server.close();
        }
      });
      return result({ name, unit: "ms", samples, bar: BAR });
    });
}
