import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { startToolServers } from "../lib/tool-servers.mjs";
import { Turns } from "../lib/turns.mjs";

export const name = "tool-call";
export const about =
  "a call of a tool server that returns at once: from its start to its end, as a client sees it";

const STARTS = 5;
const THREADS = 20;
const TURNS_A_THREAD = 10;
const WARM_UP = 50;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = STARTS, onRound }) {
  const model = await startMockModel({ tool: "work" });
  const tools = await startToolServers("sdk");
  try {
    const options = { modelUrl: model.url, config: tools.config };
    return await withHomes(subjects("ours"), options, async (homes) => {
      const samples = await rotate(homes, { runs, atMostMs: 120_000, onRound }, sample);
      return result({ name, unit: "ms", samples, bar: [{ of: "ours", max: 5 }] });
    });
  } finally {
    tools.close();
    model.close();
  }
}

/** @param {import("../lib/subjects.mjs").Home} home */
async function sample(home) {
  const server = home.stdio();
  try {
    await server.initialize();
    /** @type {number[]} */
    const times = [];
    let begun = 0;
    server.listeners.add(({ method, params }) => {
      if (params?.item?.type !== "mcpToolCall") return;
      if (method === "item/started") begun = performance.now();
      if (method !== "item/completed") return;
      times.push(performance.now() - begun);
      if (params.item.status !== "completed") throw new Error(JSON.stringify(params.item).slice(0, 300));
    });
    const turns = new Turns(server);
    for (let left = WARM_UP; left > 0; left--) await turns.inNewThread(home.path, TURNS_A_THREAD);
    times.length = 0;
    for (let left = THREADS; left > 0; left--) await turns.inNewThread(home.path, TURNS_A_THREAD);
    if (times.length !== THREADS * TURNS_A_THREAD) throw new Error(`${times.length} calls were seen`);
    return times;
  } finally {
    await server.close();
  }
}
