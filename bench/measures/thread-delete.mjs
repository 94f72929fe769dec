import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { runTurn, startThreads } from "../lib/threads.mjs";

export const name = "thread-delete";
export const about =
  "thread/delete with 3,000 other threads that were started and never used, compared with none";

const UNUSED = 3000;
const DELETED = 6;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 5, onRound }) {
  const [ours] = subjects("ours");
  const sides = [
    { name: "none", unused: 0 },
    { name: "many", unused: UNUSED },
  ];
  const samples = await rotate(sides, { runs, warmups: 1, atMostMs: 120_000, onRound }, ({ unused }) =>
    withHomes([ours], {}, ([home]) => deletions(home, unused)),
  );
  const [value, before] = [samples.many.summary?.value, samples.none.summary?.value];
  return result({
    name,
    unit: "ms",
    samples: { ours: samples.many },
    ratios: value && before ? { "many/none": value / before } : {},
    bar: [{ of: "many/none", max: 2 }],
  });
}

/**
 * @param {import("../lib/subjects.mjs").Home} home
 * @param {number} unused
 */
async function deletions(home, unused) {
  const server = home.stdio();
  try {
    await server.initialize();
    /** @type {string[]} */
    const used = [];
    for (let at = 0; at < DELETED; at++) {
      const { thread } = await server.request("thread/start", { cwd: home.path });
      await runTurn(server, thread.id, "Say a few words.");
      used.push(thread.id);
    }
    const times = [];
    for (const threadId of used) {
      // New unused threads before each deletion, because a deletion may handle the existing ones for the next.
      await startThreads(server, { cwd: home.path, count: unused / DELETED });
      const begun = performance.now();
      await server.request("thread/delete", { threadId });
      times.push(performance.now() - begun);
    }
    return times;
  } finally {
    await server.close();
  }
}
