import { setTimeout as sleep } from "node:timers/promises";
import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate.mjs";
import { makeTemplate, storeLong } from "../lib/stored.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "thread-resume";
export const about =
  "thread/resume of a stored thread with 1,000 turns, all of them in the reply, in a fresh process";

const TURNS = 1000;
/** A fresh process has things of its own to do; they are not the resume's. */
const SETTLE_MS = 500;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 7, onRound }) {
  const model = await startMockModel();
  try {
    const modelFor = (/** @type {string} */ who) => (who === "peer" ? { modelUrl: model.url } : {});
    return await withHomes(subjects("ours", "peer"), modelFor, async (homes) => {
      /** @type {Map<string, string>} */
      const stored = new Map();
      const options = { runs, warmups: 1, atMostMs: 60_000, onRound };
      const samples = await rotate(homes, options, async (home) => {
        const threadId =
          stored.get(home.name) ??
          storeLong(home, await makeTemplate(home, { cwd: home.path, turns: 3 }), TURNS);
        stored.set(home.name, threadId);
        const server = home.stdio();
        try {
          await server.initialize();
          await sleep(SETTLE_MS);
          const start = performance.now();
          const { thread } = await server.request("thread/resume", { threadId });
          const took = performance.now() - start;
          const { turns } = thread;
          if (turns.length !== TURNS || turns.some((/** @type {any} */ turn) => turn.items.length < 2))
            throw new Error(`the reply had ${turns.length} turns, not ${TURNS} whole ones`);
          return took;
        } finally {
          await server.close();
        }
      });
      return result({ name, unit: "ms", samples, bar: [{ of: "ours/peer", max: 1 / 5 }] });
    });
  } finally {
    model.close();
  }
}
