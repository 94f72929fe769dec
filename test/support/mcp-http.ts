import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { freePort } from "./free-port.ts";
import { EVERYTHING } from "./mcp-stage.ts";

/** Starts `server-everything` on streamable HTTP. Returns its URL. */
export async function everythingOverHttp(): Promise<string> {
  const port = await freePort();
  const child = spawn(process.execPath, [EVERYTHING, "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  for await (const text of child.stderr.setEncoding("utf8")) if (String(text).includes("listening")) break;
  child.stderr.resume();
  return `http://127.0.0.1:${port}/mcp`;
}

export interface HttpMessage {
  readonly id?: string | number;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came.
  readonly params?: any;
  readonly result?: unknown;
}

export interface FakeHttpServer {
  readonly url: string;
  /** What came, in order. */
  readonly requests: {
    readonly verb: string;
    readonly headers: IncomingMessage["headers"];
    readonly message: HttpMessage;
  }[];
  /** Handles a message, or returns false. Then the server answers like one with the tool `echo`. */
  handle: (message: HttpMessage, response: ServerResponse, request: IncomingMessage) => boolean;
}

/** A server whose answers a test can change. */
export async function fakeHttpServer(): Promise<FakeHttpServer> {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request.setEncoding("utf8")) body += piece;
    const message = (body === "" ? {} : JSON.parse(body)) as HttpMessage;
    fake.requests.push({ verb: request.method!, headers: request.headers, message });
    if (!fake.handle(message, response, request)) usual(message, response, request);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const fake: FakeHttpServer = { url: `http://127.0.0.1:${port}/mcp`, requests: [], handle: () => false };
  return fake;
}

/** Serves a program that speaks MCP on stdio on streamable HTTP, to one client. Returns its URL. */
export async function stdioOverHttp(script: string, args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [script, ...args], { stdio: ["pipe", "pipe", "ignore"] });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  const waiting = new Map<HttpMessage["id"], ServerResponse>();
  const unsent: string[] = [];
  let stream: ServerResponse | undefined;
  createInterface({ input: child.stdout }).on("line", (line) => {
    const message = JSON.parse(line) as HttpMessage;
    const response = message.method === undefined ? waiting.get(message.id) : undefined;
    if (response !== undefined) return answer(response, message, { "mcp-session-id": "one" });
    // The program's own messages go to the stream that belongs to no request.
    unsent.push(`data: ${line}\n\n`);
    if (stream !== undefined) stream.write(unsent.splice(0).join(""));
  });
  const fake = await fakeHttpServer();
  fake.handle = (message, response, { method: verb }) => {
    if (verb === "GET") {
      stream = response.writeHead(200, { "content-type": "text/event-stream" });
      stream.write(`: open\n\n${unsent.splice(0).join("")}`);
      return true;
    }
    if (verb === "POST") child.stdin.write(`${JSON.stringify(message)}\n`);
    if (message.method !== undefined && message.id !== undefined) waiting.set(message.id, response);
    else response.writeHead(202).end();
    return true;
  };
  return fake.url;
}

export function answer(
  response: ServerResponse,
  message: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(200, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

function usual(
  { id, method, params }: HttpMessage,
  response: ServerResponse,
  request: IncomingMessage,
): void {
  if (request.method !== "POST") return void response.writeHead(405).end();
  if (id === undefined || method === undefined) return void response.writeHead(202).end();
  const results: Record<string, () => object> = {
    initialize: () => ({
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "fake", version: "1" },
    }),
    "tools/list": () => ({ tools: [{ name: "echo", inputSchema: { type: "object" } }] }),
    "tools/call": () => ({ content: [{ type: "text", text: params.arguments.message ?? "" }] }),
  };
  const result = results[method];
  if (result === undefined) answer(response, { id, error: { code: -32_601, message: "Method not found" } });
  else answer(response, { id, result: result() }, method === "initialize" ? { "mcp-session-id": "one" } : {});
}
