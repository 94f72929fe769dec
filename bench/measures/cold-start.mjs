import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "cold-start";
export const about = "from spawn to the reply to initialize, on stdio";

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 20, onRound }) {
  return withHomes(subjects("ours", "peer", "floor"), {}, async (homes) => {
    const samples = await rotate(homes, { runs, warmups: 3, onRound }, async (home) => {
      const start = performance.now();
      const server = home.stdio();
      try {
        await server.initialize();
        return performance.now() - start;
      } finally {
        await server.close();
      }
    });
    const bar = [
      { of: "ours/floor", max: 1.5 },
      { of: "ours/peer", max: 1.7 },
    ];
    return result({ name, unit: "ms", samples, bar });
  });
}
