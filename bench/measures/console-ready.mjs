import { once } from "node:events";
import { createServer } from "node:http";
import { openPage, siteOf, withBrowser } from "../lib/browser.mjs";
import { startMockModel } from "../lib/mock-model.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { within } from "../lib/server-process.mjs";
import { call, runTurn } from "../lib/socket-server.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "console-ready";
export const about =
  "opening the console with an empty cache, until its list and its message field can be used";

const THREADS = 60;
const WARM_UP = 2;

/**
 * Runs in the page: the time from the start of its loading until the elements that `selectors` name are there and
 * were painted.
 * @param {string[]} selectors
 */
const whenPainted = (selectors) => `
  window.painted = new Promise((done) => {
    const look = () => {
      if (!${JSON.stringify(selectors)}.every((one) => document.querySelector(one) !== null)) return;
      watch.disconnect();
      requestAnimationFrame(() => setTimeout(() => done(performance.now())));
    };
    const watch = new MutationObserver(look);
    watch.observe(document, { childList: true, subtree: true });
    look();
  });`;

/** @type {import("../run.mjs").Measure} */
export function measure({ subjects, runs = 15, onRound }) {
  return withBrowser(async (browser) => {
    const model = await startMockModel();
    const empty = createServer((_, response) => {
      response.setHeader("content-type", "text/html");
      response.end("<!doctype html><title>Empty</title><main>Nothing</main>");
    }).listen(0, "127.0.0.1");
    await once(empty, "listening");
    const { port } = /** @type {import("node:net").AddressInfo} */ (empty.address());
    try {
      return await withHomes(subjects("ours"), { modelUrl: model.url }, async ([home]) => {
        const { server, url, client } = await home.socket();
        try {
          for (let nth = 0; nth < THREADS; nth++) {
            const { thread } = await call(client, "thread/start", { cwd: home.path });
            await runTurn(client, thread.id, `Number ${nth}`);
          }
          const sides = [
            { name: "ours", address: siteOf(url), selectors: [".rows li a", ".composer textarea:enabled"] },
            { name: "floor", address: `http://127.0.0.1:${port}/`, selectors: ["main"] },
          ];
          const samples = await rotate(
            sides,
            { runs, warmups: WARM_UP, onRound },
            async ({ address, selectors }) => {
              const page = await openPage(browser, address, whenPainted(selectors));
              const ms = await within(60_000, "the page was not ready", page.evaluate("window.painted"));
              await page.context().close();
              return /** @type {number} */ (ms);
            },
          );
          return [result({ name, unit: "ms", samples, bar: [{ of: "ours", max: 1000 }] })];
        } finally {
          client.close();
          await server.close();
        }
      });
    } finally {
      empty.close();
      model.close();
    }
  });
}
