// A mock model server in its own process that streams one answer at a steady pace, in the Responses format (SSE): some
// deltas per tick. Run as a program, it prints its base URL.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { killTree, trackChild } from "./cleanup.mjs";
import { encoded } from "./mock-model.mjs";
import { within } from "./server-process.mjs";

const self = fileURLToPath(import.meta.url);

/**
 * @typedef {object} Pace
 * @property {number} ticks
 * @property {number} tickMs
 * @property {number} perTick deltas of one tick, sent together
 */

/**
 * @param {Pace} pace
 * @returns {Promise<{ url: string, close: () => void }>}
 */
export async function startPacedModel({ ticks, tickMs, perTick }) {
  const args = [ticks, tickMs, perTick].map(String);
  const child = spawn(process.execPath, [self, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  trackChild(child);
  const [url] = await within(
    10_000,
    "the paced model did not start",
    once(createInterface(child.stdout), "line"),
  );
  return { url, close: () => killTree(child) };
}

/**
 * An answer as models write them: paragraphs, lists and code, in pieces of a word.
 * @param {number} words
 */
function answerWords(words) {
  const pieces = [];
  for (let nth = 0; nth < words; nth++) {
    const place = nth % 120;
    if (place === 0) pieces.push(`\n\n## Part ${nth / 120}\n\nThe `);
    else if (place === 40) pieces.push("\n\n- **first** ");
    else if (place > 40 && place < 80 && place % 8 === 0) pieces.push("\n- `next` ");
    else if (place === 80) pieces.push("\n\n```ts\nconst value = ");
    else if (place > 80 && place < 110 && place % 6 === 0) pieces.push(";\nconst other = ");
    else if (place === 110) pieces.push("0;\n```\n\nAnd ");
    else pieces.push(`word${nth} `);
  }
  return pieces;
}

if (process.argv[1] === self) {
  const [ticks, tickMs, perTick] = process.argv.slice(2, 5).map(Number);
  const words = answerWords(ticks * perTick);
  const text = words.join("");
  const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const message = { type: "message", id: "msg_1", role: "assistant", status: "completed" };
  const content = [{ type: "output_text", text, annotations: [] }];
  const usage = { input_tokens: 10, output_tokens: words.length, total_tokens: 10 + words.length };
  const begun = encoded([
    { type: "response.created", response: { id: "resp_1", object: "response" } },
    { type: "response.output_item.added", output_index: 0, item: { ...message, content: [] } },
  ]);
  const ended = encoded([
    { type: "response.output_text.done", ...place, text },
    { type: "response.output_item.done", output_index: 0, item: { ...message, content } },
    { type: "response.completed", response: { id: "resp_1", object: "response", usage } },
  ]);
  const pieces = Array.from({ length: ticks }, (_, tick) =>
    encoded(
      words
        .slice(tick * perTick, (tick + 1) * perTick)
        .map((delta) => ({ type: "response.output_text.delta", ...place, delta })),
    ),
  );
  /** @param {import("node:http").ServerResponse} response */
  const play = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(begun);
    const start = performance.now();
    let next = 0;
    // A late timer sends what is due, so that the pace is kept on a busy machine, too.
    const timer = setInterval(() => {
      const due = Math.min(ticks, Math.floor((performance.now() - start) / tickMs));
      if (due > next) response.write(pieces.slice(next, due).join(""));
      next = due;
      if (next < ticks) return;
      clearInterval(timer);
      response.end(ended);
    }, tickMs / 2);
    response.on("close", () => clearInterval(timer));
  };
  const server = createServer((request, response) => {
    request.resume();
    request.on("end", () => {
      if (request.method === "POST") play(response);
      else response.writeHead(404).end();
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => {
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    console.log(`http://127.0.0.1:${port}/v1`);
  });
}
