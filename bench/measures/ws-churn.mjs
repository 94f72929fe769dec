import { canMeasureMemory, settledMemory } from "../lib/memory.mjs";
import { result } from "../lib/result.mjs";
import { connectClient, leave } from "../lib/socket-server.mjs";
import { summarize } from "../lib/stats.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "ws-churn";
export const about =
  "memory after 1,000 WebSocket clients connected, initialized and left, compared with before";

const WARM_UP = 200;
const AT_ONCE = 50;
const MOST = 1.1;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 1000, onRound }) {
  if (!canMeasureMemory) return [];
  return withHomes(subjects("ours"), { alone: true }, async ([home]) => {
    const { server, url, client } = await home.socket();
    try {
      await leave(client);
      await churn(url, WARM_UP);
      const before = await settledMemory(server.pid, { atLeastMs: 2000, atMostMs: 15_000 });
      const start = performance.now();
      await churn(url, runs, onRound);
      const seconds = (performance.now() - start) / 1000;
      // Waits for the garbage collector, which runs only when it finds it worthwhile.
      const until = (/** @type {number} */ pss) => pss <= before.pss * MOST;
      const after = await settledMemory(server.pid, { atLeastMs: 1000, atMostMs: 30_000, until });
      return result({
        name,
        unit: "MiB PSS",
        samples: { ours: { summary: summarize([after.pss]) } },
        ratios: { "after/before": after.pss / before.pss },
        bar: [{ of: "after/before", max: MOST }],
        notes: [
          `${runs} clients, ${AT_ONCE} at once, in ${seconds.toFixed(1)} s; ${before.pss.toFixed(1)} MiB before, ` +
            `${after.pss.toFixed(1)} MiB ${(after.waitedMs / 1000).toFixed(1)} s after the last one left`,
        ],
      });
    } finally {
      await server.close();
    }
  });
}

/**
 * @param {string} url
 * @param {number} clients
 * @param {(round: number, of: number) => void} [onRound]
 */
async function churn(url, clients, onRound) {
  const deadline = performance.now() + 120_000;
  let begun = 0;
  const lane = async () => {
    while (begun < clients) {
      if (performance.now() > deadline) throw new Error(`only ${begun} of ${clients} clients in 120 s`);
      begun += 1;
      onRound?.(begun, clients);
      await leave(await connectClient(url));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
