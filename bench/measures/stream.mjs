import { answerText, startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { Turns } from "../lib/turns.mjs";

export const name = "stream";
export const about = "deltas per second of a turn whose answer has 5,000 deltas, all sent at once";

const STARTS = 5;
const DELTAS = 5000;
const CHARACTERS = answerText(DELTAS).length;
/** Number of turns. Each has a new thread, so that the history is always empty. */
const TURNS = { ours: 10, peer: 2, floor: 0 };
const WARM_UP = { ours: 10, peer: 1, floor: 0 };

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = STARTS, onRound }) {
  const model = await startMockModel({ deltas: DELTAS });
  try {
    return await withHomes(subjects("ours", "peer"), { modelUrl: model.url }, async (homes) => {
      const samples = await rotate(homes, { runs, atMostMs: 120_000, onRound }, sample);
      return result({ name, unit: "deltas/s", samples, bar: [{ of: "ours/peer", min: 5 }] });
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
    const turns = new Turns(server);
    const rates = [];
    for (let i = 0; i < WARM_UP[home.name] + TURNS[home.name]; i++) {
      const threadId = await turns.thread(home.path);
      turns.deltas = 0;
      turns.characters = 0;
      const took = await turns.run(threadId);
      if (turns.characters !== CHARACTERS)
        throw new Error(`${turns.characters} of ${CHARACTERS} characters came`);
      // Counts received deltas: a server may merge deltas for a client that reads too slowly.
      if (i >= WARM_UP[home.name]) rates.push(turns.deltas / (took / 1000));
    }
    return rates;
  } finally {
    await server.close();
  }
}
