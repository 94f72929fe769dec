// Runs many turns, or many loads of threads, on one host, and measures what they leave behind in memory.
import { setTimeout as sleep } from "node:timers/promises";
import { INSPECTED, Inspector } from "./inspector.mjs";
import { startMockModel } from "./mock-model.mjs";
import { commandOf, Subject } from "./subjects.mjs";
import { Turns } from "./turns.mjs";

const OURS = new Subject("ours", commandOf("node bin/bobbin app-server"));

/**
 * Runs `soak` on a new host with a new mock model.
 * @param {Omit<Parameters<typeof soak>[1], "cwd">} options
 * @param {Subject} [subject]
 */
export function soakOurs(options, subject = OURS) {
  return onInspected(subject, "", (server, cwd) => soak(server, { ...options, cwd }));
}

/**
 * Runs `reload` on a new host with a new mock model.
 * @param {Omit<Parameters<typeof reload>[1], "cwd"> & { config: string }} options `config`: text for the end of
 * config.toml
 */
export function reloadOurs({ config, ...options }) {
  return onInspected(OURS, config, (server, cwd) => reload(server, { ...options, cwd }));
}

/**
 * Runs `work` on a new host that can be inspected, with a new mock model.
 * @template T
 * @param {Subject} subject
 * @param {string} config text for the end of config.toml
 * @param {(server: import("./server-process.mjs").StdioServer, cwd: string) => Promise<T>} work
 */
async function onInspected(subject, config, work) {
  // A short keep-alive, so that idle connections are closed before the objects are counted.
  const model = await startMockModel({ keepAliveMs: 1000 });
  const home = subject.home({ modelUrl: model.url, env: INSPECTED, config });
  const server = home.stdio();
  try {
    return await work(server, home.path);
  } finally {
    await server.close();
    home.close();
    model.close();
  }
}

/**
 * @param {import("./server-process.mjs").StdioServer} server started with INSPECTED, not initialized
 * @param {{ cwd: string, threads: number, turns: number, atOnce?: number, atMostMs: number, onTurn?: (done: number) => void }} options
 * `turns` are measured, after half as many turns that fill the host's caches up to their limits
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
      // Each lane uses its own threads, so that no thread has two turns at once.
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
 * Loads and unloads threads that have a turn, one after the other in each of them. Another thread stays loaded.
 * @param {import("./server-process.mjs").StdioServer} server started with INSPECTED, not initialized
 * @param {{ cwd: string, threads: number, loads: number, atMostMs: number }} options `loads` are measured, after half
 * as many loads that fill the host's caches up to their limits
 */
async function reload(server, { cwd, threads, loads, atMostMs }) {
  await server.initialize();
  const inspector = await Inspector.connect(() => server.stderr);
  try {
    const deadline = performance.now() + atMostMs;
    const running = new Turns(server);
    /** @type {string[]} */
    const ids = [];
    for (let i = 0; i <= threads; i++) {
      ids.push(await running.thread(cwd));
      await running.run(ids[i]);
    }
    let done = 0;
    const run = (/** @type {number} */ times) =>
      Promise.all(
        ids.slice(1).map(async (threadId, first) => {
          for (let nth = first; nth < times; nth += threads) {
            if (performance.now() > deadline) throw new Error(`only ${done} loads in ${atMostMs} ms`);
            const { status } = await server.request("thread/unload", { threadId });
            if (status !== "unloaded") throw new Error(`a thread is ${status}, not unloaded`);
            await server.request("thread/resume", { threadId });
            done += 1;
          }
        }),
      );
    await run(Math.ceil(loads / 2));
    const before = await settled(inspector);
    await run(loads);
    return { before, after: await settled(inspector) };
  } finally {
    inspector.close();
  }
}

/**
 * Counts the objects of the host after idle connections have closed and pending timers have fired.
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
 * The kinds of objects whose number has grown.
 * @param {import("./inspector.mjs").Residue} before
 * @param {import("./inspector.mjs").Residue} after
 */
export function leftBehind(before, after) {
  // Node's own objects vary in number by a few. A leak leaves one object per turn or per thread.
  const ALLOWED = 10;
  return Object.keys(after.counts)
    .filter((kind) => after.counts[kind] - (before.counts[kind] ?? 0) > ALLOWED)
    .map((kind) => `${kind}: ${before.counts[kind] ?? 0} before, ${after.counts[kind]} after`);
}
