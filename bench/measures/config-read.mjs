import { manyEntriesHome } from "../lib/large-config.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { within } from "../lib/server-process.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "config-read";
export const about = "config/read with layers, of a configuration of 200 values, the programs in turns";

/** Ours is compiled by then: code that ran a few times is still interpreted. */
const WARM_UP = 100;
/** Calls that follow each other, of which the quickest counts: what else runs at that moment is not what is measured. */
const IN_A_ROW = 3;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 200, onRound }) {
  return withHomes(subjects("ours", "peer"), manyEntriesHome, async (homes) => {
    const servers = homes.map((home) => ({ name: home.name, path: home.path, server: home.stdio() }));
    try {
      for (const { server } of servers) await server.initialize();
      /** @param {typeof servers[number]} subject */
      const timed = async ({ path, server }) => {
        const start = performance.now();
        await server.request("config/read", { includeLayers: true, cwd: path });
        return performance.now() - start;
      };
      /** @param {typeof servers[number]} subject @param {number} times */
      const quickest = async (subject, times) => {
        let least = Number.POSITIVE_INFINITY;
        for (let nth = 0; nth < times; nth++) least = Math.min(least, await timed(subject));
        return least;
      };
      for (const subject of servers) await quickest(subject, WARM_UP);
      const samples = await within(
        60_000,
        "the calls were not all answered",
        rotate(servers, { runs, atMostMs: 45_000, onRound }, (subject) => quickest(subject, IN_A_ROW)),
      );
      return result({ name, unit: "ms", samples, bar: [{ of: "ours/peer", max: 0.2 }] });
    } finally {
      await Promise.all(servers.map(({ server }) => server.close()));
    }
  });
}
