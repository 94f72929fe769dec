import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { makeProject } from "../lib/threads.mjs";

export const name = "thread-start";
export const about = "thread/start, one after the other in one process, in a repository and in a bare folder";

const STARTS = 5;
const CALLS = { ours: 300, peer: 20, floor: 0 };
const WARM_UP = { ours: 100, peer: 5, floor: 0 };

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = STARTS, onRound }) {
  const model = await startMockModel();
  try {
    const modelFor = (/** @type {string} */ who) => (who === "peer" ? { modelUrl: model.url } : {});
    return await withHomes(subjects("ours", "peer"), modelFor, async (homes) => {
      const projects = new Map(homes.map((home) => [home, makeProject(home)]));
      const inFolder = (/** @type {(home: import("../lib/subjects.mjs").Home) => string} */ folder) =>
        rotate(homes, { runs, atMostMs: 40_000, onRound }, (home) => sample(home, folder(home)));
      const bar = [{ of: "ours/peer", max: 1 / 50 }];
      return [
        result({
          name,
          unit: "ms",
          samples: await inFolder((home) => projects.get(home) ?? home.path),
          bar,
          notes: ["in a repository with AGENTS.md, as people work"],
        }),
        result({ name: `${name} bare`, unit: "ms", samples: await inFolder((home) => home.path), bar }),
      ];
    });
  } finally {
    model.close();
  }
}

/**
 * @param {import("../lib/subjects.mjs").Home} home
 * @param {string} cwd
 */
async function sample(home, cwd) {
  const server = home.stdio();
  try {
    await server.initialize();
    const times = [];
    for (let i = 0; i < WARM_UP[home.name] + CALLS[home.name]; i++) {
      const start = performance.now();
      await server.request("thread/start", { cwd });
      if (i >= WARM_UP[home.name]) times.push(performance.now() - start);
    }
    return times;
  } finally {
    await server.close();
  }
}
