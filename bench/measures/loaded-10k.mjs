import { canMeasureMemory, settledMemory } from "../lib/memory.mjs";
import { result } from "../lib/result.mjs";
import { summarize } from "../lib/stats.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { makeProject, startThreads } from "../lib/threads.mjs";

export const name = "loaded-10k";
export const about = "memory of one host with 10,000 loaded threads";

const MIB_A_MB = 1.048576;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 10_000 }) {
  if (!canMeasureMemory) return [];
  return withHomes(subjects("ours"), { alone: true }, async ([home]) => {
    const cwd = makeProject(home);
    const server = home.stdio();
    try {
      await server.initialize();
      const start = performance.now();
      await startThreads(server, { cwd, count: runs, atMostMs: 90_000 });
      const seconds = (performance.now() - start) / 1000;
      const { data } = await server.request("thread/loaded/list", {});
      if (data.length !== runs) throw new Error(`${data.length} of ${runs} threads are loaded`);
      const { pss } = await settledMemory(server.pid, { atLeastMs: 2000, atMostMs: 10_000 });
      return result({
        name,
        unit: "MB PSS",
        samples: { ours: { summary: summarize([pss * MIB_A_MB]) } },
        bar: [{ of: "ours", max: 400 }],
        notes: [`${runs} threads started in ${seconds.toFixed(1)} s`],
      });
    } finally {
      await server.close();
    }
  });
}
