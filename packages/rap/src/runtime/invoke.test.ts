import { describe, expect, it } from "vitest";
import {
  type Behave,
  drip,
  FakeToolServer,
  hang,
  ok,
  reset,
  status,
} from "../../../../test/support/tool-server.ts";
import type { Invocation } from "../wire/index.ts";
import { invoke, type RuntimePorts, type ServerAddress, sendNotice } from "./index.ts";

/** Pauses that the code under test asked for, in milliseconds. */
const pauses: number[] = [];
/** Timers of 10 seconds and more. They fire only by `timeOut`, so that no test depends on the machine's speed. */
const longTimers = new Set<() => void>();
const ports: RuntimePorts = {
  send: (url, request) => fetch(url, request),
  after(ms, run) {
    if (ms >= 10_000) {
      longTimers.add(run);
      return () => void longTimers.delete(run);
    }
    pauses.push(ms);
    const timer = setTimeout(run, 1);
    return () => clearTimeout(timer);
  },
  random: () => 1,
};
/** A server that receives the request and does not answer before the sender's time limit. */
const timeOut: Behave = () => {
  for (const run of [...longTimers]) run();
};
const CALL: Invocation = {
  operation: "look",
  arguments: { where: "über ☃" },
  id: "call_1",
  call_id: null,
  callback_url: "http://127.0.0.1:1/rap/callback/x",
  group_id: "thread_1",
  thread_ancestors: [],
  user_id: null,
};
const at = (url: string): ServerAddress => {
  return { name: "desk", url, headers: { "x-key": "k" }, allowedOrigins: [] };
};
const call = (server: FakeToolServer, idempotent = false) =>
  invoke(at(server.url), `${server.url}/invoke`, CALL, ports, { idempotent });

describe("an invocation", () => {
  it("[RAPR-40] is posted as JSON in UTF-8 with the server's credentials", async () => {
    const server = await FakeToolServer.start();
    expect(await call(server)).toEqual({ kind: "accepted" });
    const { thread_ancestors: _, ...wire } = CALL;
    expect(server.heard).toEqual([expect.objectContaining({ method: "POST", path: "/invoke", body: wire })]);
    expect(server.heard[0]!.headers).toMatchObject({ "content-type": "application/json", "x-key": "k" });
  });

  it("[RAPR-46] is retried with growing pauses when the server fails", async () => {
    const server = await FakeToolServer.start();
    const failures = [status(502), status(503), status(500)];
    server.on.set("/invoke", (response, heard) => (failures.shift() ?? ok)(response, heard));
    pauses.length = 0;
    expect(await call(server)).toEqual({ kind: "accepted" });
    expect(server.heard.map(({ body }) => body.id)).toEqual(["call_1", "call_1", "call_1", "call_1"]);
    expect(pauses).toEqual([200, 400, 800]);
    server.on.set("/invoke", status(500));
    expect(await call(server)).toEqual({ kind: "unreachable", says: "it answered with status 500" });
    const gone = await FakeToolServer.start();
    await gone.close();
    expect(await call(gone)).toMatchObject({
      kind: "unreachable",
      says: expect.stringMatching(/ECONNREFUSED/),
    });
  });

  it("[RAPR-47] is not retried after a 4xx, a redirect, or another status below 500", async () => {
    const server = await FakeToolServer.start();
    const other = await FakeToolServer.start();
    for (const code of [400, 401, 404, 408, 429, 202, 301, 307]) {
      server.heard.length = 0;
      server.on.set("/invoke", status(code, { location: `${other.url}/invoke` }));
      expect(await call(server)).toEqual({ kind: "refused", says: `it answered with status ${code}` });
      expect(server.heard).toHaveLength(1);
    }
    expect(other.heard).toEqual([]);
  });

  it("that is not acknowledged is retried only if it is idempotent", async () => {
    const server = await FakeToolServer.start();
    server.on.set("/invoke", timeOut);
    expect(await call(server)).toMatchObject({ kind: "unknown" });
    expect(server.heard).toHaveLength(1);
    expect(await call(server, true)).toMatchObject({ kind: "unreachable" });
    expect(server.heard.length).toBeGreaterThan(2);
  });

  it("whose connection is lost is retried only if it is idempotent", async () => {
    const server = await FakeToolServer.start();
    const failures = [reset, status(503), reset];
    server.on.set("/invoke", (response, heard) => (failures.shift() ?? ok)(response, heard));
    expect(await call(server)).toMatchObject({ kind: "unknown" });
    expect(server.heard).toHaveLength(1);
    // First the server says itself that it has not accepted the call (503); then the outcome is unknown.
    expect(await call(server)).toMatchObject({ kind: "unknown" });
    expect(server.heard).toHaveLength(3);
    failures.push(reset, reset);
    expect(await call(server, true)).toEqual({ kind: "accepted" });
    expect(server.heard).toHaveLength(6);
  });

  it("is accepted at status 200, even if the response body breaks off", async () => {
    const server = await FakeToolServer.start();
    server.on.set("/invoke", (response) => {
      response.writeHead(200, { "content-length": "10" }).write("half");
      setImmediate(() => response.destroy());
    });
    expect(await call(server)).toEqual({ kind: "accepted" });
  });

  it("that finds no server is retried", async () => {
    const nowhere = { code: "ENOTFOUND", syscall: "getaddrinfo" };
    const causes = [
      { cause: nowhere },
      { code: "ETIMEDOUT", syscall: "connect" },
      { code: "ECONNREFUSED" },
      { code: "DEPTH_ZERO_SELF_SIGNED_CERT" },
    ];
    let sent = 0;
    const send = async () => {
      const cause = causes[sent++];
      if (cause !== undefined) throw Object.assign(new Error("fetch failed"), cause);
      return { status: 200, headers: new Headers(), body: null };
    };
    const address = at("http://desk.example");
    const ended = invoke(address, `${address.url}/invoke`, CALL, { ...ports, send }, { idempotent: false });
    expect(await ended).toEqual({ kind: "accepted" });
    expect(sent).toBe(5);
  });

  it("ends when its signal aborts", async () => {
    const server = await FakeToolServer.start();
    server.on.set("/invoke", hang);
    const abort = new AbortController();
    const ended = invoke(
      at(server.url),
      `${server.url}/invoke`,
      CALL,
      { ...ports, after: () => () => {} },
      {
        idempotent: false,
        signal: abort.signal,
      },
    );
    await server.next("/invoke");
    abort.abort();
    expect(await ended).toEqual({ kind: "aborted" });
  });
});

describe("a notice", () => {
  const notice = { kind: "closeThread", body: { thread_id: "t" } } as const;
  it("is sent once, whether it succeeds or fails", async () => {
    const server = await FakeToolServer.start();
    for (const behave of [ok, status(500), status(301, { location: "/elsewhere" }), reset, timeOut, drip]) {
      server.heard.length = 0;
      server.on.set("/close_thread", behave);
      const { delivered } = await sendNotice(at(server.url), notice, ports, { timeoutMs: 50_000 });
      expect(delivered).toBe(behave === ok || behave === drip);
      expect(server.heard).toEqual([
        expect.objectContaining({ method: "POST", path: "/close_thread", body: { thread_id: "t" } }),
      ]);
      expect(server.heard[0]!.headers).toMatchObject({ "content-type": "application/json", "x-key": "k" });
    }
  });
});
