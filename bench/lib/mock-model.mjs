// A model server that answers at once in the Responses wire format (SSE). It runs in a process of its own,
// so that it does not take time from the client that measures. Started as a program it prints its base URL.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { killTree, trackChild } from "./cleanup.mjs";
import { within } from "./server.mjs";

const self = fileURLToPath(import.meta.url);

/**
 * @param {{ deltas?: number }} [options] in how many pieces the answer is streamed
 * @returns {Promise<{ url: string, close: () => void }>}
 */
export async function startMockModel({ deltas = 4 } = {}) {
  const child = spawn(process.execPath, [self, String(deltas)], { stdio: ["ignore", "pipe", "inherit"] });
  trackChild(child);
  const [url] = await within(
    10_000,
    "the mock model did not start",
    once(createInterface(child.stdout), "line"),
  );
  return { url, close: () => killTree(child) };
}

/**
 * The whole body of one answer: the same bytes each time, made once.
 * @param {number} deltas
 */
export function answerBody(deltas) {
  const words = Array.from({ length: deltas }, (_, i) => `word${i} `);
  const text = words.join("");
  const message = {
    type: "message",
    id: "msg_1",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text, annotations: [] }],
  };
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: deltas,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 10 + deltas,
  };
  const started = { ...message, status: "in_progress", content: [] };
  const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const events = [
    {
      type: "response.created",
      response: { id: "resp_1", object: "response", status: "in_progress", output: [] },
    },
    { type: "response.output_item.added", output_index: 0, item: started },
    ...words.map((delta) => ({ type: "response.output_text.delta", ...place, delta })),
    { type: "response.output_text.done", ...place, text },
    { type: "response.output_item.done", output_index: 0, item: message },
    {
      type: "response.completed",
      response: { id: "resp_1", object: "response", status: "completed", output: [message], usage },
    },
  ];
  return events
    .map((data, i) => `event: ${data.type}\ndata: ${JSON.stringify({ ...data, sequence_number: i })}\n\n`)
    .join("");
}

if (process.argv[1] === self) {
  const body = answerBody(Number(process.argv[2] ?? 4));
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const answers = request.method === "POST" && request.url?.split("?")[0].endsWith("/responses");
      const type = answers ? "text/event-stream" : "application/json";
      response.writeHead(answers ? 200 : 404, { "content-type": type });
      response.end(answers ? body : '{"error":{"message":"not found"}}');
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    console.log(`http://127.0.0.1:${port}/v1`);
  });
}
