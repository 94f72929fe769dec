// A client that measures a server's response times while the server is under load. It sends one request after the
// other, reads and writes of its own thread. It runs in its own process, so that load on the bench itself is not
// measured.
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { BusyClient } from "./busy-client.mjs";
import { killTree, trackChild } from "./cleanup.mjs";
import { within } from "./server-process.mjs";

const self = fileURLToPath(import.meta.url);

/**
 * Starts the client. Resolves when it is sending. `stop` ends it and resolves with the response times in milliseconds.
 * @param {string} url
 * @param {string} cwd
 * @returns {Promise<{ stop: () => Promise<number[]> }>}
 */
export async function startProber(url, cwd) {
  const child = fork(self, [url, cwd], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  trackChild(child);
  await within(20_000, "the other client did not start", once(child, "message"));
  return {
    async stop() {
      child.send("stop");
      try {
        const [times] = await within(60_000, "the other client did not end", once(child, "message"));
        return times;
      } finally {
        killTree(child);
      }
    },
  };
}

/** @param {string} url @param {string} cwd */
async function probe(url, cwd) {
  const client = await BusyClient.connect(url);
  const { thread } = await client.request("thread/start", { cwd });
  const threadId = thread.id;
  /** @type {number[]} */
  const times = [];
  let over = false;
  process.once("message", () => {
    over = true;
  });
  for (let nth = 0; !over; nth++) {
    const start = performance.now();
    if (nth % 4 === 0) await client.request("thread/name/set", { threadId, name: `name ${nth}` });
    else await client.request("thread/read", { threadId });
    // The first requests are not counted: they create the thread's journal and run code that V8 has not optimized yet.
    if (nth === 8) process.send?.("ready");
    if (nth > 8) times.push(performance.now() - start);
    await sleep(2);
  }
  process.send?.(times);
}

if (process.argv[1] === self) await probe(process.argv[2], process.argv[3]);
