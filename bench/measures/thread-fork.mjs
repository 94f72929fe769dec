import { result } from "../lib/result.mjs";
import { summarize } from "../lib/stats.mjs";
import { onStoredThread } from "../lib/stored-threads.mjs";

export const name = "thread-fork";
export const about =
  "thread/fork of a stored thread with 2,500 turns, and its oldest page compared with its newest";

const TURNS = 2500;
const PAGES = 20;
const LIMIT = 20;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 5, onRound }) {
  /** @type {Record<"asc" | "desc", number[]>} */
  const pages = { asc: [], desc: [] };
  const options = { turns: TURNS, runs, atMostMs: 90_000, onRound };
  const samples = await onStoredThread(subjects("ours", "peer"), options, async (server, threadId, home) => {
    if (home.name === "ours") await takePages(server, threadId, pages);
    const begun = performance.now();
    const { thread } = await server.request("thread/fork", { threadId }, 60_000);
    const took = performance.now() - begun;
    if (thread.turns.length !== TURNS) throw new Error(`the fork has ${thread.turns.length} turns`);
    return took;
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
}

/**
 * @param {import("../lib/server-process.mjs").StdioServer} server
 * @param {string} threadId
 * @param {Record<"asc" | "desc", number[]>} pages
 */
async function takePages(server, threadId, pages) {
  for (let at = 0; at < PAGES; at++) {
    for (const sortDirection of /** @type {const} */ (["asc", "desc"])) {
      const begun = performance.now();
      const { data } = await server.request("thread/turns/list", { threadId, limit: LIMIT, sortDirection });
      // The first pages of a process are not counted: they run cold code.
      if (at >= PAGES / 4) pages[sortDirection].push(performance.now() - begun);
      if (data.length !== LIMIT) throw new Error(`a page has ${data.length} turns, not ${LIMIT}`);
    }
  }
}
