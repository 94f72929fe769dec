import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { percentile, summarize } from "../lib/stats.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { startToolServers } from "../lib/tool-servers.mjs";

export const name = "unload-notices";
export const about =
  "replies to thread/unload, 500 times, with 20 tool servers to notify, half of them faulty";

/** @type {import("../lib/tool-servers.mjs").Kind[]} */
const KINDS = [
  "good",
  "hang",
  "good",
  "refuse",
  "good",
  "reset",
  "good",
  "fail",
  "good",
  "move",
  "good",
  "drip",
];

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 500 }) {
  const model = await startMockModel();
  const tools = await startToolServers(Array.from({ length: 20 }, (_, at) => KINDS[at % KINDS.length]));
  try {
    const options = { modelUrl: model.url, config: tools.config };
    return await withHomes(subjects("ours"), options, async ([home]) => {
      const server = home.stdio();
      try {
        await server.initialize();
        /** @type {string[]} */
        const threads = [];
        for (let left = runs; left > 0; left--)
          threads.push((await server.request("thread/start", { cwd: home.path })).thread.id);
        const times = [];
        for (const threadId of threads) {
          const start = performance.now();
          await server.request("thread/unload", { threadId });
          times.push(performance.now() - start);
        }
        const summary = { ...summarize(times), value: percentile(times, 0.99) };
        return result({
          name,
          unit: "ms p99",
          samples: { ours: { summary } },
          bar: [{ of: "ours", max: 50 }],
          notes: [`the median is ${percentile(times, 0.5).toFixed(2)} ms`],
        });
      } finally {
        await server.close();
      }
    });
  } finally {
    tools.close();
    model.close();
  }
}
