// A mock model server that produces excessive output, in the Responses format (SSE). The last message of a request
// decides: "flood" gets text without end, as fast as it is read; "call N" gets N calls of update_plan in one answer;
// anything else gets a short text. It runs in its own process. Run as a program, it prints its base URL.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { killTree, trackChild } from "./cleanup.mjs";
import { answerBody, encoded } from "./mock-model.mjs";
import { within } from "./server-process.mjs";

const self = fileURLToPath(import.meta.url);

/** @returns {Promise<{ url: string, close: () => void }>} */
export async function startUnrulyModel() {
  const child = spawn(process.execPath, [self], { stdio: ["ignore", "pipe", "inherit"] });
  trackChild(child);
  const [url] = await within(
    10_000,
    "the unruly model did not start",
    once(createInterface(child.stdout), "line"),
  );
  return { url, close: () => killTree(child) };
}

const FLOOD_START = encoded([
  { type: "response.created", response: { id: "resp_1", object: "response" } },
  {
    type: "response.output_item.added",
    output_index: 0,
    item: { type: "message", id: "msg_1", role: "assistant", status: "in_progress", content: [] },
  },
]);
/** 250 deltas of 100 characters, written repeatedly. */
const FLOOD_PIECES = Buffer.from(
  encoded(
    Array.from({ length: 250 }, () => ({
      type: "response.output_text.delta",
      item_id: "msg_1",
      output_index: 0,
      content_index: 0,
      delta: "and so on ".repeat(10),
    })),
  ),
);

/** Writes without end, as fast as the client reads. @param {import("node:http").ServerResponse} response */
function flood(response) {
  response.write(FLOOD_START);
  const pour = () => {
    while (!response.destroyed) if (!response.write(FLOOD_PIECES)) return;
  };
  response.on("drain", pour);
  pour();
}

/** @param {number} count */
function callsBody(count) {
  const plan = JSON.stringify({ plan: [{ step: "Go on", status: "in_progress" }] });
  const calls = Array.from({ length: count }, (_, nth) => ({
    type: "response.output_item.done",
    output_index: nth,
    item: {
      type: "function_call",
      id: `fc_${nth}`,
      call_id: `call_${nth}`,
      name: "update_plan",
      arguments: plan,
    },
  }));
  const usage = { input_tokens: 10, output_tokens: count, total_tokens: 10 + count };
  return encoded([
    { type: "response.created", response: { id: "resp_1", object: "response" } },
    ...calls,
    { type: "response.completed", response: { id: "resp_1", object: "response", usage } },
  ]);
}

if (process.argv[1] === self) {
  const words = answerBody(4);
  /** The text of a request's last input item; empty if that is the output of a tool call. @param {string} asked */
  const lastText = (asked) => JSON.parse(asked).input.at(-1)?.content?.at(-1)?.text ?? "";
  const server = createServer((request, response) => {
    /** @type {Buffer[]} */
    const chunks = [];
    request.on("data", (chunk) => chunks.push(chunk));
    request.on("end", () => {
      if (request.method !== "POST") return response.writeHead(404).end();
      const text = lastText(Buffer.concat(chunks).toString());
      response.writeHead(200, { "content-type": "text/event-stream" });
      const calls = /^call (\d+)$/.exec(text);
      if (text === "flood") flood(response);
      else response.end(calls ? callsBody(Number(calls[1])) : words);
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => {
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    console.log(`http://127.0.0.1:${port}/v1`);
  });
}
