import { setTimeout as sleep } from "node:timers/promises";
import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate.mjs";
import { summarize } from "../lib/stats.mjs";
import { makeTemplate, storeLong } from "../lib/stored.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "thread-fork";
export const about =
  "thread/fork of a stored thread with 2,500 turns, and its oldest page against its newest";

const TURNS = 2500;
const PAGES = 20;
const LIMIT = 20;
/** A fresh process has things of its own to do. */
const SETTLE_MS = 500;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 5, onRound }) {
  const model = await startMockModel();
  try {
    const modelFor = (/** @type {string} */ who) => (who === "peer" ? { modelUrl: model.url } : {});
    return await withHomes(subjects("ours", "peer"), modelFor, async (homes) => {
      /** @type {Map<string, string>} */
      const stored = new Map();
      /** @type {Record<"asc" | "desc", number[]>} */
      const pages = { asc: [], desc: [] };
      const options = { runs, warmups: 1, atMostMs: 90_000, onRound };
      const samples = await rotate(homes, options, async (home) => {
        const threadId =
          stored.get(home.name) ??
          storeLong(home, await makeTemplate(home, { cwd: home.path, turns: 3 }), TURNS);
        stored.set(home.name, threadId);
        const server = home.stdio();
        try {
          await server.initialize();
          await sleep(SETTLE_MS);
          if (home.name === "ours") await takePages(server, threadId, pages);
          const begun = performance.now();
          const { thread } = await server.request("thread/fork", { threadId }, 60_000);
          const took = performance.now() - begun;
          if (thread.turns.length !== TURNS) throw new Error(`the fork has ${thread.turns.length} turns`);
          return took;
        } finally {
          await server.close();
        }
      });
      const [oldest, newest] = [summarize(pages.asc), summarize(pages.desc)];
      return [
        result({ name, unit: "ms", samples, bar: [{ of: "ours/peer", max: 1 / 2 }] }),
        result({
          name: "oldest-page",
          unit: "ms",
          samples: { ours: { summary: oldest } },
          ratios: { "oldest/newest": oldest.value / newest.value },
          bar: [{ of: "oldest/newest", max: 2 }],
        }),
      ];
    });
  } finally {
    model.close();
  }
}

/**
 * @param {import("../lib/server.mjs").StdioServer} server
 * @param {string} threadId
 * @param {Record<"asc" | "desc", number[]>} pages
 */
async function takePages(server, threadId, pages) {
  for (let at = 0; at < PAGES; at++) {
    for (const sortDirection of /** @type {const} */ (["asc", "desc"])) {
      const begun = performance.now();
      const { data } = await server.request("thread/turns/list", { threadId, limit: LIMIT, sortDirection });
      // The first of a process are of code that nobody has run before.
      if (at >= PAGES / 4) pages[sortDirection].push(performance.now() - begun);
      if (data.length !== LIMIT) throw new Error(`a page has ${data.length} turns, not ${LIMIT}`);
    }
  }
}
