import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { BusyClient } from "../lib/busy-client.mjs";
import { startProber } from "../lib/prober.mjs";
import { RawSubscriber } from "../lib/raw-subscriber.mjs";
import { result } from "../lib/result.mjs";
import { within } from "../lib/server.mjs";
import { percentile, summarize } from "../lib/stats.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { startUnrulyModel } from "../lib/unruly-model.mjs";

export const name = "pressure";
export const about =
  "the slowest request of another client while models stream without end, call 10,000 tools, or 2,000 turns start";

/** Models that stream without end at the same time, and for how long they are watched. */
const FLOODS = 4;
const FLOOD_MS = 4000;
/** As many as the largest limit that can be configured. */
const CALLS = 10_000;
const LIMITS = `model_answer_max_calls = ${CALLS}\n`;
const TURNS = 2000;
/** A connection takes at most 1,024 requests at once. */
const TURNS_PER_CLIENT = 500;
const BAR_MS = 100;
const END = '"method":"turn/completed"';

/** @typedef {{ cwd: string, url: string, client: BusyClient }} Stage */

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 3, onRound }) {
  const model = await startUnrulyModel();
  try {
    return await withHomes(subjects("ours"), { modelUrl: model.url, top: LIMITS }, async ([home]) => {
      const results = [];
      for (const [kind, work] of Object.entries({ stream: floods, calls: manyCalls, turns: manyTurns })) {
        const rows = [];
        for (let round = 0; round < runs; round++) {
          onRound(round + 1, runs);
          rows.push(await onStage(home, work));
        }
        results.push(rowOf(kind, rows));
      }
      return results;
    });
  } finally {
    model.close();
  }
}

/** @param {string} kind @param {Awaited<ReturnType<typeof onStage>>[]} rows */
function rowOf(kind, rows) {
  const most = Math.max(...rows.map(({ peakMb }) => peakMb));
  const p99 = Math.max(...rows.map((row) => row.p99));
  return result({
    name: `${name} ${kind}`,
    unit: "ms",
    samples: { ours: { summary: summarize(rows.map(({ slowest }) => slowest)) } },
    bar: [{ of: "ours", max: BAR_MS }],
    notes: [
      `99 of 100 took at most ${p99.toFixed(1)} ms; at most ${most.toFixed(0)} MB resident`,
      ...rows.map(({ note }) => note),
    ],
  });
}

/**
 * Works on a host of its own, so that one kind of pressure does not measure what another one has left.
 * @param {import("../lib/subjects.mjs").Home} home
 * @param {(stage: Stage) => Promise<string>} work returns a note for the table
 */
async function onStage(home, work) {
  const { server, url, client: first } = await home.socket();
  const client = await BusyClient.connect(url);
  const peak = watchMemory(server.pid);
  try {
    const other = await startProber(url, home.path);
    const note = await work({ cwd: home.path, url, client });
    const times = await other.stop();
    return { slowest: Math.max(...times), p99: percentile(times, 0.99), note, peakMb: peak() };
  } finally {
    peak();
    client.close();
    first.terminate();
    await server.close();
  }
}

/** Several models stream without end; a turn that ends at a limit is followed by the next. @param {Stage} stage */
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
        // It may have ended at its limit a moment ago.
        if (!/no active turn/.test(String(cause))) throw cause;
      });
      interruptMs = performance.now() - start;
      await ended;
    }
    reader.close();
    return interruptMs;
  };
  const interrupts = await Promise.all(Array.from({ length: FLOODS }, lane));
  return `turn/interrupt ${Math.max(...interrupts).toFixed(1)} ms, ${ends} turns ended at a limit`;
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
  return `the turn took ${(performance.now() - start).toFixed(0)} ms`;
}

/** @param {Stage} stage */
async function manyTurns({ cwd, url }) {
  const begun = performance.now();
  let left = TURNS;
  /** @type {() => void} */
  let allEnded = () => {};
  const ended = new Promise((resolve) => {
    allEnded = () => resolve(undefined);
  });
  const crowd = await Promise.all(
    Array.from({ length: TURNS / TURNS_PER_CLIENT }, async () => {
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
  return (
    `${TURNS} threads in ${seconds(begun, loaded)} s, their turns accepted in ${seconds(loaded, accepted)} s ` +
    `and ended in ${seconds(loaded, performance.now())} s`
  );
}

/** A new thread that only the reader follows. @param {Stage} stage @param {RawSubscriber} reader */
async function followedThread({ cwd, client }, reader) {
  const { thread } = await client.request("thread/start", { cwd });
  await reader.request("thread/resume", { threadId: thread.id });
  await client.request("thread/unsubscribe", { threadId: thread.id });
  return /** @type {string} */ (thread.id);
}

/** @param {string} words */
const text = (words) => ({ type: "text", text: words, text_elements: [] });

/** Samples a process's resident memory. The returned function stops that and gives the maximum in MB. @param {number} pid */
function watchMemory(pid) {
  let most = 0;
  const timer = setInterval(() => {
    try {
      const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
      most = Math.max(most, Number(found?.[1] ?? 0) / 1000);
    } catch {
      // It has ended, or the system has no /proc.
    }
  }, 20);
  return () => {
    clearInterval(timer);
    return most;
  };
}
