// The minimum of a turn: one HTTP request to the model on an open connection, whose answer is read to the end. Once by
// `fetch` and once by `node:http`.
import { Agent, request } from "node:http";

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const headers = { "content-type": "application/json", accept: "text/event-stream" };

/** @param {string} url @param {string} body */
export async function byFetch(url, body) {
  const response = await fetch(url, { method: "POST", headers, body });
  return response.text();
}

/**
 * @param {string} url
 * @param {string} body
 * @returns {Promise<string>}
 */
export function byHttp(url, body) {
  const length = { "content-length": Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: "POST", agent, headers: { ...headers, ...length } }, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () => resolve(text)).on("error", reject);
    });
    sent.on("error", reject).end(body);
  });
}
