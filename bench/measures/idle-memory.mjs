import { canMeasureMemory, settledMemory } from "../lib/memory.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { leave } from "../lib/socket-server.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "idle-memory";
export const about = "memory of the process tree after initialize, without a thread, once it has settled";

const SETTLE = { atLeastMs: 2000, atMostMs: 8000 };

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 5, onRound }) {
  if (!canMeasureMemory) return [];
  const stdio = await withHomes(subjects("ours", "peer", "floor"), { alone: true }, (homes) =>
    rotate(homes, { runs, onRound }, async (home) => {
      const server = home.stdio();
      try {
        await server.initialize();
        return (await settledMemory(server.pid, SETTLE)).pss;
      } finally {
        await server.close();
      }
    }),
  );
  const socket = await withHomes(subjects("ours", "peer"), { alone: true }, (homes) =>
    rotate(homes, { runs, onRound }, async (home) => {
      const { server, client } = await home.socket();
      try {
        const { pss } = await settledMemory(server.pid, SETTLE);
        await leave(client);
        return pss;
      } finally {
        await server.close();
      }
    }),
  );
  const bar = [{ of: "ours/peer", max: 0.7 }];
  return [
    result({ name, unit: "MiB PSS", samples: stdio, bar }),
    result({ name: `${name} ws`, unit: "MiB PSS", samples: socket, bar }),
  ];
}
