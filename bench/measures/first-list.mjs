import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { startThreads } from "../lib/threads.mjs";

export const name = "first-list";
export const about =
  "the first thread/list of a host after another host started 3,000 threads, compared with 30 threads";

const FEW = 30;
const MANY = 3000;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 5, onRound }) {
  const [ours] = subjects("ours");
  const sides = [
    { name: "few", count: FEW },
    { name: "many", count: MANY },
  ];
  const options = { runs, warmups: 1, atMostMs: 120_000, onRound };
  // Each sample has a new home directory, because the first list may create an index that later lists use.
  const samples = await rotate(sides, options, ({ count }) =>
    withHomes([ours], {}, async ([home]) => {
      await start(home, count);
      return firstList(home);
    }),
  );
  const [value, before] = [samples.many.summary?.value, samples.few.summary?.value];
  return result({
    name,
    unit: "ms",
    samples: { ours: samples.many },
    ratios: value && before ? { "3000/30": value / before } : {},
    bar: [{ of: "3000/30", max: 2 }],
  });
}

/**
 * Starts threads on a host that is never asked for a list. They are unloaded when the host ends.
 * @param {import("../lib/subjects.mjs").Home} home
 * @param {number} count
 */
async function start(home, count) {
  const server = home.stdio();
  try {
    await server.initialize();
    await startThreads(server, { cwd: home.path, count });
  } finally {
    await server.close();
  }
}

/** @param {import("../lib/subjects.mjs").Home} home */
async function firstList(home) {
  const server = home.stdio();
  try {
    await server.initialize();
    const begun = performance.now();
    await server.request("thread/list", {}, 60_000);
    return performance.now() - begun;
  } finally {
    await server.close();
  }
}
