// Two hosts close many threads at once, and not every tool server is well.
import { expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { spawnHost } from "../support/host-process.ts";
import { times } from "../support/long-form.ts";
import { MockModel } from "../support/mock-model.ts";
import { STUCK_MS } from "../support/patience.ts";
import { EXPERIMENTAL, rapHome, SOCKET, say } from "../support/rap-stage.ts";
import { type Behave, drip, FakeToolServer, hang, ok, reset, status } from "../support/tool-server.ts";

const THREADS_OF_EACH = times(50, 250);

/** How many of each kind, and what they do with a closing. */
const KINDS: Readonly<Record<string, readonly [count: number, behave: Behave]>> = {
  good: [9, ok],
  failing: [2, status(500)],
  moved: [2, status(301, { location: "/elsewhere" })],
  resetting: [2, reset],
  dripping: [1, drip],
  hanging: [2, hang],
  refusing: [2, ok],
};

async function crowd(): Promise<Map<string, FakeToolServer>> {
  const servers = new Map<string, FakeToolServer>();
  for (const [kind, [count, behave]] of Object.entries(KINDS)) {
    for (let nth = 1; nth <= count; nth++) {
      const name = `${kind}${nth}`;
      const server = await FakeToolServer.start({ [name]: {} }, { name });
      server.on.set("/close_thread", behave);
      servers.set(name, server);
    }
  }
  return servers;
}

const told = (server: FakeToolServer): string[] =>
  server.at("/close_thread").map(({ body }) => body.thread_id);

it(`[RAPR-91] [RAPR-92] each of 20 servers is notified once of ${2 * THREADS_OF_EACH} closed threads of two hosts, however bad other servers are`, {
  timeout: STUCK_MS,
}, async () => {
  const servers = await crowd();
  expect(servers.size).toBe(20);
  const model = await MockModel.start(say("ok"));
  const hosts = await Promise.all(
    [1, 2].map(async () => {
      const { home, cwd } = await rapHome(model.url, { servers: Object.fromEntries(servers) });
      const host = await spawnHost({ home, args: SOCKET });
      const client = await host.join(undefined, EXPERIMENTAL);
      const threads: string[] = [];
      for (let left = THREADS_OF_EACH; left > 0; left--) threads.push(await client.startThread({ cwd }));
      // One of them has seen every server, and so has its host.
      await client.turn(threads[0]!, "hello");
      return { host, client, threads };
    }),
  );
  const all = hosts.flatMap(({ threads }) => threads).sort();
  expect(new Set(all).size).toBe(2 * THREADS_OF_EACH);
  for (const [name, server] of servers) if (name.startsWith("refusing")) await server.close();

  await Promise.all(
    hosts.map(async ({ client, threads }) => {
      const unloaded = await Promise.all(
        threads.map((threadId) => client.call("thread/unload", { threadId })),
      );
      expect(unloaded).toEqual(threads.map(() => ({ status: "unloaded" })));
    }),
  );
  const alive = [...servers].filter(([name]) => !name.startsWith("refusing"));
  // Whoever answers in whatever way gets all of it, and waits for nobody who does not.
  const answering = alive.filter(([name]) => !name.startsWith("hanging"));
  for (const [name, server] of answering) {
    await eventually(() => told(server).length >= all.length, `all closings are told to ${name}`);
  }
  for (const { host } of hosts) host.signal("SIGTERM");
  for (const { host } of hosts) expect(await host.exited).toEqual({ code: 0, signal: null });

  for (const [name, server] of answering) expect(told(server).sort(), name).toEqual(all);
  for (const [name, server] of alive) {
    const ids = told(server);
    expect(new Set(ids).size, `${name} is told nothing twice`).toBe(ids.length);
    expect(all).toEqual(expect.arrayContaining(ids));
    expect(server.at("/elsewhere")).toEqual([]);
    await eventually(() => server.sockets === 0, `no connection to ${name} is left`);
  }
});
