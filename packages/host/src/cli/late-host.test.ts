import type { Frame, Link, LinkEvents } from "@bobbin/rpc";
import { describe, expect, it } from "vitest";
import type { Host } from "../host.ts";
import type { Client } from "../server/connection.ts";
import { LateHost } from "./late-host.ts";

const META = { transport: "stdio", principal: { kind: "local" } } as const;
const clientInfo = { name: "ide", title: null, version: "1.2" };
const hello = (params: object = { clientInfo }) => JSON.stringify({ id: 7, method: "initialize", params });

function late() {
  const sent: unknown[] = [];
  const link = { send: (frame: Frame) => void sent.push(...frame.messages.map((text) => JSON.parse(text))) };
  const told: unknown[] = [];
  let closed = false;
  const events: LinkEvents = {
    message: (text) => void told.push(JSON.parse(text).method),
    oversized: (bytes) => void told.push(bytes),
    undecodable: () => void told.push("undecodable"),
    drained: () => void told.push("drained"),
    closed: () => void told.push("closed"),
  };
  let greeted: Client | undefined;
  const host = {
    accept(_link: Link, _meta: object, client?: Client) {
      greeted = client;
      return events;
    },
    async close() {
      closed = true;
    },
  } as unknown as Host;
  let soon = (): void => {};
  let loading: { resolve: (host: Host) => void; reject: (cause: Error) => void } | undefined;
  const timers = {
    soon(run: () => void): void {
      soon = run;
    },
  };
  const late = new LateHost("/home", timers, () => {
    return new Promise((resolve, reject) => {
      loading = { resolve, reject };
    });
  });
  const connection = late.accept(link as unknown as Link, META);
  return {
    late,
    connection,
    sent,
    told,
    isLoading: () => loading !== undefined,
    load: async () => {
      soon();
      loading!.resolve(host);
      await late.host;
      await Promise.resolve();
    },
    fail: () => {
      soon();
      loading!.reject(new Error("no host"));
    },
    greeted: () => greeted,
    isClosed: () => closed,
  };
}

describe("before the host is loaded", () => {
  it("hello is answered at once, and the host knows who it was", async () => {
    const { connection, sent, told, load, greeted, isLoading } = late();
    connection.message(
      hello({ clientInfo, capabilities: { experimentalApi: true, optOutNotificationMethods: ["x"] } }),
    );
    expect(sent).toEqual([
      {
        id: 7,
        result: {
          userAgent: expect.stringMatching(/^ide\/.+ \(ide; 1\.2\)$/),
          codexHome: "/home",
          platformFamily: expect.any(String),
          platformOs: expect.any(String),
        },
      },
    ]);
    expect(isLoading()).toBe(false);
    connection.message(JSON.stringify({ method: "initialized" }));
    connection.message(JSON.stringify({ id: 8, method: "thread/start" }));
    await load();
    expect(told).toEqual(["initialized", "thread/start"]);
    expect(greeted()).toMatchObject({ info: clientInfo, experimental: true, optedOut: new Set(["x"]) });
    connection.message(JSON.stringify({ id: 9, method: "thread/list" }));
    expect(told.at(-1)).toBe("thread/list");
    expect(sent).toHaveLength(1);
  });

  it.each([
    ["another request", JSON.stringify({ id: 1, method: "thread/start", params: {} })],
    ["a hello without a name", hello({})],
    ["a hello with a name that is no header", hello({ clientInfo: { name: "☃", version: "1" } })],
    ["a hello that wants no answer", JSON.stringify({ method: "initialize", params: { clientInfo } })],
  ])("%s waits for the host, and what follows too", async (_, first) => {
    const { connection, sent, told, load, greeted } = late();
    connection.message(first);
    connection.message(hello());
    connection.undecodable();
    connection.oversized(5);
    connection.closed();
    await load();
    expect(sent).toEqual([]);
    expect(told).toEqual([JSON.parse(first).method, "initialize", "undecodable", 5, "closed"]);
    expect(greeted()).toBeUndefined();
  });

  it("a second hello is the host's to refuse", async () => {
    const { connection, sent, told, load } = late();
    connection.message(hello());
    connection.message(hello());
    await load();
    expect(sent).toHaveLength(1);
    expect(told).toEqual(["initialize"]);
  });

  it("an end waits for it", async () => {
    const { late: host, load, isClosed } = late();
    const closing = host.close();
    expect(isClosed()).toBe(false);
    await load();
    await closing;
    expect(isClosed()).toBe(true);
  });

  it("whoever asks is told that there is none", async () => {
    const { late: host, connection, fail } = late();
    connection.message(hello());
    fail();
    await expect(host.host).rejects.toThrow("no host");
    await expect(host.close()).rejects.toThrow("no host");
  });
});
