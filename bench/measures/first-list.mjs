import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { startThreads } from "../lib/threads.mjs";

export const name = "first-list";
export const about =
  "the first thread/list of a host after another one started 3,000 threads, against after 30";

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
  // In a home of its own each time: the first list of all may leave an index behind that later ones use.
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
 * The threads are unloaded when the host ends, which has asked for no list.
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
