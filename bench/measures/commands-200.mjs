import { BusyClient } from "../lib/busy-client.mjs";
import { watchResident } from "../lib/memory.mjs";
import { startMockModel } from "../lib/mock-model.mjs";
import { startProber } from "../lib/request-prober.mjs";
import { result } from "../lib/result.mjs";
import { within } from "../lib/server-process.mjs";
import { percentile, summarize } from "../lib/stats.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "commands-200";
export const about = "response times of another client, and memory, while 200 threads run a command at once";

const THREADS = 200;
const ARGS = { cmd: "sleep 2; seq 1 1000", login: false, yield_time_ms: 30_000 };
const AT_MOST_MS = 120_000;
/** Limits: the 99th percentile of other clients' response times, and the growth of the host's memory. */
const BARS = { ms: 100, mb: 100 };
const MODES = { "commands-200": "danger-full-access", "commands-200 sandboxed": "workspace-write" };

const input = [{ type: "text", text: "Run it.", text_elements: [] }];

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 3, onRound }) {
  const model = await startMockModel({ tool: "exec_command", args: ARGS });
  try {
    const results = [];
    for (const [of, sandbox] of Object.entries(MODES)) {
      const options = { modelUrl: model.url, sandbox, env: { SHELL: "/bin/bash" } };
      const rows = await withHomes(subjects("ours"), options, async ([home]) => {
        const found = [];
        for (let round = 0; round < runs; round++) {
          onRound(round + 1, runs);
          found.push(await sample(home));
        }
        return found;
      });
      results.push(...resultsOf(of, rows));
    }
    return results;
  } finally {
    model.close();
  }
}

/** @param {string} of @param {Awaited<ReturnType<typeof sample>>[]} rows */
function resultsOf(of, rows) {
  const seconds = rows.map(({ ms }) => (ms / 1000).toFixed(1)).join(", ");
  const slowest = Math.max(...rows.map((row) => row.slowest)).toFixed(1);
  return [
    result({
      name: of,
      unit: "ms",
      samples: { ours: { summary: summarize(rows.map(({ p99 }) => p99)) } },
      bar: [{ of: "ours", max: BARS.ms }],
      notes: [`all took ${seconds} s; the slowest request of others ${slowest} ms`],
    }),
    result({
      name: `${of} memory`,
      unit: "MB",
      samples: { ours: { summary: summarize(rows.map(({ grownMb }) => grownMb)) } },
      bar: [{ of: "ours", max: BARS.mb }],
    }),
  ];
}

/** @param {import("../lib/subjects.mjs").Home} home */
async function sample(home) {
  const { server, url, client: first } = await home.socket();
  const client = await BusyClient.connect(url);
  try {
    const threads = await Promise.all(
      Array.from({ length: THREADS }, () => client.request("thread/start", { cwd: home.path })),
    );
    const ended = allEnded(client);
    const other = await startProber(url, home.path);
    const memory = await watchResident(server.pid);
    const start = performance.now();
    await Promise.all(
      threads.map(({ thread: { id: threadId } }) => client.request("turn/start", { threadId, input })),
    );
    await within(AT_MOST_MS, "not all commands have ended", ended);
    const ms = performance.now() - start;
    const times = await other.stop();
    return { slowest: Math.max(...times), p99: percentile(times, 0.99), ms, grownMb: memory() };
  } finally {
    client.close();
    first.terminate();
    await server.close();
  }
}

/**
 * Resolves when all turns have ended. Rejects if a command failed or its output is incomplete.
 * @param {BusyClient} client
 */
function allEnded(client) {
  return new Promise((resolve, reject) => {
    let commands = 0;
    let turns = 0;
    client.on("item/completed", ({ item }) => {
      if (item.type !== "commandExecution") return;
      if (item.exitCode === 0 && item.aggregatedOutput.endsWith("\n1000\n")) commands++;
      else reject(new Error(`a command failed: ${item.exitCode} ${item.aggregatedOutput.slice(0, 200)}`));
    });
    client.on("turn/completed", () => {
      if (++turns < THREADS) return;
      if (commands === THREADS) resolve(undefined);
      else reject(new Error(`only ${commands} commands ran`));
    });
  });
}
