import { openPage, siteOf, withBrowser } from "../lib/browser.mjs";
import { startPacedModel } from "../lib/paced-model.mjs";
import { canMeasureProcessorTime, processorTime } from "../lib/processor-time.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { call, runTurn } from "../lib/socket-server.mjs";
import { median } from "../lib/stats.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "console-cost";
export const about = "processor time of the host for streams of turns, with and without an open console";

const THREADS = 8;
const TURNS = 2;
/** A second of an answer that comes in 50 pieces of 4 deltas. */
const PACE = { ticks: 50, tickMs: 20, perTick: 4 };
const WARM_UP = 3;

/** @returns {number[]} */
const numbers = () => [];

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 15, onRound }) {
  if (!canMeasureProcessorTime) return [];
  return withBrowser(async (browser) => {
    const model = await startPacedModel(PACE);
    try {
      return await withHomes(subjects("ours"), { modelUrl: model.url }, async ([home]) => {
        const { server, url, client } = await home.socket();
        try {
          const started = Array.from({ length: THREADS }, () =>
            call(client, "thread/start", { cwd: home.path }),
          );
          const threads = (await Promise.all(started)).map(({ thread }) => thread.id);
          // A tab stays open all the time and shows nothing of the host when it must not cost anything.
          const page = await openPage(browser, "about:blank");
          const work = async () => {
            const before = processorTime(server.pid);
            for (let turn = 0; turn < TURNS; turn++)
              await Promise.all(threads.map((id) => runTurn(client, id, "Say a few words.")));
            return processorTime(server.pid) - before;
          };
          const sides = [
            { name: "ours", address: `${siteOf(url)}/#/thread/${threads[0]}`, taken: numbers() },
            { name: "list", address: `${siteOf(url)}/#/new`, taken: numbers() },
            { name: "floor", address: "about:blank", taken: numbers() },
          ];
          const samples = await rotate(sides, { runs, warmups: WARM_UP, onRound }, async (side) => {
            await page.goto("about:blank");
            await page.goto(side.address);
            if (side.name !== "floor") await page.locator(".composer textarea").waitFor();
            // The thread is followed once its turns are there.
            if (side.name === "ours") await page.locator(".turn, .empty").first().waitFor();
            const ms = await work();
            side.taken.push(ms);
            return ms;
          });
          const [thread, list, none] = sides.map(({ taken }) => taken.slice(WARM_UP));
          // Within a round, because other load on the machine makes the same work dearer for minutes.
          const ratioTo = (/** @type {number[]} */ open) => median(open.map((ms, nth) => ms / none[nth]));
          return [
            result({
              name,
              unit: "ms",
              samples: { ours: samples.ours, floor: samples.floor },
              ratios: { "open/closed": ratioTo(thread) },
              bar: [{ of: "open/closed", max: 1.05 }],
              notes: [`with the console at its first page ${ratioTo(list).toFixed(3)} × closed`],
            }),
          ];
        } finally {
          client.close();
          await server.close();
        }
      });
    } finally {
      model.close();
    }
  });
}
