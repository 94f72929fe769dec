import { byFetch, byHttp } from "../lib/bare-exchange.mjs";
import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { within } from "../lib/server-process.mjs";
import { median, summarize } from "../lib/stats.mjs";
import { withHomes } from "../lib/subjects.mjs";
import { Turns } from "../lib/turns.mjs";

export const name = "turn";
export const about =
  "from turn/start to turn/completed, one turn after the other, with a model that answers at once";

const STARTS = 5;
const TURNS_A_THREAD = 10;
const THREADS = { ours: 20, peer: 2, floor: 0 };
/** Turns that are not measured, until V8 has compiled the code of a turn: a host runs for long. */
const WARM_UP = { ours: 300, peer: 1, floor: 0 };

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = STARTS, onRound }) {
  const model = await startMockModel();
  try {
    return await withHomes(subjects("ours", "peer"), { modelUrl: model.url }, async (homes) => {
      const bare = new BareExchanges(`${model.url}/responses`, await asked(homes[0], model.url));
      const samples = await rotate(homes, { runs, atMostMs: 180_000, onRound }, (home) => sample(home, bare));
      const { fetch: floor, http } = bare.summaries();
      const ours = samples.ours.summary;
      return result({
        name,
        unit: "ms",
        samples: { ...samples, floor: { summary: floor } },
        bar: [
          { of: "ours/peer", max: 1 / 10 },
          { of: "ours/floor", max: 3 },
        ],
        notes: [
          `floor: the bare exchange with that model by fetch, with the ${bare.bytes} bytes that ours sends; by ` +
            `node:http ${http.value.toFixed(3)} ms${ours ? `, ours is ${(ours.value / http.value).toFixed(1)} times that` : ""}`,
        ],
      });
    });
  } finally {
    model.close();
  }
}

/** Bare HTTP exchanges between the turns of ours, so that other load on the machine affects both equally. */
class BareExchanges {
  /** @type {{ fetch: number[], http: number[] }[]} one entry per round */
  #rounds = [];
  #url;
  #body;

  /** @param {string} url @param {string} body */
  constructor(url, body) {
    this.#url = url;
    this.#body = body;
  }

  get bytes() {
    return Buffer.byteLength(this.#body);
  }

  begin() {
    this.#rounds.push({ fetch: [], http: [] });
  }

  async take() {
    const round = this.#rounds.at(-1);
    round?.fetch.push(await this.#timed(byFetch));
    round?.http.push(await this.#timed(byHttp));
  }

  summaries() {
    const of = (/** @type {"fetch" | "http"} */ client) =>
      summarize(
        this.#rounds.flatMap((round) => round[client]),
        this.#rounds.map((round) => median(round[client])),
      );
    return { fetch: of("fetch"), http: of("http") };
  }

  /** @param {typeof byFetch} exchange */
  async #timed(exchange) {
    const start = performance.now();
    await within(10_000, "the model did not answer", exchange(this.#url, this.#body));
    return performance.now() - start;
  }
}

/**
 * The request that ours sends to the model in the middle of a thread. The bare exchange sends the same.
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

/**
 * @param {import("../lib/subjects.mjs").Home} home
 * @param {BareExchanges} bare
 */
async function sample(home, bare) {
  const server = home.stdio();
  try {
    await server.initialize();
    const turns = new Turns(server);
    for (let i = 0; i < WARM_UP[home.name]; i++) await turns.inNewThread(home.path, TURNS_A_THREAD);
    if (home.name === "ours") bare.begin();
    const times = [];
    for (let i = 0; i < THREADS[home.name]; i++) {
      const threadId = await turns.thread(home.path);
      for (let turn = 0; turn < TURNS_A_THREAD; turn++) {
        times.push(await turns.run(threadId));
        if (home.name === "ours") await bare.take();
      }
    }
    return times;
  } finally {
    await server.close();
  }
}
