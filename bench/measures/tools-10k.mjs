import { setTimeout as sleep } from "node:timers/promises";
import { canMeasureMemory, settledMemory } from "../lib/memory.mjs";
import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { summarize } from "../lib/stats.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { startToolServers } from "../lib/tool-servers.mjs";

export const name = "tools-10k";
export const about = "memory of one host with 10,000 turns that wait for a tool server";

const MIB_A_MB = 1.048576;
const AT_ONCE = 16;
const AT_MOST_MS = 240_000;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 10_000 }) {
  if (!canMeasureMemory) return [];
  const model = await startMockModel({ tool: "work" });
  const tools = await startToolServers(["good"]);
  try {
    const options = { alone: true, modelUrl: model.url, config: tools.config };
    return await withHomes(subjects("ours"), options, async ([home]) => {
      const server = home.stdio();
      try {
        await server.initialize();
        const start = performance.now();
        await beginTurns(server, home.path, runs);
        while (((await tools.heard())["/invoke"] ?? 0) < runs) {
          if (performance.now() - start > AT_MOST_MS) throw new Error("not all calls were made");
          await sleep(100);
        }
        const seconds = (performance.now() - start) / 1000;
        const { pss } = await settledMemory(server.pid, { atLeastMs: 3000, atMostMs: 15_000 });
        return result({
          name,
          unit: "MB PSS",
          samples: { ours: { summary: summarize([pss * MIB_A_MB]) } },
          bar: [{ of: "ours", max: 400 }],
          notes: [`${runs} turns came to their call in ${seconds.toFixed(1)} s`],
        });
      } finally {
        await server.close();
      }
    });
  } finally {
    tools.close();
    model.close();
  }
}

/**
 * @param {import("../lib/server-process.mjs").StdioServer} server
 * @param {string} cwd
 * @param {number} count
 */
async function beginTurns(server, cwd, count) {
  const deadline = performance.now() + AT_MOST_MS;
  const input = [{ type: "text", text: "Work.", text_elements: [] }];
  let begun = 0;
  const lane = async () => {
    while (begun < count) {
      if (performance.now() > deadline) throw new Error(`only ${begun} of ${count} turns in time`);
      begun += 1;
      const { thread } = await server.request("thread/start", { cwd });
      await server.request("turn/start", { threadId: thread.id, input });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
}
