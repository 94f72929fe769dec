import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { within } from "../lib/server-process.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "rpc-roundtrip";
export const about = "a cheap call on stdio, from the write to the parsed reply";

// Several starts, because a process tends to stay on the core where it started, and cores differ.
const STARTS = 10;
const WARM_UP = 200;
const CHEAP = "thread/loaded/list";
const UNKNOWN = "bench/unknown";

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 2000, onRound }) {
  return withHomes(subjects("ours", "peer", "floor"), {}, async (homes) => {
    /** @type {Set<string>} */
    const notes = new Set();
    const options = { runs: Math.min(STARTS, runs), onRound };
    const samples = await rotate(homes, options, async (home) => {
      const server = home.stdio();
      try {
        await server.initialize();
        const refused = (await within(15_000, `${CHEAP} was not answered`, server.call(CHEAP))).error;
        if (refused)
          notes.add(`${home.name} has no ${CHEAP}: an unknown method's error reply was measured instead`);
        const method = refused ? UNKNOWN : CHEAP;
        const calls = async () => {
          await sequence(server, method, WARM_UP);
          return sequence(server, method, Math.ceil(runs / STARTS));
        };
        return await within(60_000, "the calls were not all answered", calls());
      } finally {
        await server.close();
      }
    });
    return result({ name, unit: "ms", samples, bar: [{ of: "ours", max: 0.3 }], notes: [...notes] });
  });
}

/**
 * @param {import("../lib/server-process.mjs").StdioServer} server
 * @param {string} method
 * @param {number} count
 */
async function sequence(server, method, count) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const start = performance.now();
    await server.call(method);
    times.push(performance.now() - start);
  }
  return times;
}
