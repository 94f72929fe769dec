import { canMeasureMemory, settledMemory } from "../lib/memory.mjs";
import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { makeProject, startThreads } from "../lib/threads.mjs";

export const name = "thread-memory";
export const about = "memory per loaded thread, averaged over many";

const KIB = 1024;
/** Threads before the measurement: the first ones load code, and ours keeps up to 256 threads in memory. */
const BEFORE = { ours: 500, peer: 20, floor: 0 };
const MORE = { ours: 2000, peer: 200, floor: 0 };
const SETTLE = { atLeastMs: 1500, atMostMs: 8000 };

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 2, onRound }) {
  if (!canMeasureMemory) return [];
  const model = await startMockModel();
  try {
    const optionsFor = (/** @type {string} */ who) => ({
      alone: true,
      ...(who === "peer" && { modelUrl: model.url }),
    });
    return await withHomes(subjects("ours", "peer"), optionsFor, async (homes) => {
      const samples = await rotate(homes, { runs, atMostMs: 45_000, onRound }, async (home) => {
        const cwd = makeProject(home);
        const server = home.stdio();
        try {
          await server.initialize();
          await startThreads(server, { cwd, count: BEFORE[home.name] });
          const before = await settledMemory(server.pid, SETTLE);
          await startThreads(server, { cwd, count: MORE[home.name] });
          const after = await settledMemory(server.pid, SETTLE);
          return ((after.pss - before.pss) * KIB) / MORE[home.name];
        } finally {
          await server.close();
        }
      });
      return result({ name, unit: "KiB PSS", samples, bar: [{ of: "ours/peer", max: 1 / 50 }] });
    });
  } finally {
    model.close();
  }
}
