import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { nodeHttp } from "./node-http.ts";
import type { HttpAnswer } from "./platform.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const sockets: Socket[] = [];
  const server = createServer(
    (request, response) => void request.resume().on("end", () => answer(request, response)),
  );
  server.on("connection", (socket) => sockets.push(socket));
  servers.push(server);
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/x`), sockets };
}

async function textOf({ body }: HttpAnswer): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body ?? []) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const { signal } = new AbortController();
const post = { method: "POST", headers: { "x-own": "1" }, body: "{}", signal } as const;

describe("a call over HTTP", () => {
  it("that cannot be sent is refused, and aborting it later does no harm", async () => {
    const stop = new AbortController();
    const headers = { authorization: "Bearer sk-…" };
    const call = nodeHttp()(new URL("http://127.0.0.1:1/"), { ...post, headers, signal: stop.signal });
    await expect(call).rejects.toMatchObject({ code: "ERR_INVALID_CHAR" });
    stop.abort();
  });

  it("reuses a connection whose response was read to the end", async () => {
    const http = nodeHttp();
    const { url, sockets } = await serve(({ headers, method }, response) => {
      response.setHeader("x-two", ["a", "b"]);
      response.end(`${method} ${headers["x-own"]} ${headers["content-length"]}`);
    });
    for (let call = 0; call < 3; call++) {
      const answer = await http(url, post);
      expect(answer.status).toBe(200);
      expect(answer.headers.get("x-two")).toBe("a, b");
      expect(answer.headers.get("x-three")).toBeNull();
      expect(await textOf(answer)).toBe("POST 1 2");
    }
    expect(sockets).toHaveLength(1);
  });

  it("is sent again if the server closed the connection that it was sent on", async () => {
    const http = nodeHttp();
    const { url, sockets } = await serve((_, response) => response.end("here"));
    expect(await textOf(await http(url, post))).toBe("here");
    // The server closed the idle connection; the next request notices that while it is under way.
    sockets[0]!.resetAndDestroy();
    expect(await textOf(await http(url, post))).toBe("here");
    expect(sockets).toHaveLength(2);
  });

  it("fails without a listener, on an incomplete response, and on an abort", async () => {
    const http = nodeHttp();
    const { url } = await serve((request, response) => {
      response.write("begun");
      if (request.headers["x-own"] === "torn") setImmediate(() => response.destroy());
    });
    await expect(http(new URL("http://127.0.0.1:1/"), post)).rejects.toMatchObject({ code: "ECONNREFUSED" });
    await expect(textOf(await http(url, { ...post, headers: { "x-own": "torn" } }))).rejects.toThrow();
    const stop = new AbortController();
    const reading = textOf(await http(url, { ...post, signal: stop.signal }));
    stop.abort(new Error("enough"));
    await expect(reading).rejects.toThrow();
    await expect(http(url, { ...post, signal: stop.signal })).rejects.toThrow("enough");
  });

  it("leaves no listener on the signal", async () => {
    const http = nodeHttp();
    const { url } = await serve((_, response) => response.end("here"));
    const listening = new Set<unknown>();
    const stop = new AbortController();
    const { addEventListener, removeEventListener } = stop.signal;
    stop.signal.addEventListener = (type: string, ...rest: unknown[]) => {
      listening.add(rest[0]);
      addEventListener.apply(stop.signal, [type, ...rest] as never);
    };
    stop.signal.removeEventListener = (type: string, ...rest: unknown[]) => {
      listening.delete(rest[0]);
      removeEventListener.apply(stop.signal, [type, ...rest] as never);
    };
    await textOf(await http(url, { ...post, signal: stop.signal }));
    await eventually(() => listening.size === 0, "the listeners are removed");
    await expect(http(new URL("http://127.0.0.1:1/"), { ...post, signal: stop.signal })).rejects.toThrow();
    expect(listening.size).toBe(0);
  });

  it("follows redirects", async () => {
    const http = nodeHttp();
    const { url } = await serve((request, response) => {
      if (request.url === "/x") response.writeHead(307, { location: "/y" }).end();
      else response.end(`${request.method} ${request.url}`);
    });
    expect(await textOf(await http(url, post))).toBe("POST /y");
  });

  it("stops reading while its reader is slow", async () => {
    const http = nodeHttp();
    let written = 0;
    const { url } = await serve(async (_, response) => {
      const chunk = Buffer.alloc(64 * 1024);
      while (written < 64 * 1024 * 1024) {
        written += chunk.length;
        if (!response.write(chunk)) await once(response, "drain");
      }
      response.end();
    });
    const answer = await http(url, post);
    const reader = answer.body![Symbol.asyncIterator]();
    await reader.next();
    // Enough turns of the event loop to read everything, if nothing stopped the reading.
    for (let tick = 0; tick < 5000; tick++) await new Promise(setImmediate);
    expect(written).toBeLessThan(48 * 1024 * 1024);
    let rest = 0;
    for (let step = await reader.next(); !step.done; step = await reader.next()) rest += step.value.length;
    expect(rest).toBeGreaterThan(60 * 1024 * 1024);
  });

  it("treats a switch of protocols as a response, and closes the connection", async () => {
    const { url, sockets } = await serve((_, { socket }) => {
      socket?.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nbytes");
    });
    const answer = await nodeHttp()(url, post);
    expect(answer.status).toBe(101);
    expect(answer.headers.get("upgrade")).toBe("x");
    expect(await textOf(answer)).toBe("");
    if (!sockets[0]!.closed) await once(sockets[0]!, "close");
  });
});
