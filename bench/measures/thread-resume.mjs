import { result } from "../lib/result.mjs";
import { onStoredThread } from "../lib/stored-threads.mjs";

export const name = "thread-resume";
export const about =
  "thread/resume of a stored thread with 1,000 turns, all in the reply, in a fresh process";

const TURNS = 1000;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 7, onRound }) {
  const options = { turns: TURNS, runs, atMostMs: 60_000, onRound };
  const samples = await onStoredThread(subjects("ours", "peer"), options, sample);
  return result({ name, unit: "ms", samples, bar: [{ of: "ours/peer", max: 1 / 5 }] });
}

/** @param {import("../lib/server-process.mjs").StdioServer} server @param {string} threadId */
async function sample(server, threadId) {
  const start = performance.now();
  const { thread } = await server.request("thread/resume", { threadId });
  const took = performance.now() - start;
  const { turns } = thread;
  if (turns.length !== TURNS || turns.some((/** @type {any} */ turn) => turn.items.length < 2))
    throw new Error(`the reply had ${turns.length} turns, not ${TURNS} whole ones`);
  return took;
}
