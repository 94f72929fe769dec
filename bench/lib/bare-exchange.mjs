// What a turn can not do without: one request to the model, and its answer read to the end.
import { Agent, request } from "node:http";

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const headers = { "content-type": "application/json", accept: "text/event-stream" };

/** The two clients that Node has. @type {Record<"fetch" | "http", (url: string, body: string) => Promise<string>>} */
const CLIENTS = {
  async fetch(url, body) {
    const response = await fetch(url, { method: "POST", headers, body, signal: AbortSignal.timeout(10_000) });
    return response.text();
  },
  http: (url, body) =>
    new Promise((resolve, reject) => {
      const length = { "content-length": Buffer.byteLength(body) };
      const options = { method: "POST", agent, headers: { ...headers, ...length }, timeout: 10_000 };
      const sent = request(url, options, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => resolve(text)).on("error", reject);
      });
      sent.on("timeout", () => sent.destroy(new Error("the model did not answer")));
      sent.on("error", reject).end(body);
    }),
};

/**
 * Posts `body` over one connection that stays open, again and again.
 * @param {keyof typeof CLIENTS} client
 * @param {string} url
 * @param {string} body
 * @param {{ warmUp: number, calls: number }} counts
 * @returns {Promise<number[]>} milliseconds
 */
export async function bareExchange(client, url, body, { warmUp, calls }) {
  const times = [];
  for (let i = 0; i < warmUp + calls; i++) {
    const start = performance.now();
    await CLIENTS[client](url, body);
    if (i >= warmUp) times.push(performance.now() - start);
  }
  return times;
}
