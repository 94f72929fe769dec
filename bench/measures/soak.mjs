import { result } from "../lib/result.mjs";
import { leftBehind, soakOurs } from "../lib/soak.mjs";
import { summarize } from "../lib/stats.mjs";

export const name = "soak";
export const about =
  "heap and leftover objects of the host after 20,000 turns in 500 threads, compared with before";

const THREADS = 500;
const MIB = 1024 * 1024;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 20_000, onRound }) {
  const [ours] = subjects("ours");
  const threads = Math.min(THREADS, runs);
  const onTurn = (/** @type {number} */ done) => onRound(done, runs * 1.5);
  const soaked = await soakOurs({ threads, turns: runs, atMostMs: 400_000, onTurn }, ours);
  const { before, after, seconds } = soaked;
  const left = leftBehind(before, after);
  return result({
    name,
    unit: "MiB heap",
    samples: { ours: { summary: summarize([after.heap / MIB]) } },
    ratios: { "after/before": after.heap / before.heap, "left behind": left.length },
    bar: [
      { of: "after/before", max: 1.1 },
      { of: "left behind", max: 0 },
    ],
    notes: [
      `${runs} turns over ${threads} threads in ${seconds.toFixed(0)} s; ${(before.heap / MIB).toFixed(1)} MiB before, ` +
        `both after a collection; ${left.join("; ") || "no timer, listener or signal is left behind"}`,
    ],
  });
}
