import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { HTTP_LIMITS, type HttpLimits } from "./http-listener-limits.ts";
import { listenWithin } from "./node-listen.ts";
import type { HttpHandler, HttpListener } from "./platform.ts";

const LIMITS: HttpLimits = { ...HTTP_LIMITS, maxConnections: 3, requestTimeout: 60_000 };
const QUICK = { headersTimeout: 50, requestTimeout: 100, connectionsCheckingInterval: 10 };
const GET = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

const doors: HttpListener[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(doors.splice(0).map((door) => door.close()));
});

const accepting: HttpHandler = async ({ body }) => {
  for await (const _ of body);
  return { status: 200 };
};

async function open(limits: Partial<HttpLimits> = {}, handle: HttpHandler = accepting): Promise<number> {
  const door = await listenWithin({ ...LIMITS, ...limits }, { host: "127.0.0.1", port: 0 }, handle);
  doors.push(door);
  return door.port;
}

class Peer {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  received = "";

  constructor(port: number) {
    this.socket = createConnection(port, "127.0.0.1");
    sockets.push(this.socket);
    this.socket.on("error", () => {});
    this.socket.on("data", (bytes) => (this.received += bytes.toString()));
    this.closed = once(this.socket, "close");
  }

  static async connect(port: number): Promise<Peer> {
    const peer = new Peer(port);
    await once(peer.socket, "connect");
    return peer;
  }

  /** The status line of the next response, or "closed" if the connection ended. */
  async ask(text: string): Promise<string> {
    this.received = "";
    this.socket.write(text);
    while (!this.received.includes("\r\n\r\n")) {
      const gone = await Promise.race([
        once(this.socket, "data").then(() => false),
        this.closed.then(() => true),
      ]);
      if (gone && !this.received.includes("\r\n\r\n")) return "closed";
    }
    return this.received.slice(0, this.received.indexOf("\r\n"));
  }
}

describe("a full HTTP listener", () => {
  it("[LIMIT-1] closes the connection that asked for nothing for longest, and serves the new one", async () => {
    const port = await open();
    const silent = [await Peer.connect(port), await Peer.connect(port), await Peer.connect(port)];
    const late = await Peer.connect(port);
    expect(await late.ask(GET)).toBe("HTTP/1.1 200 OK");
    await silent[0]!.closed;
    expect(await silent[1]!.ask(GET)).toBe("HTTP/1.1 200 OK");
  });

  it("[LIMIT-1] prefers a connection that was served long ago to one that was served just now", async () => {
    const port = await open();
    const [first, second, third] = [
      await Peer.connect(port),
      await Peer.connect(port),
      await Peer.connect(port),
    ];
    for (const peer of [second, third, first]) expect(await peer.ask(GET)).toBe("HTTP/1.1 200 OK");
    const late = await Peer.connect(port);
    expect(await late.ask(GET)).toBe("HTTP/1.1 200 OK");
    await second.closed;
    expect(await first.ask(GET)).toBe("HTTP/1.1 200 OK");
    expect(await third.ask(GET)).toBe("HTTP/1.1 200 OK");
  });

  it("[LIMIT-1] refuses a new connection while requests are under way on all others", async () => {
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    let all!: () => void;
    const allAsked = new Promise<void>((resolve) => (all = resolve));
    let asked = 0;
    const port = await open({}, async () => {
      if (++asked === 3) all();
      await held;
      return { status: 200 };
    });
    const busy = [await Peer.connect(port), await Peer.connect(port), await Peer.connect(port)];
    const answers = busy.map((peer) => peer.ask(GET));
    await allAsked;
    const late = await Peer.connect(port);
    expect(await late.ask(GET)).toBe("closed");
    expect(asked).toBe(3);
    release();
    expect(await Promise.all(answers)).toEqual(Array(3).fill("HTTP/1.1 200 OK"));
    expect(await (await Peer.connect(port)).ask(GET)).toBe("HTTP/1.1 200 OK");
  });

  it("[LIMIT-1] serves everybody who comes in turn, however many there were", async () => {
    const port = await open();
    for (let at = 0; at < 20; at++) {
      expect(await (await Peer.connect(port)).ask(GET)).toBe("HTTP/1.1 200 OK");
    }
  });
});

describe("a slow or long request", () => {
  it.each([
    ["sends nothing", ""],
    ["never ends its headers", "GET / HTTP/1.1\r\nHost: localhost\r\nX: "],
    ["never ends its body", "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc"],
  ])("[LIMIT-2] ends the connection if it %s", async (_, text) => {
    const port = await open(QUICK);
    const peer = await Peer.connect(port);
    peer.socket.write(text);
    await peer.closed;
    expect(peer.received).not.toContain("200");
  });

  it("[LIMIT-2] is refused with 431 if its headers are too long", async () => {
    const port = await open();
    const peer = await Peer.connect(port);
    const long = `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(17 * 1024)}\r\n\r\n`;
    expect(await peer.ask(long)).toMatch(/^HTTP\/1.1 431 /);
    await peer.closed;
  });
});

describe("a request that can be read in two ways", () => {
  it.each([
    ["two Host headers", "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"],
    ["two equal Host headers", "GET / HTTP/1.1\r\nHost: localhost\r\nhOST: localhost\r\n\r\n"],
    ["a Host header behind thousands of others", behindMany("Host: evil.example")],
    ["two credentials", "GET / HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\nAuthorization: b\r\n\r\n"],
    ["no Host header", "GET / HTTP/1.1\r\n\r\n"],
    ["a target with a host in it", "GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    ["two lengths", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"],
    [
      "a length and chunks",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ],
  ])("[LIMIT-3] is refused with 400: %s", async (_, text) => {
    let handled = 0;
    const port = await open({}, async () => {
      handled++;
      return { status: 200 };
    });
    expect(await (await Peer.connect(port)).ask(text)).toBe("HTTP/1.1 400 Bad Request");
    expect(handled).toBe(0);
  });
});

/** As many headers as fit into the head. By default Node drops headers beyond a count. */
function behindMany(last: string): string {
  return `GET / HTTP/1.1\r\nHost: localhost\r\n${"a:\r\n".repeat(3000)}${last}\r\n\r\n`;
}
