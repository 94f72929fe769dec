import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "first-turn";
export const about =
  "from thread/start to turn/completed in a fresh process, with a model that answers at once";

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 7, onRound }) {
  const model = await startMockModel();
  try {
    const modelFor = (/** @type {string} */ who) => (who === "peer" ? { modelUrl: model.url } : {});
    return await withHomes(subjects("ours", "peer"), modelFor, async (homes) => {
      const samples = await rotate(homes, { runs, warmups: 2, onRound }, async (home) => {
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
          const took = performance.now() - start;
          if (turn.status !== "completed")
            throw new Error(`the turn ended ${JSON.stringify(turn).slice(0, 300)}`);
          return took;
        } finally {
          await server.close();
        }
      });
      const notes = ["ours on the built-in offline model, the peer on a local mock provider over HTTP"];
      return result({ name, unit: "ms", samples, notes });
    });
  } finally {
    model.close();
  }
}
