// A mock model server that answers at once in the Responses format (SSE). It runs in its own process, so that it takes
// no time from the measuring client. Run as a program, it prints its base URL. `/v1/asked` returns the last request
// body. With a tool, it first calls the tool, and answers when it gets the tool's output.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { killTree, trackChild } from "./cleanup.mjs";
import { within } from "./server-process.mjs";

const self = fileURLToPath(import.meta.url);

/**
 * @param {{ deltas?: number, keepAliveMs?: number, tool?: string, args?: object | string }} [options] `deltas`: number of
 * pieces in which the answer is streamed. `keepAliveMs`: how long an idle connection stays open; long enough, so that no
 * turn has to reconnect. `tool`: the tool to call, as `NAME` or `NAMESPACE.NAME`. `args`: its arguments; a string for a
 * freeform tool.
 * @returns {Promise<{ url: string, close: () => void }>}
 */
export async function startMockModel({ deltas = 4, keepAliveMs = 60_000, tool = "", args = {} } = {}) {
  const child = spawn(
    process.execPath,
    [self, String(deltas), String(keepAliveMs), tool, JSON.stringify(args)],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  trackChild(child);
  const [url] = await within(
    10_000,
    "the mock model did not start",
    once(createInterface(child.stdout), "line"),
  );
  return { url, close: () => killTree(child) };
}

/** @param {number} deltas */
const wordsOf = (deltas) => Array.from({ length: deltas }, (_, i) => `word${i} `);

/** The text of the model's answer. @param {number} deltas */
export const answerText = (deltas) => wordsOf(deltas).join("");

/**
 * The whole response body of one answer. It is the same for every request.
 * @param {number} deltas
 */
export function answerBody(deltas) {
  const words = wordsOf(deltas);
  const text = answerText(deltas);
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
  return encoded(events);
}

/**
 * @param {string} tool
 * @param {number} nth
 * @param {string} args
 */
function callBody(tool, nth, args) {
  const [name, namespace] = tool.split(".").reverse();
  const of = { call_id: `call_${nth}`, name, ...(namespace && { namespace }) };
  const given = JSON.parse(args);
  const item =
    typeof given === "string"
      ? { type: "custom_tool_call", id: `ctc_${nth}`, status: "completed", ...of, input: given }
      : { type: "function_call", id: `fc_${nth}`, ...of, arguments: args };
  const usage = { input_tokens: 10, output_tokens: 1, total_tokens: 11 };
  return encoded([
    { type: "response.created", response: { id: "resp_1", object: "response" } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: "resp_1", object: "response", usage } },
  ]);
}

/** @param {{ type: string }[]} events */
export function encoded(events) {
  return events
    .map((data, i) => `event: ${data.type}\ndata: ${JSON.stringify({ ...data, sequence_number: i })}\n\n`)
    .join("");
}

if (process.argv[1] === self) {
  const body = answerBody(Number(process.argv[2] ?? 4));
  const tool = process.argv[4] ?? "";
  const args = process.argv[5] ?? "{}";
  let nth = 0;
  /** Whether the last input item of a request is the output of a tool call. @param {string} text */
  const isAnswered = (text) => /_call_output$/.test(JSON.parse(text).input.at(-1)?.type);
  /** @type {Buffer[]} */
  let asked = [];
  const server = createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url?.split("?")[0];
      if (request.method === "POST" && path?.endsWith("/responses")) {
        asked = chunks;
        const calls = tool !== "" && !isAnswered(Buffer.concat(chunks).toString());
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.end(calls ? callBody(tool, ++nth, args) : body);
      } else if (path?.endsWith("/asked")) {
        response.writeHead(200, { "content-type": "application/json" }).end(Buffer.concat(asked));
      } else {
        response.writeHead(404, { "content-type": "application/json" });
        response.end('{"error":{"message":"not found"}}');
      }
    });
  });
  server.keepAliveTimeout = Number(process.argv[3] ?? 5000);
  server.listen(0, "127.0.0.1", () => {
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    console.log(`http://127.0.0.1:${port}/v1`);
  });
}
