import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { BusyClient } from "../lib/busy-client.mjs";
import { RawSubscriber } from "../lib/raw-subscriber.mjs";
import { startProber } from "../lib/request-prober.mjs";
import { result } from "../lib/result.mjs";
import { within } from "../lib/server-process.mjs";
import { percentile, summarize } from "../lib/stats.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { startUnrulyModel } from "../lib/unruly-model.mjs";

export const name = "pressure";
export const about =
  "the slowest request of another client while models stream without end, call 10,000 tools, or 2,000 turns start";

/** Number of concurrent models that stream without end, and the duration of the measurement. */
const FLOODS = 4;
const FLOOD_MS = 4000;
/** The largest value that can be configured for `model_answer_max_calls`. */
const CALLS = 10_000;
const LIMITS = `model_answer_max_calls = ${CALLS}\n`;
const TURNS = 2000;
/** Twice as many turns must not take much more than twice as long. */
const FEWER_TURNS = TURNS / 2;
const MOST_TIMES = 2.5;
/** Below the host's limit of 1,024 concurrent requests per connection. */
const TURNS_PER_CLIENT = 500;
const BAR_MS = 100;
const END = '"method":"turn/completed"';

/** @typedef {{ cwd: string, url: string, client: BusyClient }} Stage */
/** @typedef {{ note: string, acceptedMs?: number }} Work what the work adds to a row: a note, and the time until all turns were accepted */

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 3, onRound }) {
  const model = await startUnrulyModel();
  try {
    return await withHomes(subjects("ours"), { modelUrl: model.url, top: LIMITS }, async ([home]) => {
      const results = [];
      /** @type {Record<string, (stage: Stage) => Promise<Work>>} */
      const kinds = {
        stream: floods,
        calls: manyCalls,
        turns: (stage) => manyTurns(stage, TURNS),
      };
      const fewer = [];
      for (const [kind, work] of Object.entries(kinds)) {
        const rows = [];
        for (let round = 0; round < runs; round++) {
          onRound(round + 1, runs);
          rows.push(await onStage(home, work));
          if (kind === "turns") fewer.push(await onStage(home, (stage) => manyTurns(stage, FEWER_TURNS)));
        }
        results.push(...rowsOf(kind, rows));
        if (kind === "turns") results.push(acceptedRow(rows, fewer));
      }
      return results;
    });
  } finally {
    model.close();
  }
}

/** @typedef {Awaited<ReturnType<typeof onStage>>} Row */

/** The slowest request, and the 99th percentile. @param {string} kind @param {Row[]} rows */
function rowsOf(kind, rows) {
  const most = Math.max(...rows.map(({ peakMb }) => peakMb));
  return [
    result({
      name: `${name} ${kind}`,
      unit: "ms",
      samples: { ours: { summary: summarize(rows.map(({ slowest }) => slowest)) } },
      bar: [{ of: "ours", max: BAR_MS }],
      notes: [`at most ${most.toFixed(0)} MB resident`, ...rows.map(({ note }) => note)],
    }),
    result({
      name: `${name} ${kind} p99`,
      unit: "ms",
      samples: { ours: { summary: summarize(rows.map(({ p99 }) => p99)) } },
      bar: [{ of: "ours", max: BAR_MS }],
      notes: [`of ${rows.map(({ requests }) => requests).join(", ")} requests`],
    }),
  ];
}

/** How long it takes to accept all turns, and half as many. @param {Row[]} rows @param {Row[]} fewer */
function acceptedRow(rows, fewer) {
  const [ours, before] = [rows, fewer].map((some) => summarize(some.map(({ acceptedMs = 0 }) => acceptedMs)));
  const ratio = `${TURNS}/${FEWER_TURNS}`;
  return result({
    name: `${name} turns accepted`,
    unit: "ms",
    samples: { ours: { summary: ours } },
    ratios: { [ratio]: ours.value / before.value },
    bar: [{ of: ratio, max: MOST_TIMES }],
    notes: [`${FEWER_TURNS} turns were accepted in ${before.value.toFixed(0)} ms`],
  });
}

/**
 * Runs one kind of load on a new host, so that leftovers of another kind are not measured.
 * @param {import("../lib/subjects.mjs").Home} home
 * @param {(stage: Stage) => Promise<Work>} work
 */
async function onStage(home, work) {
  const { server, url, client: first } = await home.socket();
  const client = await BusyClient.connect(url);
  const peak = watchMemory(server.pid);
  try {
    const other = await startProber(url, home.path);
    const done = await work({ cwd: home.path, url, client });
    const times = await other.stop();
    const [slowest, p99] = [Math.max(...times), percentile(times, 0.99)];
    return { ...done, slowest, p99, requests: times.length, peakMb: peak() };
  } finally {
    peak();
    client.close();
    first.terminate();
    await server.close();
  }
}

/** Several models stream without end. A turn that ends at a limit is followed by another. @param {Stage} stage */
async function floods(stage) {
  const { client, url } = stage;
  const until = performance.now() + FLOOD_MS;
  let ends = 0;
  const lane = async () => {
    const reader = await RawSubscriber.connect(url);
    let interruptMs = 0;
    while (performance.now() < until) {
      const threadId = await followedThread(stage, reader);
      const ended = reader.seen(END, 60_000);
      const { turn } = await client.request("turn/start", { threadId, input: [text("flood")] });
      const left = Math.max(0, until - performance.now());
      if (await Promise.race([ended.then(() => true), sleep(left, false)])) {
        ends++;
        continue;
      }
      const start = performance.now();
      await client.request("turn/interrupt", { threadId, turnId: turn.id }).catch((cause) => {
        // The turn may have just ended at a limit.
        if (!/no active turn/.test(String(cause))) throw cause;
      });
      interruptMs = performance.now() - start;
      await ended;
    }
    reader.close();
    return interruptMs;
  };
  const interrupts = await Promise.all(Array.from({ length: FLOODS }, lane));
  return { note: `turn/interrupt ${Math.max(...interrupts).toFixed(1)} ms, ${ends} turns ended at a limit` };
}

/** @param {Stage} stage */
async function manyCalls(stage) {
  const reader = await RawSubscriber.connect(stage.url);
  const threadId = await followedThread(stage, reader);
  const ended = reader.seen(END, 120_000);
  const start = performance.now();
  await stage.client.request("turn/start", { threadId, input: [text(`call ${CALLS}`)] });
  await ended;
  reader.close();
  return { note: `the turn took ${(performance.now() - start).toFixed(0)} ms` };
}

/** @param {Stage} stage @param {number} count */
async function manyTurns({ cwd, url }, count) {
  const begun = performance.now();
  let left = count;
  /** @type {() => void} */
  let allEnded = () => {};
  const ended = new Promise((resolve) => {
    allEnded = () => resolve(undefined);
  });
  const crowd = await Promise.all(
    Array.from({ length: count / TURNS_PER_CLIENT }, async () => {
      const client = await BusyClient.connect(url);
      client.on("turn/completed", () => {
        if (--left === 0) allEnded();
      });
      const starts = Array.from({ length: TURNS_PER_CLIENT }, () => client.request("thread/start", { cwd }));
      const threads = (await Promise.all(starts)).map(({ thread }) => thread.id);
      return { client, threads };
    }),
  );
  const loaded = performance.now();
  const input = [text("hello")];
  await Promise.all(
    crowd.flatMap(({ client, threads }) =>
      threads.map((threadId) => client.request("turn/start", { threadId, input })),
    ),
  );
  const accepted = performance.now();
  await within(60_000, "not all turns ended", ended);
  for (const { client } of crowd) client.close();
  const seconds = (/** @type {number} */ from, /** @type {number} */ to) => ((to - from) / 1000).toFixed(2);
  const note =
    `${count} threads in ${seconds(begun, loaded)} s, their turns accepted in ${seconds(loaded, accepted)} s ` +
    `and ended in ${seconds(loaded, performance.now())} s`;
  return { note, acceptedMs: accepted - loaded };
}

/** Starts a thread to which only `reader` is subscribed. @param {Stage} stage @param {RawSubscriber} reader */
async function followedThread({ cwd, client }, reader) {
  const { thread } = await client.request("thread/start", { cwd });
  await reader.request("thread/resume", { threadId: thread.id });
  await client.request("thread/unsubscribe", { threadId: thread.id });
  return /** @type {string} */ (thread.id);
}

/** @param {string} words */
const text = (words) => ({ type: "text", text: words, text_elements: [] });

/**
 * Samples a process's resident memory. The returned function stops the sampling and returns the maximum in MB.
 * @param {number} pid
 */
function watchMemory(pid) {
  let most = 0;
  const timer = setInterval(() => {
    try {
      const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
      most = Math.max(most, Number(found?.[1] ?? 0) / 1000);
    } catch {
      // The process has ended, or the system has no /proc.
    }
  }, 20);
  return () => {
    clearInterval(timer);
    return most;
  };
}
