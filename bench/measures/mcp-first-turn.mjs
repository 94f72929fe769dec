import { lightServer } from "../lib/mcp-server.mjs";
import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";

export const name = "mcp-first-turn";
export const about =
  "a first turn in a fresh process with an MCP server that needs 5 s to start, compared with one without";

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 9, onRound }) {
  const model = await startMockModel();
  const [ours] = subjects("ours");
  try {
    const slow = ours.home({ modelUrl: model.url, config: lightServer("slow", 5) });
    const plain = ours.home({ modelUrl: model.url });
    try {
      // Both homes run ours. The one without an MCP server is the floor in the table.
      const homes = [slow, { ...plain, name: /** @type {const} */ ("floor") }];
      const samples = await rotate(homes, { runs, warmups: 2, onRound }, firstTurn);
      const notes = ["floor: the same without a server"];
      return result({ name, unit: "ms", samples, bar: [{ of: "ours/floor", max: 1.2 }], notes });
    } finally {
      slow.close();
      plain.close();
    }
  } finally {
    model.close();
  }
}

/** @param {import("../lib/subjects.mjs").Home} home */
async function firstTurn(home) {
  const server = home.stdio();
  try {
    await server.initialize();
    const start = performance.now();
    const { thread } = await server.request("thread/start", { cwd: home.path });
    const completed = server.notification("turn/completed", (params) => params.threadId === thread.id);
    const input = [{ type: "text", text: "Say a few words.", text_elements: [] }];
    const [{ turn }] = await Promise.all([
      completed,
      server.request("turn/start", { threadId: thread.id, input }),
    ]);
    if (turn.status !== "completed") throw new Error(`the turn ended ${JSON.stringify(turn).slice(0, 300)}`);
    return performance.now() - start;
  } finally {
    await server.close();
  }
}
