// Many turns on one host, and what they leave behind.
import { setTimeout as sleep } from "node:timers/promises";
import { INSPECTED, Inspector } from "./inspector.mjs";
import { startMockModel } from "./mock-model.mjs";
import { commandOf, Subject } from "./subjects.mjs";
import { Turns } from "./turns.mjs";

/**
 * On a host and a model of its own.
 * @param {Omit<Parameters<typeof soak>[1], "cwd">} options
 * @param {Subject} [subject]
 */
export async function soakOurs(
  options,
  subject = new Subject("ours", commandOf("node bin/bobbin app-server")),
) {
  // Connections that nobody uses should be gone when what is left is counted.
  const model = await startMockModel({ keepAliveMs: 1000 });
  const home = subject.home({ modelUrl: model.url, env: INSPECTED });
  const server = home.stdio();
  try {
    return await soak(server, { ...options, cwd: home.path });
  } finally {
    await server.close();
    home.close();
    model.close();
  }
}

/**
 * @param {import("./server.mjs").StdioServer} server started with INSPECTED, not initialized
 * @param {{ cwd: string, threads: number, turns: number, atOnce?: number, atMostMs: number, onTurn?: (done: number) => void }} options
 * `turns` behind half as many, in which what is kept for the next turns fills up to its bound
 */
async function soak(server, { cwd, threads, turns, atOnce = 50, atMostMs, onTurn }) {
  await server.initialize();
  const inspector = await Inspector.connect(() => server.stderr);
  try {
    const deadline = performance.now() + atMostMs;
    const running = new Turns(server);
    /** @type {string[]} */
    const ids = [];
    for (let i = 0; i < threads; i++) ids.push(await running.thread(cwd));
    let done = 0;
    const run = async (/** @type {number} */ times) => {
      // A lane has its own threads, so that none has two turns at once.
      const lanes = Math.min(atOnce, threads);
      const lane = async (/** @type {number} */ first) => {
        for (let nth = first; nth < times; nth += lanes) {
          if (performance.now() > deadline) throw new Error(`only ${done} turns in ${atMostMs} ms`);
          const own = Math.floor((threads - 1 - first) / lanes) + 1;
          await running.run(ids[first + lanes * (Math.floor(nth / lanes) % own)]);
          onTurn?.(++done);
        }
      };
      await Promise.all(Array.from({ length: lanes }, (_, first) => lane(first)));
    };
    await run(Math.ceil(turns / 2));
    const before = await settled(inspector);
    const start = performance.now();
    await run(turns);
    const seconds = (performance.now() - start) / 1000;
    return { before, after: await settled(inspector), seconds };
  } finally {
    inspector.close();
  }
}

/**
 * What is left once connections are gone that nobody uses, and timers that were about to fire.
 * @param {Inspector} inspector
 */
async function settled(inspector) {
  const deadline = performance.now() + 20_000;
  let least = Number.POSITIVE_INFINITY;
  for (let still = 0; still < 3 && performance.now() < deadline; still++) {
    await sleep(500);
    const now = await inspector.emitters();
    if (now < least) still = 0;
    least = Math.min(least, now);
  }
  return inspector.residue();
}

/**
 * Kinds of things of which there are more than before.
 * @param {import("./inspector.mjs").Residue} before
 * @param {import("./inspector.mjs").Residue} after
 */
export function leftBehind(before, after) {
  // Node keeps a few of its own, and not always as many. A leak leaves one a turn, or one a thread.
  const ALLOWED = 10;
  return Object.keys(after.counts)
    .filter((kind) => after.counts[kind] - (before.counts[kind] ?? 0) > ALLOWED)
    .map((kind) => `${kind}: ${before.counts[kind] ?? 0} before, ${after.counts[kind]} after`);
}
