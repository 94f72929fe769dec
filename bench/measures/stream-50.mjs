import { answerText, startMockModel } from "../lib/mock-model.mjs";
import { RawSubscriber } from "../lib/raw-subscriber.mjs";
import { result } from "../lib/result.mjs";
import { rotate } from "../lib/rotate-subjects.mjs";
import { call } from "../lib/socket-server.mjs";
import { withHomes } from "../lib/subjects.mjs";

export const name = "stream-50";
export const about =
  "the time of a turn of 5,000 deltas for 50 subscribers on sockets, compared with one subscriber";

const DELTAS = 5000;
const CHARACTERS = answerText(DELTAS).length;
const MANY = 50;
const WARM_UP = 5;
const END = '"method":"turn/completed"';

/** @type {import("../run.mjs").Measure} */
export async function measure({ subjects, runs = 15, onRound }) {
  const model = await startMockModel({ deltas: DELTAS });
  try {
    return await withHomes(subjects("ours"), { modelUrl: model.url }, async ([home]) => {
      const { server, url, client } = await home.socket();
      try {
        // One subscriber and 50 subscribers alternate on one host. Each turn has a new thread.
        const crowds = [await gather("one", url, 1), await gather("ours", url, MANY)];
        const samples = await rotate(crowds, { runs, warmups: WARM_UP, onRound }, async (one) => {
          const { thread } = await call(client, "thread/start", { cwd: home.path });
          // The starting client unsubscribes, so that it is not an additional subscriber.
          await call(client, "thread/unsubscribe", { threadId: thread.id });
          return turn(one, thread.id);
        });
        for (const { subscribers } of crowds) for (const one of subscribers) one.close();
        const one = samples.one.summary;
        const many = samples.ours.summary;
        return result({
          name,
          unit: "ms",
          samples,
          ...(one && many && { ratios: { "50/1": many.value / one.value } }),
          bar: [{ of: "50/1", max: 6 }],
          notes: one
            ? [
                `for one subscriber ${one.value.toFixed(1)} ms; in kB, each got at least ` +
                  `${crowds.map(({ least }) => (least / 1000).toFixed(0)).join(" and ")}`,
              ]
            : [`one subscriber: ${samples.one.error}`],
        });
      } finally {
        client.terminate();
        await server.close();
      }
    });
  } finally {
    model.close();
  }
}

/**
 * @param {string} name
 * @param {string} url
 * @param {number} size
 */
async function gather(name, url, size) {
  const subscribers = [];
  for (let i = 0; i < size; i++) subscribers.push(await RawSubscriber.connect(url));
  return { name, subscribers, least: Number.POSITIVE_INFINITY };
}

/** @param {Awaited<ReturnType<typeof gather>>} crowd @param {string} threadId */
async function turn(crowd, threadId) {
  const { subscribers } = crowd;
  for (const one of subscribers) {
    await one.request("thread/resume", { threadId });
    one.bytes = 0;
  }
  const start = performance.now();
  const all = Promise.all(subscribers.map((one) => one.seen(END)));
  const input = [{ type: "text", text: "Say a few words.", text_elements: [] }];
  subscribers[0].post("turn/start", { threadId, input });
  await all;
  const took = performance.now() - start;
  const least = Math.min(...subscribers.map(({ bytes }) => bytes));
  if (least < CHARACTERS) throw new Error(`a subscriber got only ${least} bytes`);
  crowd.least = Math.min(crowd.least, least);
  for (const one of subscribers) await one.request("thread/unsubscribe", { threadId });
  return took;
}
