import { once } from "node:events";
import { createConnection } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { LinkRecording } from "../../../../../test/support/link-recording.ts";
import type { Listener } from "./listener.ts";
import { listenWebSocket, type WebSocketOptions } from "./websocket.ts";

const listeners: Listener[] = [];
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close(0);
});

async function open(options: Partial<WebSocketOptions> = {}) {
  const recording = new LinkRecording();
  const listener = await listenWebSocket({
    accept: recording.accept,
    host: "127.0.0.1",
    port: 0,
    ...options,
  });
  listeners.push(listener);
  return { listener, recording };
}

async function connect(url: string): Promise<WebSocket> {
  const client = new WebSocket(url);
  await once(client, "open");
  return client;
}

async function joined() {
  const { listener, recording } = await open();
  return { listener, client: await connect(listener.url), server: await recording.next() };
}

describe("closing the listener", () => {
  it("refuses newcomers at once, leaves links to their holder and cuts them after the grace", async () => {
    const { listener, client, server } = await joined();
    const closed = listener.close(60_000);
    await expect(connect(listener.url)).rejects.toThrow("ECONNREFUSED");
    client.send("still served");
    await server.until("still served");
    const cut = listener.close(0);
    await Promise.all([closed, cut, once(client, "close")]);
    expect(server.told.at(-1)).toBe("closed");
    await listener.close(0);
  });

  it("ends as soon as the last link does", async () => {
    const { listener, server } = await joined();
    const closed = listener.close(60_000);
    await server.link.close("shutdown");
    await closed;
  });

  it("is not held up by a connection that never asked for anything", async () => {
    const { listener } = await open();
    const { port, hostname } = new URL(listener.url);
    const idle = createConnection(Number(port), hostname);
    await once(idle, "connect");
    idle.on("error", () => {});
    await listener.close(20);
  });
});

describe("opening the listener", () => {
  it.each(["0.0.0.0", "::", "192.0.2.1"])("is refused on %s without authentication", async (host) => {
    await expect(open({ host })).rejects.toMatchObject({
      code: "authRequired",
      message: expect.stringMatching(/--ws-auth capability-token.*signed-bearer-token.*127\.0\.0\.1/),
    });
  });

  it.each(["127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"])(
    "needs no authentication on %s",
    async (host) => {
      await open({ host }).catch((error) => expect(error).toMatchObject({ code: "addressUnavailable" }));
    },
  );

  it("says that the port is taken", async () => {
    const { listener } = await open();
    await expect(open({ port: Number(new URL(listener.url).port) })).rejects.toMatchObject({
      code: "addressInUse",
      message: expect.stringContaining(listener.url),
    });
  });

  it("says that the address is not of this machine", async () => {
    const authenticate = () => ({ principal: { kind: "token" as const } });
    await expect(open({ host: "192.0.2.1", authenticate })).rejects.toMatchObject({
      code: "addressUnavailable",
    });
  });
});

/** What the listener answers to a request, byte for byte, until it closes the connection. */
async function raw(url: string, request: string): Promise<string> {
  const { port, hostname } = new URL(url);
  const socket = createConnection(Number(port), hostname);
  socket.on("error", () => {});
  let received = "";
  socket.on("data", (bytes) => (received += bytes.toString()));
  socket.write(request);
  await once(socket, "close");
  return received;
}

const UPGRADE =
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n";

describe("a request that can be read in two ways", () => {
  it.each(["", UPGRADE])("[LIMIT-3] gets a 400, with these headers besides: %j", async (headers) => {
    const { listener, recording } = await open();
    for (const hosts of [
      "Host: localhost\r\nHost: evil.example\r\n",
      "Host: evil.example\r\nHost: localhost\r\n",
      "",
    ]) {
      const answer = await raw(listener.url, `GET / HTTP/1.1\r\n${hosts}${headers}\r\n`);
      expect(answer, hosts).toMatch(/^HTTP\/1.1 400 /);
    }
    const absolute = `GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`;
    expect(await raw(listener.url, absolute)).toMatch(/^HTTP\/1.1 400 /);
    expect(recording.links).toEqual([]);
  });
});

describe("a listener with limits", () => {
  it("[LIMIT-4] serves as many clients as it may, refuses others with 503, and takes them when there is room", async () => {
    const { listener, recording } = await open({ maxClients: 2 });
    const first = await connect(listener.url);
    await connect(listener.url);
    await expect(connect(listener.url)).rejects.toThrow("503");
    const answer = await raw(listener.url, `GET / HTTP/1.1\r\nHost: localhost\r\n${UPGRADE}\r\n`);
    expect(answer).toContain('"code":"tooManyConnections"');
    first.close();
    await recording.links[0]!.until("closed");
    await connect(listener.url);
  });

  it("[LIMIT-1] lets clients in while others hold connections open without a word", async () => {
    const { listener, recording } = await open({ limits: { maxConnections: 2 } });
    const { port, hostname } = new URL(listener.url);
    const held = Array.from({ length: 8 }, () => createConnection(Number(port), hostname));
    for (const socket of held) socket.on("error", () => {});
    const clients = [await connect(listener.url), await connect(listener.url), await connect(listener.url)];
    // Clients are no longer counted, so none of them had to go for the next.
    for (const client of clients) {
      client.send("here");
      await (await recording.next()).until("here");
    }
    for (const socket of held) socket.destroy();
  });

  it("[LIMIT-2] does not read the body of a request that it serves", async () => {
    const { listener } = await open();
    const answer = await raw(
      listener.url,
      "GET /readyz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\nabc",
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(answer).toContain("Connection: close");
  });
});
