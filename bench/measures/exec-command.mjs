import { spawn } from "node:child_process";
import { once } from "node:events";
import { removeFolder, temporaryFolder } from "../lib/cleanup.mjs";
import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { median, summarize } from "../lib/stats.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { Turns } from "../lib/turns.mjs";

export const name = "exec-command";
export const about =
  "a turn that runs `true`, outside of the sandbox and in it, minus the time of a bare spawn";

const STARTS = 3;
const TURNS = { ours: 60, peer: 15, floor: 0 };
const WARM_UP = { ours: 60, peer: 2, floor: 0 };
const ARGS = { cmd: "true", login: false, yield_time_ms: 10_000 };
const MODES = { "exec-command": "danger-full-access", "exec-sandboxed": "workspace-write" };

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = STARTS, onRound }) {
  const results = [];
  for (const [of, sandbox] of Object.entries(MODES)) {
    const model = await startMockModel({ tool: "exec_command", args: ARGS });
    try {
      const options = { modelUrl: model.url, sandbox, env: { SHELL: "/bin/bash" } };
      const measured = await withHomes(subjects("ours", "peer"), options, async (homes) => {
        /** @type {number[]} */
        const bare = [];
        const samples = await rotate(homes, { runs, atMostMs: 180_000, onRound }, (home) =>
          sample(home, bare),
        );
        if (samples.ours?.error) throw new Error(samples.ours.error);
        const floor = summarize(bare, [median(bare)]);
        const { ours, peer } = samples;
        const beyond = (/** @type {any} */ one) => one.summary.value - floor.value;
        return result({
          name: of,
          unit: "ms",
          samples: { ...samples, floor: { summary: floor } },
          ratios: ours?.summary && peer?.summary ? { "overhead of peer": beyond(ours) / beyond(peer) } : {},
          bar: [{ of: "overhead of peer", max: 1 / 5 }],
          notes: ["floor: `bash -c true`, spawned by Node, between the turns of ours"],
        });
      });
      results.push(measured);
    } finally {
      model.close();
    }
  }
  return results;
}

/**
 * @param {import("../lib/subjects.mjs").Home} home
 * @param {number[]} bare
 */
async function sample(home, bare) {
  const server = home.stdio();
  const cwd = temporaryFolder();
  try {
    await server.initialize();
    /** @type {string | undefined} */
    let failure;
    server.listeners.add(({ method, params }) => {
      if (method !== "item/completed" || params.item.type !== "commandExecution") return;
      if (params.item.status !== "completed") failure = `a command failed: ${params.item.aggregatedOutput}`;
    });
    const turns = new Turns(server);
    await turns.inNewThread(cwd, WARM_UP[home.name]);
    const threadId = await turns.thread(cwd);
    const times = [];
    for (let turn = 0; turn < TURNS[home.name]; turn++) {
      times.push(await turns.run(threadId));
      if (failure) throw new Error(failure);
      if (home.name === "ours") bare.push(await bareSpawn(cwd));
    }
    return times;
  } finally {
    await server.close();
    removeFolder(cwd);
  }
}

/** @param {string} cwd */
async function bareSpawn(cwd) {
  const start = performance.now();
  await once(spawn("/bin/bash", ["-c", "true"], { cwd, stdio: ["ignore", "pipe", "pipe"] }), "close");
  return performance.now() - start;
}
