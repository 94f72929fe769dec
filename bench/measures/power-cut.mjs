import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readFileEnds } from "../lib/read-file-ends.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { percentile, summarize } from "../lib/stats.mjs";
import { makeTemplate, storeCopies } from "../lib/stored-threads.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "power-cut";
export const about = "the pass over 10,000 stored threads after a power cut, ours also over 40,000";

const FEW = 10_000;
const MANY = 40_000;
const WITHIN_MS = 120_000;
/** A boot id that no real machine has. */
const OTHER_RUN = "00000000-0000-0000-0000-000000000000";

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 3, onRound }) {
  const [ours] = subjects("ours");
  return withHomes([ours, ours], {}, async ([few, many]) => {
    await fill(few, FEW);
    await fill(many, MANY);
    /** @type {number[]} response times of other requests meanwhile */
    const others = [];
    const sides = [
      { name: "ours", take: async () => pass(few, others) },
      { name: "floor", take: () => readFileEnds(join(few.path, "sessions")) },
      { name: "many", take: async () => pass(many, others) },
    ];
    const samples = await rotate(sides, { runs, atMostMs: 4 * WITHIN_MS, onRound }, (side) => side.take());
    const [value, before] = [samples.many.summary?.value, samples.ours.summary?.value];
    const waited = percentile(others, 0.99);
    return [
      result({
        name,
        unit: "ms",
        samples: { ours: samples.ours, floor: samples.floor },
        bar: [{ of: "ours/floor", max: 10 }],
      }),
      result({
        name: `${name} 40k`,
        unit: "ms",
        samples: { ours: samples.many },
        ratios: value && before ? { "40k/10k": value / before } : {},
        bar: [{ of: "40k/10k", max: (1.5 * MANY) / FEW }],
      }),
      result({
        name: `${name} others`,
        unit: "ms p99",
        samples: { ours: { summary: { ...summarize(others), value: waited } } },
        bar: [{ of: "ours", max: 100 }],
      }),
    ];
  });
}

/**
 * Stores threads, and lets the host build its index of them.
 * @param {import("../lib/subjects.mjs").Home} home
 * @param {number} count
 */
async function fill(home, count) {
  storeCopies(home, await makeTemplate(home, { cwd: home.path, turns: 1 }), 0, count);
  const server = home.stdio();
  try {
    await server.initialize();
    await server.request("thread/list", { limit: 1 }, WITHIN_MS);
  } finally {
    await server.close();
  }
}

/**
 * Starts a host that finds the boot id of an earlier boot, as after a power cut. Waits until the host has stored the
 * present one, which ends its pass.
 * @param {import("../lib/subjects.mjs").Home} home
 * @param {number[]} others
 */
async function pass(home, others) {
  const mark = join(home.path, "live", "boot.mark");
  mkdirSync(join(home.path, "live"), { recursive: true });
  writeFileSync(mark, OTHER_RUN);
  const server = home.stdio();
  try {
    await server.initialize();
    const begun = performance.now();
    // Not measured: the first request also waits until the host is loaded.
    await server.request("thread/loaded/list");
    while (readFileSync(mark, "utf8") === OTHER_RUN) {
      if (performance.now() - begun > WITHIN_MS) throw new Error(`the pass took longer than ${WITHIN_MS} ms`);
      const asked = performance.now();
      await server.request("thread/loaded/list");
      others.push(performance.now() - asked);
      await sleep(5);
    }
    return performance.now() - begun;
  } finally {
    await server.close();
  }
}
