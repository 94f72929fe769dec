import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { summarize } from "../lib/stats.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { makeProject } from "../lib/threads.mjs";

export const name = "thread-start";
export const about =
  "thread/start, one after the other in one process, in a repository and in an empty folder";

const STARTS = 5;
const CALLS = { ours: 300, peer: 20, floor: 0 };
// A host runs for days, so a warm one is measured. V8 needs some 2,000 calls for that; native code is warm at once.
const WARM_UP = { ours: 2000, peer: 20, floor: 0 };
/** The first starts of a process are a result of their own: they are what a new user sees. */
const FIRST = 20;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = STARTS, onRound }) {
  const model = await startMockModel();
  try {
    const modelFor = (/** @type {string} */ who) => (who === "peer" ? { modelUrl: model.url } : {});
    return await withHomes(subjects("ours", "peer"), modelFor, async (homes) => {
      const projects = new Map(homes.map((home) => [home, makeProject(home)]));
      /** @type {Record<string, number[]>} by subject, in the repository */
      const first = {};
      const warm = result({
        name,
        unit: "ms",
        samples: await rotate(homes, { runs, atMostMs: 40_000, onRound }, async (home) => {
          const times = await sample(home, projects.get(home) ?? home.path);
          first[home.name] = [...(first[home.name] ?? []), ...times.first];
          return times.warm;
        }),
        bar: [{ of: "ours/peer", max: 1 / 50 }],
        notes: [
          `in a repository with AGENTS.md, as people work; first: the first ${FIRST} of a process there`,
        ],
      });
      const bare = result({
        name: `${name} bare`,
        unit: "ms",
        samples: await rotate(
          homes,
          { runs, atMostMs: 40_000, onRound },
          async (home) => (await sample(home, home.path)).warm,
        ),
      });
      const firsts = Object.entries(first).map(([who, times]) => [who, { summary: summarize(times) }]);
      return [warm, result({ name: `${name} first`, unit: "ms", samples: Object.fromEntries(firsts) }), bare];
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
      times.push(performance.now() - start);
    }
    return { first: times.slice(0, FIRST), warm: times.slice(WARM_UP[home.name]) };
  } finally {
    await server.close();
  }
}
