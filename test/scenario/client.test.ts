import { type BobbinClient, connectWebSocket, overLink } from "@bobbin/client";
import { memoryPair } from "@bobbin/rpc";
import { afterEach, describe, expect, it, vi } from "vitest";
import WebSocket from "ws";
import { compose } from "../../packages/host/src/compose.ts";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { pinoLog } from "../../packages/host/src/observe/log.ts";
import { nodePlatform } from "../../packages/host/src/platform/node.ts";
import { listenWebSocket } from "../../packages/host/src/server/listen/websocket.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function startHost() {
  const { host } = compose({
    home: "/home/of/bobbin",
    cwd: "/",
    config: readConfig({}),
    platform: nodePlatform(),
    log: pinoLog({ level: "silent", format: "text", write() {} }),
  });
  cleanups.push(() => host.close());
  return host;
}

/** Each way to reach a host, by its name. */
const wires: Record<string, () => Promise<BobbinClient>> = {
  async "a memory pair"() {
    const [ours, theirs] = memoryPair();
    theirs.attach(startHost().accept(theirs, { transport: "stdio", principal: { kind: "local" } }));
    return overLink(ours);
  },
  async "a WebSocket"() {
    const host = startHost();
    const door = await listenWebSocket({
      accept: (link, meta) => host.accept(link, meta),
      host: "127.0.0.1",
      port: 0,
    });
    cleanups.push(() => door.close(0));
    return await connectWebSocket(door.url, { WebSocket });
  },
};

describe.each(Object.entries(wires))("a client on %s", (_name, connect) => {
  it("holds a first conversation", async () => {
    const client = await connect();
    cleanups.push(() => client.close());
    await expect(client.request("model/list", {})).rejects.toMatchObject({
      name: "RpcError",
      code: -32600,
      data: { code: "notInitialized" },
    });
    const { codexHome } = await client.initialize({ name: "client-test", version: "1" });
    expect(codexHome).toBe("/home/of/bobbin");

    const { thread } = await client.request("thread/start", {});
    const methods = new Set<string>();
    let text = "";
    let status: string | undefined;
    for await (const { method, params } of client.runTurn(thread.id, "hello there")) {
      methods.add(method);
      if (method === "item/agentMessage/delta") text += params.delta;
      if (method === "turn/completed") status = params.turn.status;
    }
    expect(text).toContain("You said: hello there");
    expect(status).toBe("completed");
    expect([...methods]).toEqual(expect.arrayContaining(["turn/started", "item/completed"]));
  });

  it("interrupts a turn by its signal", async () => {
    const client = await connect();
    cleanups.push(() => client.close());
    await client.initialize({ name: "client-test", version: "1" });
    const { thread } = await client.request("thread/start", {});
    const stop = new AbortController();
    let status: string | undefined;
    for await (const { method, params } of client.runTurn(thread.id, "slowly please", stop)) {
      if (method === "item/agentMessage/delta") stop.abort();
      if (method === "turn/completed") status = params.turn.status;
    }
    expect(status).toBe("interrupted");
  });

  it("is notified when the host ends", async () => {
    const client = await connect();
    await client.initialize({ name: "client-test", version: "1" });
    const gone = new Promise<string>((resolve) => client.onClosed(resolve));
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
    expect(await gone).not.toBe("");
    await expect(client.request("model/list", {})).rejects.toMatchObject({ reason: "closed" });
  });
});

describe("connectWebSocket", () => {
  it("sends headers, and says why it cannot connect", async () => {
    const token = { authorization: "Bearer right" };
    const host = startHost();
    const door = await listenWebSocket({
      accept: (link, meta) => host.accept(link, meta),
      host: "127.0.0.1",
      port: 0,
      authenticate: (header) =>
        header === token.authorization
          ? { principal: { kind: "token" } }
          : { status: 401, code: "unauthorized", message: "show the token" },
    });
    cleanups.push(() => door.close(0));
    await expect(connectWebSocket(door.url, { WebSocket })).rejects.toThrow(
      `cannot connect to ${door.url}: Unexpected server response: 401`,
    );
    const client = await connectWebSocket(door.url, { WebSocket, headers: token });
    await client.initialize({ name: "client-test", version: "1" });
    await client.close();
  });

  it("uses the global WebSocket, and asks for one if there is none", async () => {
    const host = startHost();
    const door = await listenWebSocket({
      accept: (...link) => host.accept(...link),
      host: "127.0.0.1",
      port: 0,
    });
    cleanups.push(() => door.close(0));
    vi.stubGlobal("WebSocket", WebSocket);
    cleanups.push(async () => vi.unstubAllGlobals());
    const client = await connectWebSocket(door.url);
    await client.initialize({ name: "client-test", version: "1" });
    await client.close();
    vi.stubGlobal("WebSocket", undefined);
    await expect(connectWebSocket(door.url)).rejects.toThrow('the package "ws"');
  });

  it("works with Node's own where it has one", async (test) => {
    if (!("WebSocket" in globalThis)) return test.skip("Node has a WebSocket from version 22 on");
    const host = startHost();
    const door = await listenWebSocket({
      accept: (...link) => host.accept(...link),
      host: "127.0.0.1",
      port: 0,
    });
    const client = await connectWebSocket(door.url, { headers: { "x-anything": "1" } });
    await client.initialize({ name: "client-test", version: "1" });
    await client.close();
    await door.close(0);
    await expect(connectWebSocket(door.url)).rejects.toThrow(`cannot connect to ${door.url}: `);
  });

  it("gives up when its signal aborts", async () => {
    const stop = new AbortController();
    stop.abort(new Error("enough"));
    const options = { WebSocket, signal: stop.signal };
    await expect(connectWebSocket("ws://127.0.0.1:1", options)).rejects.toThrow("enough");
  });
});
