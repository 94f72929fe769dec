// MCP servers for measures. Run as a program, this file is an MCP server on stdio whose tool "echo" answers at once, so
// that the host is measured. `lightServer` needs only a megabyte of memory, for measures with many servers.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { trackChild } from "./cleanup.mjs";

const self = fileURLToPath(import.meta.url);
const light = fileURLToPath(new URL("../../test/support/mcp-light.sh", import.meta.url));

/** The config.toml section of the server in this file. @param {string} name */
export const echoServer = (name) =>
  `\n[mcp_servers.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(self)}]\n`;

/**
 * The config.toml section of a small server that takes `seconds` to start.
 * @param {string} name
 * @param {number} [seconds]
 */
export const lightServer = (name, seconds = 0) =>
  `\n[mcp_servers.${name}]\ncommand = "/bin/sh"\nargs = ["-c", "sleep ${seconds}; exec ${light} ${name}"]\n`;

/**
 * Durations of direct calls to the server of this file, without a host, in milliseconds.
 * @param {number} count
 */
export async function bareCalls(count) {
  const child = spawn(process.execPath, [self], { stdio: ["pipe", "pipe", "inherit"] });
  trackChild(child);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  /** @type {number[]} */
  const times = [];
  try {
    for (let id = 0; id < count; id++) {
      const start = performance.now();
      const params = { name: "echo", arguments: { message: "hi" } };
      child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params })}\n`);
      await lines.next();
      times.push(performance.now() - start);
    }
  } finally {
    child.kill();
  }
  return times;
}

if (process.argv[1] === self) {
  const tool = {
    name: "echo",
    description: "Says it again.",
    inputSchema: { type: "object", properties: { message: { type: "string" } } },
    annotations: { readOnlyHint: true },
  };
  /** @type {Record<string, (params: any) => object>} */
  const methods = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "bench", version: "1" },
    }),
    "tools/list": () => ({ tools: [tool] }),
    "tools/call": (params) => ({ content: [{ type: "text", text: String(params.arguments.message) }] }),
  };
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined || method === undefined) continue;
    const found = methods[method];
    const reply = found
      ? { result: found(params) }
      : { error: { code: -32601, message: "Method not found" } };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...reply })}\n`);
  }
}
