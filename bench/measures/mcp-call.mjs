import { bareCalls, echoServer } from "../lib/mcp-server.mjs";
import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { summarize } from "../lib/stats.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { Turns } from "../lib/turns.mjs";

export const name = "mcp-call";
export const about =
  "a call of an MCP server on stdio: from its start to its end, minus the server's own time";

const STARTS = 5;
const THREADS = 10;
const TURNS_A_THREAD = 10;
const WARM_UP = 20;

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = STARTS, onRound }) {
  const model = await startMockModel({ tool: "mcp__bench.echo", args: { message: "hi" } });
  try {
    const options = { modelUrl: model.url, config: echoServer("bench") };
    return await withHomes(subjects("ours", "peer"), options, async (homes) => {
      const samples = await rotate(homes, { runs, atMostMs: 180_000, onRound }, sample);
      const bare = summarize((await bareCalls(600)).slice(200));
      const ours = samples.ours?.summary;
      return result({
        name,
        unit: "ms",
        samples: { ...samples, floor: { summary: bare } },
        bar: [{ of: "added", max: 3 }],
        ratios: ours === undefined ? {} : { added: ours.value - bare.value },
        notes: ["floor: the same server on its own pipe; `added` is ours without that, in ms"],
      });
    });
  } finally {
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
    const ready = server.notification("mcpServer/startupStatus/updated", ({ status }) => status === "ready");
    // A server whose tools are already known starts at its first call and reports nothing before, so this wait is
    // limited.
    const first = await turns.thread(home.path);
    await Promise.race([ready, new Promise((resolve) => setTimeout(resolve, 3000))]);
    await turns.run(first);
    const threads = home.name === "peer" ? 1 : WARM_UP;
    for (let left = threads; left > 0; left--) await turns.inNewThread(home.path, TURNS_A_THREAD);
    times.length = 0;
    for (let left = THREADS; left > 0; left--) await turns.inNewThread(home.path, TURNS_A_THREAD);
    if (times.length !== THREADS * TURNS_A_THREAD) throw new Error(`${times.length} calls were seen`);
    return times;
  } finally {
    await server.close();
  }
}
