import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../../../../../test/support/eventually.ts";
import { freshFolder } from "../../../../../test/support/folder.ts";
import {
  bearer,
  createToolServer,
  type LogEntry,
  noAuth,
  type Serving,
  type ToolServerOptions,
  tool,
} from "../index.ts";
import { folderData } from "./index.ts";

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

const echo = tool({
  name: "echo",
  description: "Says it again.",
  input: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  run: ({ text }) => String(text),
});

async function serving(
  more: Partial<ToolServerOptions> = {},
): Promise<Serving & { readonly logs: LogEntry[] }> {
  const logs: LogEntry[] = [];
  const data = folderData(await freshFolder("rap"));
  const server = createToolServer({
    name: "real",
    auth: noAuth,
    tools: [echo],
    data,
    log: (entry) => logs.push(entry),
    retry: { firstMs: 5, maxMs: 20 },
    ...more,
  });
  const listening = await server.serve();
  ends.push(() => listening.close({ graceMs: 0 }));
  return { ...listening, logs };
}

interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly bytes: Buffer;
  readonly body: Record<string, unknown>;
}

/** A host on the loopback. It replies with 200, unless `answer` writes the response itself and returns false. */
async function hosting(answer: (response: ServerResponse, times: number) => boolean = () => true) {
  const received: Received[] = [];
  const http: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url: path, headers } = request;
      const bytes = Buffer.concat(chunks);
      received.push({ method: method!, path: path!, headers, bytes, body: JSON.parse(bytes.toString()) });
      if (answer(response, received.length)) response.end();
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  ends.push(async () => {
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/callback/1`;
  return { url, received };
}

const post = (url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });

const call = (callback_url: string, id = "call_1", text = "hello"): object => ({
  operation: "echo",
  arguments: { text },
  id,
  group_id: "thread_1",
  callback_url,
});

/** Sends a text on a TCP connection, and resolves with all that comes back until it ends. */
function raw(port: number, ...said: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    let heard = "";
    const socket = connect(port, "127.0.0.1", () => {
      for (const part of said) socket.write(part, "latin1");
    });
    socket.on("data", (chunk) => {
      heard += chunk.toString("latin1");
    });
    socket.on("close", () => resolve(heard));
    socket.on("error", () => {});
  });
}

describe("a tool server on the loopback", () => {
  it("[RAPS-21] is discovered where it listens, takes a call, and posts the result as JSON in UTF-8", async () => {
    const { url } = await serving();
    const host = await hosting();
    const toolset = (await (await fetch(`${url}/.well-known/rap-toolset`)).json()) as { endpoint: string };
    expect(toolset.endpoint).toBe(`${url}/invoke`);
    const response = await post(toolset.endpoint, call(host.url, "call_1", "grüezi 🧵"));
    expect([response.status, await response.text()]).toEqual([200, ""]);
    await eventually(() => host.received.length === 1, "the result arrives");
    const { method, path, headers, bytes } = host.received[0]!;
    expect([method, path, headers["content-type"]]).toEqual(["POST", "/callback/1", "application/json"]);
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    expect(JSON.parse(text)).toEqual({
      type: "tool_result",
      group_id: "thread_1",
      id: "call_1",
      call_id: null,
      text: "grüezi 🧵",
      subscription: false,
    });
    expect(bytes.includes(Buffer.from("grüezi 🧵", "utf8"))).toBe(true);
  });

  it("retries when a host resets the connection, closes it, or answers 500", async () => {
    const { url } = await serving();
    const host = await hosting((response, times) => {
      if (times === 1) response.socket!.resetAndDestroy();
      else if (times === 2) response.socket!.end();
      else if (times === 3) response.writeHead(500);
      return times >= 3;
    });
    await post(`${url}/invoke`, call(host.url));
    await eventually(() => host.received.length === 4, "it is sent four times");
    expect(new Set(host.received.map(({ body }) => JSON.stringify(body))).size).toBe(1);
  });

  it("neither retries after 410 nor follows a 301", async () => {
    const { url, logs } = await serving();
    const closed = await hosting((response) => !!response.writeHead(410));
    const trap = await hosting();
    const moved = await hosting((response) => !!response.writeHead(301, { Location: trap.url }));
    await post(`${url}/invoke`, call(closed.url, "a"));
    await post(`${url}/invoke`, call(moved.url, "b"));
    await eventually(() => logs.length === 2, "both are given up");
    expect(new Set(logs.map(({ status }) => status))).toEqual(new Set([301, 410]));
    expect([closed.received.length, moved.received.length, trap.received.length]).toEqual([1, 1, 0]);
  });

  it("takes 500 closings at once, twice, and answers each with an empty 200", async () => {
    const { url } = await serving();
    for (let round = 0; round < 2; round++) {
      const answers = await Promise.all(
        Array.from({ length: 500 }, async (_, index) => {
          const response = await post(`${url}/close_thread`, { thread_id: `thread_${index}` });
          return `${response.status}${await response.text()}`;
        }),
      );
      expect(new Set(answers)).toEqual(new Set(["200"]));
    }
  });

  it("answers hostile ids like others", async () => {
    const { url, logs } = await serving();
    const ids = ["../../etc", "a\0b", "\u202e", "ｅ", "x".repeat(10_240), "%00", "..\\", "\u{10ffff}"];
    for (const id of ids)
      for (const [path, body] of [
        ["close_thread", { thread_id: id }],
        ["cancel_tool_call", { thread_id: id, tool_call_id: id }],
      ] as const)
        expect((await post(`${url}/${path}`, body)).status, `${path} ${id}`).toBe(200);
    expect((await post(`${url}/close_thread`, '{"thread_id":"\\ud800"}')).status).toBe(200);
    expect(logs).toEqual([]);
  });

  it("answers 401 without credentials, before it reads the body", async () => {
    const { url, port } = await serving({ auth: bearer("the-right-token") });
    expect((await post(`${url}/close_thread`, { thread_id: "t" })).status).toBe(401);
    const right = { Authorization: "Bearer the-right-token" };
    expect((await post(`${url}/close_thread`, { thread_id: "t" }, right)).status).toBe(200);
    const said = "POST /close_thread HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n{";
    const heard = await raw(port, said);
    expect(heard).toMatch(/^HTTP\/1.1 401 /);
    expect(heard).toMatch(/connection: close/i);
  });

  it("survives invalid requests", async () => {
    const { url, port, logs } = await serving();
    const heard = await Promise.all([
      raw(
        port,
        "GET //evil.example.com/.well-known/rap-toolset HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
      ),
      raw(port, "GET /.well-known/rap-toolset HTTP/1.1\r\nHost: a b/c@d:e\r\nConnection: close\r\n\r\n"),
      raw(port, "GET http://evil.example.com/invoke HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
      raw(port, "GET /%ff%00/../invoke HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
      raw(port, "TRACE / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
      raw(port, "nonsense\r\n\r\n"),
    ]);
    expect(heard.map((answer) => answer.slice(9, 12))).toEqual(["404", "200", "404", "405", "400", "400"]);
    expect(heard[1]).toContain(`"endpoint":"${url}/invoke"`);
    expect((await post(`${url}/close_thread`, { thread_id: "t" })).status).toBe(200);
    expect(logs).toEqual([]);
  });

  it("is not held up by a client that disconnects in the middle of a request", async () => {
    const { url, port } = await serving();
    const head =
      "POST /close_thread HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n";
    for (let times = 0; times < 20; times++)
      await new Promise<void>((resolve) => {
        const socket = connect(port, "127.0.0.1", () => {
          socket.write(`${head}{"thread_id":`, () => socket.resetAndDestroy());
        });
        socket.on("close", () => resolve());
        socket.on("error", () => {});
      });
    expect((await post(`${url}/close_thread`, { thread_id: "t" })).status).toBe(200);
  });

  it("refuses a body that is too large without reading all of it", async () => {
    const { url } = await serving();
    // More than the server reads, but finite: some clients do not notice that the server has stopped reading.
    let left = 256;
    const long = new ReadableStream<Uint8Array>({
      async pull(controller) {
        await new Promise((resolve) => setImmediate(resolve));
        if (left-- > 0) controller.enqueue(new Uint8Array(1 << 20).fill(32));
        else controller.close();
      },
    });
    const sent = fetch(`${url}/invoke`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: long,
      duplex: "half",
    } as RequestInit);
    // Some clients report the response, and some only that the connection was closed.
    const status = await sent.then(
      (response) => response.status,
      () => 413,
    );
    expect(status).toBe(413);
    expect((await post(`${url}/close_thread`, { thread_id: "t" })).status).toBe(200);
  });

  it("is gone when it is closed, and can be closed twice", async () => {
    const { url, close } = await serving();
    expect((await post(`${url}/close_thread`, { thread_id: "t" })).status).toBe(200);
    await close();
    await expect(post(`${url}/close_thread`, { thread_id: "t" })).rejects.toThrow();
    await close();
  });
});
