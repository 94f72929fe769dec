import { setTimeout as sleep } from "node:timers/promises";
import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { makeTemplate, storeCopies } from "../lib/stored-threads.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "thread-list";
export const about = "thread/list, 50 of 10,000 stored threads; for ours also of 100,000";

const PAGE = 50;
const SMALL = 10_000;
const LARGE = 100_000;
const STARTS = 3;
const CALLS = { ours: 200, peer: 20, floor: 0 };
const INDEXED_WITHIN_MS = 90_000;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = STARTS, onRound }) {
  const model = await startMockModel();
  try {
    const modelFor = (/** @type {string} */ who) => (who === "peer" ? { modelUrl: model.url } : {});
    const options = { runs, atMostMs: 30_000, onRound };
    return await withHomes(subjects("ours", "peer"), modelFor, async (homes) => {
      /** @type {Map<string, import("../lib/stored-threads.mjs").Template>} */
      const templates = new Map();
      /** @type {string[]} */
      const notes = [];
      /** @param {import("../lib/subjects.mjs").Home} home @param {number} from @param {number} to */
      const fill = async (home, from, to) => {
        const template = templates.get(home.name) ?? (await makeTemplate(home, { cwd: home.path, turns: 1 }));
        templates.set(home.name, template);
        storeCopies(home, template, from, to);
        const seconds = await waitForIndex(home, to);
        notes.push(`${home.name} took ${seconds.toFixed(1)} s to know ${to} threads that it had not seen`);
      };
      /** @type {Set<string>} */
      const filled = new Set();
      const samples = await rotate(homes, options, async (home) => {
        if (!filled.has(home.name)) await fill(home, 0, SMALL);
        filled.add(home.name);
        return listTimes(home);
      });
      const small = result({
        name,
        unit: "ms",
        samples,
        bar: [{ of: "ours/peer", max: 1 / 20 }],
        notes: notes.splice(0),
      });

      const ours = homes.filter((home) => home.name === "ours");
      let grown = false;
      const large = await rotate(ours, options, async (home) => {
        // The index is deleted, so that the host builds it from all journals: an existing one would miss copied files.
        if (!grown) await fill(await withoutIndex(home), SMALL, LARGE);
        grown = true;
        return listTimes(home);
      });
      const [value, before] = [large.ours?.summary?.value, samples.ours?.summary?.value];
      const ratios = value && before ? { "100k/10k": value / before } : {};
      return [
        small,
        result({
          name: `${name} 100k`,
          unit: "ms",
          samples: large,
          ratios: /** @type {Record<string, number>} */ (ratios),
          bar: [{ of: "100k/10k", max: 2 }],
          notes,
        }),
      ];
    });
  } finally {
    model.close();
  }
}

/** @param {import("../lib/subjects.mjs").Home} home */
async function withoutIndex(home) {
  const { readdirSync, rmSync } = await import("node:fs");
  for (const file of readdirSync(home.path)) if (file.includes(".sqlite")) rmSync(`${home.path}/${file}`);
  return home;
}

/**
 * Waits until the program's own index has all threads. Resolves with the seconds that it took.
 * @param {import("../lib/subjects.mjs").Home} home
 * @param {number} count
 */
async function waitForIndex(home, count) {
  const start = performance.now();
  const left = () => INDEXED_WITHIN_MS - (performance.now() - start);
  const server = home.stdio();
  try {
    await server.initialize();
    for (;;) {
      const known = await countThreads(server, count, left);
      if (known >= count) return (performance.now() - start) / 1000;
      if (left() < 1000)
        throw new Error(`${known} of ${count} threads are indexed after ${INDEXED_WITHIN_MS} ms`);
      await sleep(500);
    }
  } finally {
    await server.close();
  }
}

/**
 * @param {import("../lib/server-process.mjs").StdioServer} server
 * @param {number} count
 * @param {() => number} left
 */
async function countThreads(server, count, left) {
  let known = 0;
  let cursor = null;
  do {
    const params = { limit: 100, cursor, useStateDbOnly: true };
    const page = await server.request("thread/list", params, Math.max(1, left()));
    known += page.data.length;
    cursor = page.nextCursor;
  } while (cursor !== null && known < count && left() > 0);
  return known;
}

/** @param {import("../lib/subjects.mjs").Home} home */
async function listTimes(home) {
  const server = home.stdio();
  try {
    await server.initialize();
    const times = [];
    for (let i = 0; i < CALLS[home.name] * 1.2; i++) {
      const start = performance.now();
      const { data } = await server.request("thread/list", { limit: PAGE });
      if (i >= CALLS[home.name] * 0.2) times.push(performance.now() - start);
      if (data.length !== PAGE) throw new Error(`${data.length} threads were listed, not ${PAGE}`);
    }
    return times;
  } finally {
    await server.close();
  }
}
