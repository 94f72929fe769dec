import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type HostProcess, spawnHost, stdioHost } from "../support/host-process.ts";
import { workedMs } from "../support/patience.ts";
import { openWebSocket } from "../support/wire.ts";
import type { WireClient } from "../support/wire-client.ts";

const LOOPBACK = ["--listen", "ws://127.0.0.1:0"];
/** The program's own bound is ten seconds; everything here stays far below. */
const BOUND_MS = 6_000;
const SHUTDOWN = 1001;

/** A thread that is in the middle of a long answer. */
async function speaking(client: WireClient): Promise<string> {
  const threadId = await client.startThread();
  const turnId = await client.say(threadId, `slowly ${"and on ".repeat(200)}`);
  await client.waitFor(
    ({ method, params }) => method === "item/agentMessage/delta" && params.turnId === turnId,
    "delta",
  );
  return turnId;
}

async function endsWell(host: HostProcess, begun: number): Promise<void> {
  expect(await host.exited).toEqual({ code: 0, signal: null });
  expect(workedMs() - begun).toBeLessThan(BOUND_MS);
  expect(host.stderr).not.toMatch(/"level":"(error|warn)"/);
}

/** The last frames of a turn that was cut off. */
function expectInterrupted(client: WireClient, turnId: string): void {
  const [status, completed, unloaded, closed] = client.frames.slice(-4);
  expect(status).toMatchObject({ method: "thread/status/changed", params: { status: { type: "idle" } } });
  expect(completed).toMatchObject({
    method: "turn/completed",
    params: { turn: { id: turnId, status: "interrupted", error: null } },
  });
  expect(unloaded).toMatchObject({
    method: "thread/status/changed",
    params: { status: { type: "notLoaded" } },
  });
  expect(closed).toMatchObject({ method: "thread/closed" });
}

/** How many requests of a method the host has answered, as it counts them itself. */
async function answered(host: HostProcess, method: string): Promise<number> {
  const metrics = await (await fetch(`${await host.site()}/metrics`)).text();
  let count = 0;
  for (const [, value] of metrics.matchAll(new RegExp(`\\{method="${method}",.*\\} (\\d+)`, "g"))) {
    count += Number(value);
  }
  return count;
}

describe("the end of stdin", () => {
  it("[END-1] ends an idle host with 0", async () => {
    const { host, client } = await stdioHost();
    const begun = workedMs();
    client.end();
    await endsWell(host, begun);
  });

  it("[END-1] ends a host that was never asked anything", async () => {
    const host = await spawnHost();
    const begun = workedMs();
    host.stdio().end();
    await endsWell(host, begun);
    expect(host.stdio().frames).toEqual([]);
  });

  it("[END-1] [END-3] is handled after the replies to earlier requests, and after the end of the turn", async () => {
    const { host, client } = await stdioHost();
    const threadId = await client.startThread();
    const begun = workedMs();
    client.send({ id: "list", method: "model/list" });
    client.send({ id: "bad", method: "no/such" });
    client.send({
      id: "turn",
      method: "turn/start",
      params: { threadId, input: [{ type: "text", text: "slowly" }] },
    });
    // The last line may lack its LF.
    const last = JSON.stringify({ id: "last", method: "thread/start" });
    client.remember(last);
    client.sendBytes(Buffer.from(last));
    client.end();
    await endsWell(host, begun);
    for (const id of ["list", "bad", "turn", "last"]) {
      expect(
        client.frames.filter((frame) => frame.id === id),
        id,
      ).toHaveLength(1);
    }
    const { turn } = client.frames.find(({ id }) => id === "turn")!.result;
    const ends = client.told("turn/completed");
    expect(ends.map(({ params }) => [params.turn.id, params.turn.status])).toEqual([
      [turn.id, "interrupted"],
    ]);
  });

  it("[END-3] in mid-stream ends the turn as interrupted", async () => {
    const { host, client } = await stdioHost();
    const turnId = await speaking(client);
    const begun = workedMs();
    client.end();
    await endsWell(host, begun);
    expectInterrupted(client, turnId);
  });

  it("[END-7] waits for a reader that is slow", async () => {
    const { host, client } = await stdioHost();
    client.pause();
    const before = host.bytesRead();
    const lines = Array.from({ length: 1000 }, (_, at) =>
      JSON.stringify({ id: `r${at}`, method: "model/list" }),
    );
    client.sendLines(lines);
    const bytes = lines.reduce((sum, line) => sum + line.length + 1, 0);
    client.end();
    await eventually(() => host.bytesRead() >= before + bytes, "the host has read all requests");
    client.resume();
    expect(await host.exited).toEqual({ code: 0, signal: null });
    expect(client.frames.slice(1).map(({ id }) => id)).toEqual(lines.map((_, at) => `r${at}`));
  });
});

describe.each(["SIGTERM", "SIGINT"] as const)("%s", (signal) => {
  it("[END-2] ends an idle host with 0", async () => {
    const { host } = await stdioHost();
    const begun = workedMs();
    host.signal(signal);
    await endsWell(host, begun);
  });

  it("[END-2] [END-3] ends a turn on stdio as interrupted", async () => {
    const { host, client } = await stdioHost();
    const turnId = await speaking(client);
    const begun = workedMs();
    host.signal(signal);
    await endsWell(host, begun);
    expectInterrupted(client, turnId);
  });

  it("[END-2] [END-3] ends the turns of many clients, and closes each connection properly", async () => {
    const host = await spawnHost({ args: LOOPBACK });
    const clients = await Promise.all(Array.from({ length: 10 }, () => host.join()));
    const turns = await Promise.all(clients.slice(0, 5).map(speaking));
    const begun = workedMs();
    host.signal(signal);
    expect(await Promise.all(clients.map(({ closed }) => closed))).toEqual(clients.map(() => SHUTDOWN));
    await endsWell(host, begun);
    turns.forEach((turnId, at) => {
      const ends = clients[at]!.told("turn/completed");
      expect(ends.map(({ params }) => [params.turn.id, params.turn.status])).toEqual([
        [turnId, "interrupted"],
      ]);
    });
    // Those who follow no thread hear that it is closed, and nothing of its turn.
    for (const client of clients.slice(5)) {
      await client.until(() => client.told("thread/closed").length === 5, "five threads that are closed");
      expect(client.told("turn/completed")).toEqual([]);
    }
  });
});

describe("a log that nobody reads", () => {
  it("[END-9] does not end the host", async () => {
    const host = await spawnHost({ args: ["--stdio"], env: { LOG_LEVEL: "debug" } });
    await host.closeLog();
    const client = host.stdio();
    await client.initialize();
    // An answer to nothing is worth a line.
    for (let at = 0; at < 10; at++) {
      client.send({ id: at, result: {} });
      await client.call("model/list");
    }
    client.end();
    expect(await host.exited).toEqual({ code: 0, signal: null });
  });
});

describe("while the host ends", () => {
  it("[END-4] [END-5] [END-6] no new client is accepted, and a client that does not read delays it only for a moment", async () => {
    for (const again of [false, true]) {
      const host = await spawnHost({ args: LOOPBACK });
      const url = await host.url();
      const [stuck, witness] = [await host.join(), await host.join()];
      stuck.pause();
      // More than the kernel takes for a client that does not read.
      for (let at = 0; at < 8; at++) stuck.send({ id: `t${at}`, method: "thread/start" });
      await witness.until(() => witness.told("thread/started").length === 8, "threads");
      const input = [{ type: "text", text: "x".repeat(1_000_000) }];
      for (const { params } of witness.told("thread/started")) {
        stuck.send({
          method: "turn/start",
          id: `u${params.thread.id}`,
          params: { threadId: params.thread.id, input },
        });
      }
      const idle = (): number =>
        witness.told("thread/status/changed").filter(({ params }) => params.status.type === "idle").length;
      await witness.until(() => idle() === 8, "turns");
      const begun = workedMs();
      host.signal("SIGTERM");
      expect(await witness.closed).toBe(SHUTDOWN);
      await expect(openWebSocket(url)).rejects.toThrow(/503|ECONNREFUSED/);
      if (again) {
        // Two that come at once may be one key press; who goes on pressing is heard.
        let gone = false;
        void host.exited.then(() => (gone = true));
        await eventually(() => {
          host.signal("SIGINT");
          return gone;
        }, "the host is gone");
        expect(workedMs() - begun).toBeLessThan(1_500);
        expect(await host.exited).toEqual({ code: 1, signal: null });
        const lines = host.stderr.split("\n").filter((line) => line.includes("shutdown cut short"));
        expect(lines.map((line) => JSON.parse(line))).toEqual([
          expect.objectContaining({
            level: "error",
            why: "a second signal",
            pending: ["writing to clients"],
          }),
        ]);
      } else await endsWell(host, begun);
    }
  });

  it("[END-8] a connection that says nothing is not waited for", async () => {
    const host = await spawnHost({ args: [...LOOPBACK, "--listen", "unix://"] });
    const { hostname, port } = new URL(await host.site());
    const sockets = [
      connect(Number(port), hostname),
      connect(Number(port), hostname),
      connect((await host.url("unix")).slice("unix://".length)),
    ];
    await Promise.all(sockets.map((socket) => once(socket, "connect")));
    for (const socket of sockets) socket.on("error", () => {});
    sockets[1]!.write("GET / HTTP/1.1\r\nHost: 127");
    // Behind them in the queue: when this is answered, the host knows of all of them.
    await (await host.join()).call("model/list");
    await (await host.join(await host.url("unix"))).call("model/list");
    const begun = workedMs();
    host.signal("SIGTERM");
    await endsWell(host, begun);
    expect(workedMs() - begun).toBeLessThan(2_000);
  });

  it("[END-4] a request gets its reply or the error shuttingDown, and never both", async () => {
    const host = await spawnHost({ args: LOOPBACK });
    const client = await host.join();
    let sent = 0;
    let over = false;
    void client.closed.then(() => {
      over = true;
    });
    const begun = workedMs();
    while (!over) {
      for (let at = 0; at < 200; at++) client.send({ id: `r${sent++}`, method: "model/list" });
      const last = `r${sent - 1}`;
      if (sent === 2000) host.signal("SIGTERM");
      await client.waitFor(({ id }) => id === last, "the last reply").catch(() => {});
    }
    await endsWell(host, begun);
    const replies = client.frames.filter(({ id }) => typeof id === "string");
    expect(new Set(replies.map(({ id }) => id)).size).toBe(replies.length);
    // What was read was answered. Refusals do not wait for requests that were read before, and each kind is in order.
    const numbers = replies.map(({ id }) => Number(String(id).slice(1)));
    const ascending = (some: readonly number[]) => some.toSorted((a, b) => a - b);
    expect(ascending(numbers)).toEqual(replies.map((_, at) => at));
    for (const isRefusal of [false, true]) {
      const some = numbers.filter((_, at) => (replies[at]!.error !== undefined) === isRefusal);
      expect(some).toEqual(ascending(some));
    }
    for (const { error } of replies) {
      if (error !== undefined) expect(error).toMatchObject({ code: -32001, data: { retryable: true } });
    }
  });

  it("[END-7] replies that wait for a slow reader are written", async () => {
    const host = await spawnHost({ args: LOOPBACK });
    const [slow, witness] = [await host.join(), await host.join()];
    slow.pause();
    // Until the host, too, reads no further; never more at once than may be under way.
    let asked = 0;
    let replied = 0;
    for (let same = 0; same < 20; ) {
      if (replied === asked)
        for (let at = 0; at < 500; at++) slow.send({ id: `r${asked++}`, method: "model/list" });
      const now = await answered(host, "model/list");
      same = now === replied ? same + 1 : 0;
      replied = now;
    }
    host.signal("SIGTERM");
    await witness.closed;
    slow.resume();
    expect(await slow.closed).toBe(SHUTDOWN);
    expect(await host.exited).toEqual({ code: 0, signal: null });
    const replies = slow.frames.filter(({ id }) => typeof id === "string");
    expect(replies.length).toBeGreaterThanOrEqual(replied);
    expect(replies.map(({ id }) => id)).toEqual(replies.map((_, at) => `r${at}`));
  });
});
