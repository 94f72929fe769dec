// Tool servers in a separate process: one made with the SDK, or several plain ones, some of them faulty. Run as a
// program, this file prints their URLs.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import { killTree, trackChild } from "./cleanup.mjs";
import { within } from "./server-process.mjs";

const self = fileURLToPath(import.meta.url);

/** How a plain tool server reacts to a notice. @typedef {"good" | "hang" | "refuse" | "reset" | "fail" | "move" | "drip"} Kind */

/**
 * @param {"sdk" | Kind[]} kinds
 * @returns {Promise<{ config: string, heard: () => Promise<Record<string, number>>, close: () => void }>} `config`: lines
 * for config.toml. `heard`: number of requests by path
 */
export async function startToolServers(kinds) {
  const child = spawn(process.execPath, [self, String(kinds)], { stdio: ["ignore", "pipe", "inherit"] });
  trackChild(child);
  const started = once(createInterface(child.stdout), "line");
  const [line] = await within(20_000, "the tool servers did not start", started);
  /** @type {string[]} */
  const urls = JSON.parse(line);
  return {
    config: urls.map((url, at) => `\n[rap_servers.server${at}]\nurl = "${url}"\n`).join(""),
    heard: async () => /** @type {Record<string, number>} */ (await (await fetch(`${urls[0]}/heard`)).json()),
    close: () => killTree(child),
  };
}

/** A tool server made with the SDK whose tool returns at once. */
async function sdkServer() {
  const { build } = await import("esbuild");
  const folder = mkdtempSync(join(tmpdir(), "bobbin-bench-sdk-"));
  try {
    const outfile = join(folder, "server.mjs");
    const contents = `import { createToolServer, noAuth, tool } from "@bobbin/rap";
      import "@bobbin/rap/node";
      const echo = tool({ name: "work", description: "Works.", run: () => "done" });
      export const { url } = await createToolServer({ name: "bench", description: "", auth: noAuth, tools: [echo] }).serve({ port: 0 });`;
    await build({
      stdin: { contents, resolveDir: join(self, "..") },
      outfile,
      bundle: true,
      format: "esm",
      platform: "node",
      logLevel: "error",
    });
    return /** @type {string} */ ((await import(pathToFileURL(outfile).href)).url);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @type {Record<string, number>} */
const heard = {};

/** A tool server that acknowledges every call and never sends a result. @param {Kind} kind @param {number} at */
async function plainServer(kind, at) {
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    request.resume();
    request.on("end", () => {
      if (path === "/heard") return response.end(JSON.stringify(heard));
      heard[path] = (heard[path] ?? 0) + 1;
      if (path === "/.well-known/rap-toolset") {
        response.setHeader("content-type", "application/json");
        return response.end(JSON.stringify(toolset));
      }
      return path === "/close_thread" ? behave(kind, response) : response.end();
    });
  });
  server.keepAliveTimeout = 60_000;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const url = `http://127.0.0.1:${port}`;
  const work = { name: `work${at || ""}`, description: "Works.", inputSchema: { type: "object" } };
  const toolset = { name: `server${at}`, endpoint: `${url}/invoke`, tools: [work] };
  if (kind === "refuse") server.close();
  return url;
}

/** @param {Kind} kind @param {import("node:http").ServerResponse} response */
function behave(kind, response) {
  switch (kind) {
    case "hang":
      return;
    case "reset":
      return response.socket?.resetAndDestroy();
    case "fail":
      return response.writeHead(500).end();
    case "move":
      return response.writeHead(301, { location: "/elsewhere" }).end();
    case "drip": {
      const timer = setInterval(() => response.write(" "), 50);
      return response.once("close", () => clearInterval(timer));
    }
    default:
      return response.end();
  }
}

if (process.argv[1] === self) {
  const kinds = process.argv[2];
  const urls =
    kinds === "sdk"
      ? [await sdkServer()]
      : await Promise.all(kinds.split(",").map((kind, at) => plainServer(/** @type {Kind} */ (kind), at)));
  console.log(JSON.stringify(urls));
}
