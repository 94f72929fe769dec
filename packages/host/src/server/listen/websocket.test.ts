import { once } from "node:events";
import type { Socket } from "node:net";
import { Frame, MAX_MESSAGE_BYTES } from "@bobbin/rpc";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { eventuallyPasses } from "../../../../../test/support/eventually.ts";
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
  const client = new WebSocket(url, { maxPayload: 2 ** 30 });
  await once(client, "open");
  return client;
}

/** A client that has finished the handshake, and then sends raw bytes. */
async function joinRaw(url: string): Promise<Socket> {
  const client = await connect(url);
  client.on("error", () => {});
  return (client as unknown as { _socket: Socket })._socket;
}

async function joined(options: Partial<WebSocketOptions> = {}) {
  const { listener, recording } = await open(options);
  const client = await connect(listener.url);
  const server = await recording.next();
  const socket = (client as unknown as { _socket: Socket })._socket;
  return { listener, recording, client, server, socket };
}

describe("a WebSocket listener", () => {
  it("takes one message a text frame and gives the client's address", async () => {
    const { client, server } = await joined();
    client.send("hello");
    client.send("");
    client.send("wörld");
    await server.until("wörld");
    expect(server.told).toEqual(["hello", "", "wörld"]);
    expect(server.meta).toEqual({
      transport: "websocket",
      principal: { kind: "local" },
      peer: expect.stringMatching(/^127\.0\.0\.1:\d+$/),
    });
  });

  it("names the port that the system chose", async () => {
    const { listener } = await open();
    expect(listener.url).toMatch(/^ws:\/\/127\.0\.0\.1:[1-9]\d*$/);
  });

  it("puts fragments together", async () => {
    const { client, server } = await joined();
    client.send('{"a', { fin: false });
    client.ping();
    client.send('":1}', { fin: true });
    await server.until('{"a":1}');
  });

  it("lets messages that may wait go together, and before the next one that may not", async () => {
    const { client, server } = await joined();
    const heard: string[] = [];
    client.on("message", (data) => heard.push(data.toString()));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      for (const text of ["a", "b", "c"]) {
        server.link.send(new Frame(text), true);
        await new Promise(setImmediate);
      }
      expect(server.link.backlog).toBeGreaterThan(0);
      server.link.send(new Frame("now"));
      server.link.send(new Frame("d"), true);
      await eventuallyPasses(() => expect(heard).toEqual(["a", "b", "c", "now", "d"]));
      server.link.send(new Frame("e"), true);
      await new Promise(setImmediate);
      expect(heard).not.toContain("e");
      vi.advanceTimersByTime(20);
      await eventuallyPasses(() => expect(heard.at(-1)).toBe("e"));
    } finally {
      vi.useRealTimers();
    }
  });

  it("writes what may wait before it ends", async () => {
    const { client, server } = await joined();
    const heard: string[] = [];
    client.on("message", (data) => heard.push(data.toString()));
    server.link.send(new Frame("last"), true);
    await server.link.close("normal");
    expect(heard).toEqual(["last"]);
  });

  it("reports binary frames and bad UTF-8 and goes on", async () => {
    const { client, server } = await joined();
    client.send(Buffer.from("binary"));
    client.send(Buffer.from([0x22, 0xc3, 0x28]), { binary: false });
    client.send("fine");
    await server.until("fine");
    expect(server.told).toEqual(["undecodable", "undecodable", "fine"]);
  });

  it("sends frames of every length as they are", async () => {
    const { client, server } = await joined();
    const texts = [0, 1, 125, 126, 65_535, 65_536, 300_000].map(
      (length) => "ä".repeat(length / 2) + "x".repeat(length % 2),
    );
    const got: string[] = [];
    client.on("message", (data) => got.push(data.toString()));
    for (const text of texts) server.link.send(new Frame(text));
    server.link.send(new Frame(...texts, "end"));
    while (got.at(-1) !== "end") await once(client, "message");
    expect(got).toEqual([...texts, ...texts, "end"]);
  });

  it("writes the frames of one tick together", async () => {
    const { server, socket } = await joined();
    const chunks: number[] = [];
    socket.on("data", (chunk: Buffer) => chunks.push(chunk.length));
    const frames = Array.from({ length: 50 }, (_, at) => new Frame(`{"n":${at}}`));
    for (const frame of frames) server.link.send(frame);
    await once(socket, "data");
    expect(chunks).toEqual([frames.reduce((sum, frame) => sum + frame.websocket.length, 0)]);
  });

  it("answers pings between its own frames without breaking one", async () => {
    const { client, server } = await joined();
    const big = "x".repeat(200_000);
    let pongs = 0;
    let messages = 0;
    client.on("pong", () => pongs++);
    client.on("message", (data) => {
      expect(data.toString()).toBe(big);
      messages++;
    });
    for (let round = 0; round < 50; round++) {
      client.ping(`p${round}`);
      client.send("next");
      await server.until("next", round + 1);
      server.link.send(new Frame(big));
    }
    while (messages < 50 || pongs < 50) await once(client, "message").then(() => new Promise(setImmediate));
    expect([messages, pongs]).toEqual([50, 50]);
  });

  it("reads a message of 64 MiB", async () => {
    const { client, server } = await joined();
    client.send(Buffer.alloc(MAX_MESSAGE_BYTES, "x"), { binary: false });
    await server.until(`${MAX_MESSAGE_BYTES} characters`);
  });

  it("tells of a message over 64 MiB, ends that wire with 1009 and leaves others alone", async () => {
    const { listener, client, server, recording } = await joined();
    const other = await connect(listener.url);
    const otherServer = await recording.next();
    client.send(Buffer.alloc(MAX_MESSAGE_BYTES + 1, "x"), { binary: false });
    const [code] = await once(client, "close");
    expect(code).toBe(1009);
    await server.until("closed");
    expect(server.told).toEqual(["oversized", "closed"]);
    other.send("still here");
    await otherServer.until("still here");
  });

  it("ends a wire that breaks the WebSocket protocol and lives on", async () => {
    const { listener, server, socket, recording } = await joined();
    socket.write(Buffer.from([0xff, 0xff, 0xff, 0xff]));
    await server.until("closed");
    expect(server.told).toEqual(["closed"]);
    await connect(listener.url);
    await recording.next();
  });

  it("takes any bytes without harm to itself or to others", async () => {
    const { listener, client, server, recording } = await joined();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 }), async (chunks) => {
        const socket = await joinRaw(listener.url);
        const told = await recording.next();
        for (const chunk of chunks) socket.write(chunk);
        socket.end();
        await told.until("closed");
        expect(told.told.filter((text) => text === "closed")).toHaveLength(1);
        expect(told.told.at(-1)).toBe("closed");
      }),
      { numRuns: 300 },
    );
    client.send("unharmed");
    await server.until("unharmed");
  });

  it("says once that the client is gone, and drops what is sent after", async () => {
    const { client, server } = await joined();
    client.close();
    await server.until("closed");
    server.link.send(new Frame("late"));
    await server.link.close("normal");
    await new Promise(setImmediate);
    expect(server.told).toEqual(["closed"]);
    expect(server.link.backlog).toBe(0);
  });

  it("survives a client that vanishes without a word while it is written to", async () => {
    const { client, server } = await joined();
    server.link.send(new Frame("x".repeat(50_000_000)));
    client.terminate();
    await server.until("closed");
    expect(server.told.filter((told) => told === "closed")).toHaveLength(1);
  });

  it.each([
    ["normal", 1000],
    ["shutdown", 1001],
    ["protocol", 1002],
    ["slow", 1013],
  ] as const)("writes out what was sent and closes as %s with code %i", async (reason, code) => {
    const { client, server } = await joined();
    const got: string[] = [];
    client.on("message", (data) => got.push(data.toString()));
    server.link.send(new Frame("x".repeat(5_000_000), "last words"));
    const closed = server.link.close(reason);
    server.link.send(new Frame("too late"));
    const [told] = await once(client, "close");
    await closed;
    expect(told).toBe(code);
    expect(got.at(-1)).toBe("last words");
    expect(server.told.filter((text) => text !== "drained")).toEqual(["closed"]);
  });
});

describe("a client that does not read", () => {
  it("shows as backlog, and as drained once it reads again", async () => {
    const { server, socket, client } = await joined();
    socket.pause();
    const frame = new Frame("x".repeat(1_000_000));
    for (let sent = 0; sent < 30; sent++) server.link.send(frame);
    expect(server.link.backlog).toBe(30 * frame.websocket.length);
    await new Promise(setImmediate);
    expect(server.link.backlog).toBeGreaterThan(10_000_000);
    expect(server.told).not.toContain("drained");
    let got = 0;
    client.on("message", () => got++);
    socket.resume();
    await server.until("drained");
    expect(server.link.backlog).toBe(0);
    while (got < 30) await once(client, "message");
  });

  it("is cut when the grace of a close is over", async () => {
    const { server, socket } = await joined();
    socket.pause();
    server.link.send(new Frame("x".repeat(50_000_000)));
    await server.link.close("slow", 20);
    expect(server.told.at(-1)).toBe("closed");
  });

  it("tells drained also for a few bytes", async () => {
    const { server } = await joined();
    server.link.send(new Frame("tiny"));
    await server.until("drained");
    expect(server.link.backlog).toBe(0);
  });
});

describe("pause", () => {
  it("stops reading until resume, and everything arrives then", async () => {
    const { client, server } = await joined();
    server.link.pause();
    const message = "x".repeat(1_000_000);
    for (let sent = 0; sent < 20; sent++) client.send(message);
    await new Promise(setImmediate);
    expect(client.bufferedAmount).toBeGreaterThan(0);
    expect(server.told).toEqual([]);
    server.link.resume();
    await server.until("1000000 characters", 20);
  });

  it("does not keep a close from finishing", async () => {
    const { client, server } = await joined();
    server.link.pause();
    client.send("unread");
    const closed = once(client, "close");
    await server.link.close("shutdown");
    expect((await closed)[0]).toBe(1001);
    expect(server.told).toEqual(["closed"]);
  });
});

describe("pings", () => {
  it("go to idle clients", async () => {
    const { client } = await joined({ pingEveryMs: 10 });
    await once(client, "ping");
    await once(client, "ping");
    await once(client, "ping");
    await once(client, "ping");
    expect(client.readyState).toBe(WebSocket.OPEN);
  });

  it("cut a client from elsewhere that answers none, and spare one on this machine", async () => {
    const authenticate = () => ({ principal: { kind: "token" as const } });
    const { listener, recording } = await open({ host: "0.0.0.0", authenticate, pingEveryMs: 10 });
    const silent = new WebSocket(listener.url.replace("0.0.0.0", "127.0.0.1"), { autoPong: false });
    await once(silent, "open");
    await (await recording.next()).until("closed");

    const local = await open({ pingEveryMs: 10 });
    const stopped = new WebSocket(local.listener.url, { autoPong: false });
    for (let pings = 0; pings < 5; pings++) await once(stopped, "ping");
    expect((await local.recording.next()).told).toEqual([]);
  });
});
