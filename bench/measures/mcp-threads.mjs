import { setTimeout as sleep } from "node:timers/promises";
import { lightServer } from "../lib/mcp-server.mjs";
import { canMeasureMemory, ownMemory, processesNamed } from "../lib/memory.mjs";
import { result } from "../lib/result.mjs";
import { summarize } from "../lib/stats.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { startThreads } from "../lib/threads.mjs";

export const name = "mcp-threads";
export const about =
  "processes, and the host's own memory, of 1,000 threads with 5 MCP servers; the peer with 20 threads";

const SERVERS = ["one", "two", "three", "four", "five"];
const THREADS = { ours: 1000, peer: 20, floor: 0 };
const MIB_A_MB = 1.048576;
const AT_MOST_MS = 120_000;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects }) {
  if (!canMeasureMemory) return [];
  const config = SERVERS.map((server) => lightServer(server)).join("");
  const options = { alone: true, modelUrl: "http://127.0.0.1:9/v1", config };
  return withHomes(subjects("ours", "peer"), options, async (homes) => {
    /** @type {Record<string, { summary: import("../lib/stats.mjs").Summary }>} */
    const processes = {};
    /** @type {Record<string, { summary: import("../lib/stats.mjs").Summary }>} */
    const memory = {};
    for (const home of homes) {
      const found = await sample(home);
      processes[home.name] = { summary: summarize([found.processes]) };
      memory[home.name] = { summary: summarize([found.memory]) };
    }
    const notes = ["ours with 1,000 threads, the peer with 20; the host itself, without its servers"];
    return [
      result({ name, unit: "processes", samples: processes, bar: [{ of: "ours", max: 5 }] }),
      result({
        name: `${name} memory`,
        unit: "MB PSS",
        samples: memory,
        bar: [{ of: "ours/peer", max: 3 }],
        notes,
      }),
    ];
  });
}

/** @param {import("../lib/subjects.mjs").Home} home */
async function sample(home) {
  const server = home.stdio();
  try {
    await server.initialize();
    let ready = 0;
    server.listeners.add(({ method, params }) => {
      if (method === "mcpServer/startupStatus/updated" && params.status === "ready") ready += 1;
    });
    const count = THREADS[home.name];
    await startThreads(server, { cwd: home.path, count });
    const deadline = performance.now() + AT_MOST_MS;
    while (ready < count * SERVERS.length) {
      if (performance.now() > deadline) throw new Error(`only ${ready} servers were ready in time`);
      await sleep(50);
    }
    await sleep(3000);
    return {
      processes: processesNamed(server.pid, "mcp-light.sh"),
      memory: ownMemory(server.pid) * MIB_A_MB,
    };
  } finally {
    await server.close();
  }
}
