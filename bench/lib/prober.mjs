// Another client, in a process of its own: what it measures is the server, and not how busy the bench itself is. It
// sends one request after the other, reads and writes of a thread of its own, and keeps how long each took.
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { BusyClient } from "./busy-client.mjs";
import { killTree, trackChild } from "./cleanup.mjs";
import { within } from "./server.mjs";

const self = fileURLToPath(import.meta.url);

/**
 * Resolves when it is at work. `stop` ends it and gives what each request took, in milliseconds.
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
    // The first ones make what later ones find: the thread's journal, and the code that V8 has not optimised yet.
    if (nth === 8) process.send?.("ready");
    if (nth > 8) times.push(performance.now() - start);
    await sleep(2);
  }
  process.send?.(times);
}

if (process.argv[1] === self) await probe(process.argv[2], process.argv[3]);
