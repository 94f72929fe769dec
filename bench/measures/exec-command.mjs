import { spawn } from "node:child_process";
import { once } from "node:events";
import { removeFolder, temporaryFolder } from "../lib/cleanup.mjs";
import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { median, summarize } from "../lib/stats.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { makeLargeRepository } from "../lib/threads.mjs";
import { Turns } from "../lib/turns.mjs";

export const name = "exec-command";
export const about =
  "a turn that runs a command, outside of the sandbox and in it, minus the time of a bare spawn; in an empty folder and in a large repository";

const STARTS = 3;
const TURNS = { ours: 60, peer: 15, floor: 0 };
const WARM_UP = { ours: 60, peer: 2, floor: 0 };
const ARGS = { login: false, yield_time_ms: 10_000 };
/** In a repository, the command changes a file: before a command that only reads, no snapshot of the files is taken. */
const MODES = [
  { of: "exec-command", sandbox: "danger-full-access", cmd: "true", files: 0 },
  { of: "exec-command repository", sandbox: "danger-full-access", cmd: "echo x > changed", files: 5_000 },
  { of: "exec-sandboxed", sandbox: "workspace-write", cmd: "true", files: 0 },
  { of: "exec-sandboxed repository", sandbox: "workspace-write", cmd: "echo x > changed", files: 5_000 },
];

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = STARTS, onRound }) {
  const results = [];
  for (const { of, sandbox, cmd, files } of MODES) {
    const model = await startMockModel({ tool: "exec_command", args: { ...ARGS, cmd } });
    try {
      const options = { modelUrl: model.url, sandbox, env: { SHELL: "/bin/bash" } };
      const measured = await withHomes(subjects("ours", "peer"), options, async (homes) => {
        /** @type {number[]} */
        const bare = [];
        const samples = await rotate(homes, { runs, atMostMs: 180_000, onRound }, (home) =>
          sample(home, bare, cmd, files),
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
          notes: [`floor: \`bash -c "${cmd}"\`, spawned by Node, between the turns of ours`],
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
 * @param {string} cmd
 * @param {number} files of the repository in which commands run; 0 for an empty folder
 */
async function sample(home, bare, cmd, files) {
  const server = home.stdio();
  const cwd = temporaryFolder();
  if (files > 0) makeLargeRepository(cwd, files);
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
      if (home.name === "ours") bare.push(await bareSpawn(cwd, cmd));
    }
    return times;
  } finally {
    await server.close();
    removeFolder(cwd);
  }
}

/**
 * @param {string} cwd
 * @param {string} cmd
 */
async function bareSpawn(cwd, cmd) {
  const start = performance.now();
  await once(spawn("/bin/bash", ["-c", cmd], { cwd, stdio: ["ignore", "pipe", "pipe"] }), "close");
  return performance.now() - start;
}
