// What a turn can not do without: one request to the model, and its answer read to the end.
import { Agent, request } from "node:http";

/**
 * Posts `body` over one connection that stays open, again and again.
 * @param {string} url
 * @param {string} body
 * @param {{ warmUp: number, calls: number }} counts
 * @returns {Promise<number[]>} milliseconds
 */
export async function bareExchange(url, body, { warmUp, calls }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    const times = [];
    for (let i = 0; i < warmUp + calls; i++) {
      const start = performance.now();
      await post(url, body, agent);
      if (i >= warmUp) times.push(performance.now() - start);
    }
    return times;
  } finally {
    agent.destroy();
  }
}

/**
 * @param {string} url
 * @param {string} body
 * @param {Agent} agent
 * @returns {Promise<string>}
 */
function post(url, body, agent) {
  const headers = {
    "content-type": "application/json",
    accept: "text/event-stream",
    "content-length": Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/responses`,
      { method: "POST", agent, headers, timeout: 10_000 },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () => resolve(text)).on("error", reject);
      },
    );
    sent.on("timeout", () => sent.destroy(new Error("the model did not answer")));
    sent.on("error", reject).end(body);
  });
}
