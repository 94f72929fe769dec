import { bareExchange } from "../lib/bare-exchange.mjs";
import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { Turns } from "../lib/turns.mjs";

export const name = "turn";
export const about = "turn/start to turn/completed, one after the other, on a model that answers at once";

const STARTS = 7;
const TURNS_A_THREAD = 10;
const THREADS = { ours: 20, peer: 2, floor: 0 };
/** Until the code is compiled that a turn runs: a host lives long. */
const WARM_UP = { ours: 150, peer: 1, floor: 0 };
const BARE = { warmUp: 1000, calls: 200 };

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = STARTS, onRound }) {
  const model = await startMockModel();
  try {
    return await withHomes(subjects("ours", "peer"), { modelUrl: model.url }, async (homes) => {
      const [ours] = homes;
      const body = await asked(ours, model.url);
      const bare = [
        { name: "floor", client: /** @type {const} */ ("fetch") },
        { name: "node:http", client: /** @type {const} */ ("http") },
      ];
      const samples = await rotate([...homes, ...bare], { runs, atMostMs: 180_000, onRound }, (one) =>
        "client" in one ? bareExchange(one.client, `${model.url}/responses`, body, BARE) : sample(one),
      );
      const http = samples["node:http"].summary?.value;
      const times = http && samples.ours.summary && samples.ours.summary.value / http;
      return result({
        name,
        unit: "ms",
        samples,
        bar: [
          { of: "ours/peer", max: 1 / 10 },
          { of: "ours/floor", max: 3 },
        ],
        notes: [
          `floor: the bare exchange with that model by fetch, ${body.length} bytes of request as ours`,
          ...(times
            ? [`by node:http it takes ${http.toFixed(3)} ms; ours is ${times.toFixed(1)} times that`]
            : []),
        ],
      });
    });
  } finally {
    model.close();
  }
}

/**
 * What ours sends in the middle of a thread, so that the bare exchange sends the same.
 * @param {import("../lib/subjects.mjs").Home} home
 * @param {string} modelUrl
 */
async function asked(home, modelUrl) {
  const server = home.stdio();
  try {
    await server.initialize();
    await new Turns(server).inNewThread(home.path, TURNS_A_THREAD / 2);
    return await (await fetch(`${modelUrl}/asked`)).text();
  } finally {
    await server.close();
  }
}

/** @param {import("../lib/subjects.mjs").Home} home */
async function sample(home) {
  const server = home.stdio();
  try {
    await server.initialize();
    const turns = new Turns(server);
    for (let i = 0; i < WARM_UP[home.name]; i++) await turns.inNewThread(home.path, TURNS_A_THREAD);
    const times = [];
    for (let i = 0; i < THREADS[home.name]; i++) {
      times.push(...(await turns.inNewThread(home.path, TURNS_A_THREAD)));
    }
    return times;
  } finally {
    await server.close();
  }
}
