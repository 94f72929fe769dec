import { openPage, siteOf, withBrowser } from "../lib/browser.mjs";
import { startPacedModel } from "../lib/paced-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { within } from "../lib/server-process.mjs";
import { call } from "../lib/socket-server.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "console-stream";
export const about =
  "frames per second of the console while a model streams 50 deltas per frame; floor: a page that adds plain text";

/** Five seconds of 50 deltas per frame. The answer then has more than 100,000 characters. */
const PACE = { ticks: 300, tickMs: 1000 / 60, perTick: 50 };

/** Adds the same number of words at the same pace as plain text, and scrolls to the end. Resolves at the end. */
const PLAIN_TEXT = `new Promise((done) => {
  document.body.innerHTML = '<div style="height:100vh;overflow:auto"></div>';
  const box = document.body.firstChild;
  const start = performance.now();
  let words = 0;
  const timer = setInterval(() => {
    const due = Math.min(${PACE.ticks}, Math.floor((performance.now() - start) / ${PACE.tickMs})) * ${PACE.perTick};
    requestAnimationFrame(() => {
      for (; words < due; words++) {
        if (words % 40 === 0) box.append(document.createElement("p"));
        box.lastChild.append("word" + words + " ");
      }
      box.scrollTop = box.scrollHeight;
      if (words < ${PACE.ticks * PACE.perTick}) return;
      clearInterval(timer);
      done();
    });
  }, ${PACE.tickMs / 2});
})`;

/** Counts frames in a page, until `stop` resolves. @param {string} stop */
const countFrames = (stop) => `(async () => {
  let isOver = false;
  const stopped = (${stop}).then(() => { isOver = true; });
  const times = [await new Promise(requestAnimationFrame)];
  while (!isOver) times.push(await new Promise(requestAnimationFrame));
  await stopped;
  const gaps = times.slice(1).map((time, nth) => time - times[nth]);
  return { fps: gaps.length * 1000 / (times.at(-1) - times[0]), longest: Math.max(...gaps) };
})()`;

/** Resolves when the turn that runs in the page has ended. */
const TURN_ENDED = `new Promise((done) => {
  new MutationObserver((_, watch) => {
    if (document.querySelector("button[aria-label=Interrupt]") !== null) return;
    watch.disconnect();
    done();
  }).observe(document.body, { childList: true, subtree: true });
})`;

/** @type {import("../run.mjs").Measure} */
export function measure({ subjects, runs = 5, onRound }) {
  return withBrowser(async (browser) => {
    const model = await startPacedModel(PACE);
    try {
      return await withHomes(subjects("ours"), { modelUrl: model.url }, async ([home]) => {
        const { server, url, client } = await home.socket();
        /** @type {number[]} */
        const longest = [];
        try {
          const sides = [
            {
              name: "ours",
              take: async () => {
                const { thread } = await call(client, "thread/start", { cwd: home.path });
                const page = await openPage(browser, `${siteOf(url)}/#/thread/${thread.id}`);
                await page.locator(".conversation").waitFor();
                const input = [{ type: "text", text: "Write a lot.", text_elements: [] }];
                await call(client, "turn/start", { threadId: thread.id, input });
                await page.locator(".agent").waitFor();
                return counted(page, TURN_ENDED, longest);
              },
            },
            {
              name: "floor",
              take: async () => {
                const page = await openPage(browser, "about:blank");
                return counted(page, PLAIN_TEXT, []);
              },
            },
          ];
          const samples = await rotate(sides, { runs, warmups: 1, onRound }, (side) => side.take());
          return [
            result({
              name,
              unit: "frames/s",
              samples,
              bar: [{ of: "ours", min: 50 }],
              notes: [`the longest frame of each run: ${longest.map((ms) => ms.toFixed(0)).join(", ")} ms`],
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

/**
 * @param {import("playwright-core").Page} page
 * @param {string} stop
 * @param {number[]} longest
 */
async function counted(page, stop, longest) {
  const frames = await within(90_000, "the turn did not end in the page", page.evaluate(countFrames(stop)));
  const { fps, longest: ms } = /** @type {{ fps: number, longest: number }} */ (frames);
  longest.push(ms);
  await page.context().close();
  return fps;
}
