import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { Turns } from "../lib/turns.mjs";

export const name = "turns-100";
export const about = "turns per second of 100 threads that always have a turn running";

const STARTS = 3;
const THREADS = 100;
/** Turns per thread. */
const TURNS = { ours: 20, peer: 3, floor: 0 };
const WARM_UP = { ours: 10, peer: 1, floor: 0 };

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = STARTS, onRound }) {
  const model = await startMockModel();
  try {
    return await withHomes(subjects("ours", "peer"), { modelUrl: model.url }, async (homes) => {
      const samples = await rotate(homes, { runs, atMostMs: 180_000, onRound }, sample);
      return result({ name, unit: "turns/s", samples, bar: [{ of: "ours/peer", min: 20 }] });
    });
  } finally {
    model.close();
  }
}

/** @param {import("../lib/subjects.mjs").Home} home */
async function sample(home) {
  const server = home.stdio();
  try {
    await server.initialize();
    const turns = new Turns(server);
    const threads = [];
    for (let i = 0; i < THREADS; i++) threads.push(await turns.thread(home.path));
    const all = async (/** @type {number} */ times) => {
      const start = performance.now();
      await Promise.all(
        threads.map(async (threadId) => {
          for (let i = 0; i < times; i++) await turns.run(threadId);
        }),
      );
      return (THREADS * times) / ((performance.now() - start) / 1000);
    };
    await all(WARM_UP[home.name]);
    return await all(TURNS[home.name]);
  } finally {
    await server.close();
  }
}
