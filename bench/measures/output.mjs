import { BusyClient } from "../lib/busy-client.mjs";
import { watchResident } from "../lib/memory.mjs";
import { startMockModel } from "../lib/mock-model.mjs";
import { RawSubscriber } from "../lib/raw-subscriber.mjs";
import { startProber } from "../lib/request-prober.mjs";
import { result } from "../lib/result.mjs";
import { percentile, summarize } from "../lib/stats.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "output";
export const about =
  "response times of another client, and memory, while a program writes 100 MB as fast as it can";

const BYTES = 100_000_000;
const LINE = "0123456789 abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const COMMAND = `yes '${LINE}' | head -c ${BYTES}`;
const AT_MOST_MS = 120_000;
/** Limits: the 99th percentile of other clients' response times, and the growth of the host's memory. */
const BARS = { ms: 20, mb: 100 };

/** @typedef {{ cwd: string, client: BusyClient, reader: RawSubscriber }} Stage */

/** @type {Record<string, (stage: Stage) => Promise<void>>} */
const WAYS = { spawn: spawned, shell: shellCommand, exec: modelCommand };

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 3, onRound }) {
  const args = { cmd: COMMAND, login: false, yield_time_ms: 30_000 };
  const model = await startMockModel({ tool: "exec_command", args });
  const options = { modelUrl: model.url, sandbox: "workspace-write", env: { SHELL: "/bin/bash" } };
  try {
    return await withHomes(subjects("ours"), options, async ([home]) => {
      const results = [];
      for (const [way, run] of Object.entries(WAYS)) {
        const rows = [];
        for (let round = 0; round < runs; round++) {
          onRound(round + 1, runs);
          rows.push(await onStage(home, run));
        }
        results.push(...rowsOf(way, rows));
      }
      return results;
    });
  } finally {
    model.close();
  }
}

/** @param {string} way @param {Awaited<ReturnType<typeof onStage>>[]} rows */
function rowsOf(way, rows) {
  const seconds = rows.map(({ ms }) => (ms / 1000).toFixed(1)).join(", ");
  return [
    result({
      name: `${name} ${way}`,
      unit: "ms",
      samples: { ours: { summary: summarize(rows.map(({ p99 }) => p99)) } },
      bar: [{ of: "ours", max: BARS.ms }],
      notes: [
        `100 MB took ${seconds} s; the slowest request ${Math.max(...rows.map((row) => row.slowest)).toFixed(1)} ms`,
      ],
    }),
    result({
      name: `${name} ${way} memory`,
      unit: "MB",
      samples: { ours: { summary: summarize(rows.map(({ grownMb }) => grownMb)) } },
      bar: [{ of: "ours", max: BARS.mb }],
    }),
  ];
}

/**
 * Runs one kind of command on a new host, so that leftovers of another kind are not measured.
 * @param {import("../lib/subjects.mjs").Home} home
 * @param {(stage: Stage) => Promise<void>} run
 */
async function onStage(home, run) {
  const { server, url, client: first } = await home.socket();
  const client = await BusyClient.connect(url);
  const reader = await RawSubscriber.connect(url);
  try {
    const other = await startProber(url, home.path);
    const memory = await watchResident(server.pid);
    const start = performance.now();
    await run({ cwd: home.path, client, reader });
    const ms = performance.now() - start;
    const times = await other.stop();
    return { slowest: Math.max(...times), p99: percentile(times, 0.99), ms, grownMb: memory() };
  } finally {
    client.close();
    reader.close();
    first.terminate();
    await server.close();
  }
}

/** `process/spawn`: all output is streamed to the client. @param {Stage} stage */
async function spawned({ cwd, reader }) {
  const before = reader.bytes;
  const limits = { timeoutMs: null, outputBytesCap: null };
  await reader.request("process/spawn", {
    command: ["sh", "-c", COMMAND],
    cwd,
    processHandle: "output",
    streamStdoutStderr: true,
    ...limits,
  });
  await reader.seen('"method":"process/exited"', AT_MOST_MS);
  if (reader.bytes - before < BYTES) throw new Error(`only ${reader.bytes - before} bytes came`);
}

/** `thread/shellCommand`: the item contains a part of the output. @param {Stage} stage */
async function shellCommand({ cwd, client, reader }) {
  const { thread } = await client.request("thread/start", { cwd });
  await reader.request("thread/resume", { threadId: thread.id });
  const ended = reader.seen('"method":"turn/completed"', AT_MOST_MS);
  await client.request("thread/shellCommand", { threadId: thread.id, command: COMMAND });
  await ended;
}

/** `exec_command` of the model in the sandbox: the rest of the output goes into a file. @param {Stage} stage */
async function modelCommand({ cwd, client, reader }) {
  const { thread } = await client.request("thread/start", { cwd });
  await reader.request("thread/resume", { threadId: thread.id });
  const ended = reader.seen('"method":"turn/completed"', AT_MOST_MS);
  const input = [{ type: "text", text: "Run it.", text_elements: [] }];
  await client.request("turn/start", { threadId: thread.id, input });
  await ended;
}
