import type { Frame, Link, LinkEvents } from "@bobbin/rpc";
import { describe, expect, it } from "vitest";
import type { Host } from "../host.ts";
import type { Client } from "../server/connection.ts";
import { LazyHost } from "./lazy-host.ts";

const META = { transport: "stdio", principal: { kind: "local" } } as const;
const clientInfo = { name: "ide", title: null, version: "1.2" };
const hello = (params: object = { clientInfo }) => JSON.stringify({ id: 7, method: "initialize", params });

/** Connects a client to a `LazyHost` whose host is not loaded yet. `loadDelayMs`: as in `LazyHost`. */
function connectEarly(loadDelayMs?: number) {
  const sent: unknown[] = [];
  const pauses: string[] = [];
  const link = {
    send: (frame: Frame) => void sent.push(...frame.messages.map((text) => JSON.parse(text))),
    pause: () => void pauses.push("pause"),
    resume: () => void pauses.push("resume"),
  };
  const received: unknown[] = [];
  let closed = false;
  const events: LinkEvents = {
    message: (text) => void received.push(JSON.parse(text).method),
    oversized: (bytes) => void received.push(bytes),
    undecodable: () => void received.push("undecodable"),
    drained: () => void received.push("drained"),
    closed: () => void received.push("closed"),
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
  let soon: (() => void) | undefined;
  let runAfterDelay = (): void => {};
  let loading: { resolve: (host: Host) => void; reject: (cause: Error) => void } | undefined;
  const timers = {
    soon(run: () => void): void {
      soon = run;
    },
    after(ms: number, run: () => void) {
      expect(ms).toBe(loadDelayMs);
      runAfterDelay = run;
      return () => {};
    },
  };
  const load = () =>
    new Promise<Host>((resolve, reject) => {
      loading = { resolve, reject };
    });
  const lazy = new LazyHost("/home", timers, load, loadDelayMs);
  const connection = lazy.accept(link as unknown as Link, META);
  return {
    lazy,
    connection,
    sent,
    received,
    pauses,
    link: link as unknown as Link,
    isLoading: () => loading !== undefined,
    /** Whether the load begins when what is there was read. */
    isDue: () => soon !== undefined,
    passLoadDelay: () => runAfterDelay(),
    load: async () => {
      soon!();
      loading!.resolve(host);
      await lazy.host;
      await Promise.resolve();
    },
    fail: () => {
      soon!();
      loading!.reject(new Error("no host"));
    },
    greeted: () => greeted,
    isClosed: () => closed,
  };
}

describe("before the host is loaded", () => {
  it("hello is answered at once, and the host knows who it was", async () => {
    const { connection, sent, received, load, greeted, isLoading } = connectEarly();
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
    expect(received).toEqual(["initialized", "thread/start"]);
    expect(greeted()).toMatchObject({ info: clientInfo, experimental: true, optedOut: new Set(["x"]) });
    connection.message(JSON.stringify({ id: 9, method: "thread/list" }));
    expect(received.at(-1)).toBe("thread/list");
    expect(sent).toHaveLength(1);
  });

  it.each([
    ["another request", JSON.stringify({ id: 1, method: "thread/start", params: {} })],
    ["a hello without a name", hello({})],
    ["a hello with a name that is no header", hello({ clientInfo: { name: "☃", version: "1" } })],
    ["a hello that wants no answer", JSON.stringify({ method: "initialize", params: { clientInfo } })],
  ])("%s waits for the host, and what follows too", async (_, first) => {
    const { connection, sent, received, load, greeted } = connectEarly();
    connection.message(first);
    connection.message(hello());
    connection.undecodable();
    connection.oversized(5);
    connection.closed();
    await load();
    expect(sent).toEqual([]);
    expect(received).toEqual([JSON.parse(first).method, "initialize", "undecodable", 5, "closed"]);
    expect(greeted()).toBeUndefined();
  });

  it("a second hello is the host's to refuse", async () => {
    const { connection, sent, received, load } = connectEarly();
    connection.message(hello());
    connection.message(hello());
    await load();
    expect(sent).toHaveLength(1);
    expect(received).toEqual(["initialize"]);
  });

  it("an end waits for it", async () => {
    const { lazy: host, load, isClosed } = connectEarly();
    const closing = host.close();
    expect(isClosed()).toBe(false);
    await load();
    await closing;
    expect(isClosed()).toBe(true);
  });

  it("whoever asks is received that there is none", async () => {
    const { lazy: host, connection, fail } = connectEarly();
    connection.message(hello());
    fail();
    await expect(host.host).rejects.toThrow("no host");
    await expect(host.close()).rejects.toThrow("no host");
  });
});

describe("before the first client of a socket", () => {
  it("the host is loaded when a hello was answered", async () => {
    const { connection, sent, isDue, load, received, greeted } = connectEarly(100);
    expect(isDue()).toBe(false);
    connection.message(hello());
    expect(sent).toHaveLength(1);
    expect(isDue()).toBe(true);
    await load();
    connection.message(JSON.stringify({ method: "initialized" }));
    expect([received, greeted()?.info]).toEqual([["initialized"], clientInfo]);
  });

  it.each([
    ["something else is said", ({ connection }: ReturnType<typeof connectEarly>) => connection.message("{}")],
    ["nobody comes for a while", ({ passLoadDelay }: ReturnType<typeof connectEarly>) => passLoadDelay()],
    ["the end comes", (stage: ReturnType<typeof connectEarly>) => void stage.lazy.close()],
  ])("the host is loaded when %s", (_, happen) => {
    const stage = connectEarly(100);
    happen(stage);
    expect(stage.isDue()).toBe(true);
  });

  it("who says much is not read any further until the host is there", async () => {
    const { connection, pauses, load, received } = connectEarly(100);
    connection.message(hello());
    const long = JSON.stringify({ method: "thread/start", params: "x".repeat(600_000) });
    connection.message(long);
    expect(pauses).toEqual([]);
    connection.message(long);
    connection.message(long);
    expect(pauses).toEqual(["pause"]);
    await load();
    expect(pauses).toEqual(["pause", "resume"]);
    expect(received).toEqual(["thread/start", "thread/start", "thread/start"]);
  });

  it("whoever comes later has nothing in between", async () => {
    const { lazy: host, connection, load, link, received } = connectEarly(100);
    connection.message(hello());
    await load();
    host.accept(link, META).message(hello());
    expect(received).toEqual(["initialize"]);
  });
});
