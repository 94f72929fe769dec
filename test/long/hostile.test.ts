import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type HostProcess, spawnHost, stdioHost } from "../support/host-process.ts";
import { aim, type HostileFrame, hostileFrames } from "../support/hostile-frames.ts";
import { times } from "../support/long-form.ts";
import { workedMs } from "../support/patience.ts";
import type { WireClient } from "../support/wire-client.ts";

const FRAMES = 10_000;
const CROWD = times(300, 1_000);
const MiB = 1024 * 1024;
const OVERSIZED = Buffer.alloc(65 * MiB, "x");
const TOO_BIG = 1009;
const seed = Number(process.env.BOBBIN_SEED ?? Date.now() % 1_000_000);

/** Sends all of them and checks that what is owed came, and nothing else. */
async function attack(client: WireClient, frames: readonly HostileFrame[], threadId: string): Promise<void> {
  const from = client.frames.length;
  const owed = new Map<string, number>();
  let replies = client.count(undefined);
  for (const frame of frames) {
    client.sendMessage(aim(frame, threadId));
    if (frame.reply === undefined) continue;
    owed.set(frame.reply, (owed.get(frame.reply) ?? 0) + 1);
    replies++;
  }
  await client.until(() => client.count(undefined) >= replies, "all replies");
  await client.request("thread/loaded/list", {}, "the end");
  owed.set('"the end"', 1);
  const got = new Map<string, number>();
  for (const { method, id } of client.frames.slice(from)) {
    if (method === undefined) got.set(JSON.stringify(id), (got.get(JSON.stringify(id)) ?? 0) + 1);
  }
  expect(Object.fromEntries(got)).toEqual(Object.fromEntries(owed));
}

/** Runs turns on a connection of its own for as long as something goes on; tells how long the slowest took. */
async function unaffected(client: WireClient, threadId: string, work: Promise<unknown>): Promise<number> {
  let over = false;
  work.then(
    () => (over = true),
    () => (over = true),
  );
  let slowest = 0;
  for (let round = 0; !over; round++) {
    const begun = workedMs();
    const { params } = await client.turnCompleted(await client.say(threadId, `round ${round}`));
    slowest = Math.max(slowest, workedMs() - begun);
    expect(params.turn.items[0].text).toContain(`round ${round}`);
  }
  return slowest;
}

/** More than is read of one message, which only stdio survives. */
async function oversize(
  host: HostProcess,
  transport: "stdio" | "ws" | "unix",
  client: WireClient,
): Promise<void> {
  if (transport === "stdio") {
    client.sendMessage(OVERSIZED);
    await client.waitFor(({ error }) => error?.data.code === "messageTooLarge", "error");
    return;
  }
  const victim = await host.join(await host.url(transport));
  victim.sendMessage(OVERSIZED);
  expect(await victim.closed).toBe(TOO_BIG);
}

describe(`hostile frames (BOBBIN_SEED=${seed})`, () => {
  const frames = hostileFrames(seed, FRAMES);

  it.each(["stdio", "ws", "unix"] as const)(
    "[BAR-1] [BAR-2] on %s harm neither the host nor others",
    async (transport) => {
      const host = await spawnHost({
        args: ["--listen", "ws://127.0.0.1:0", "--listen", "unix://", "--stdio"],
        nodeArgs: ["--optimize-for-size"],
      });
      const client = transport === "stdio" ? host.stdio() : await host.connect(await host.url(transport));
      await client.initialize({ experimentalApi: true });
      const threadId = await client.startThread();
      const other = await host.join();
      const own = await other.startThread();

      await oversize(host, transport, client);
      await attack(client, frames, threadId);
      const before = host.rss();
      const work = attack(client, frames, threadId);
      const [slowest] = await Promise.all([unaffected(other, own, work), work]);
      expect(slowest).toBeLessThan(5_000);
      await eventually(() => host.rss() < before + 32 * MiB, "the memory is as it was");
      expect(other.frames.filter(({ error }) => error !== undefined)).toEqual([]);
      expect(host.stderr).not.toMatch(/"level":"(error|warn)"/);
      await host.kill();
    },
  );
});

describe("a single frame", () => {
  it("[BAR-1] may be nested to any depth at any place: it is refused, and frees its memory", async () => {
    const { client } = await stdioHost({ capabilities: { experimentalApi: true } });
    const threadId = await client.startThread();
    await client.until(() => client.count("thread/started") === 1, "thread/started");
    const deep = "[".repeat(100_000) + "]".repeat(100_000);
    const input = `[{"type":"text","text":"x","junk":${deep}}]`;
    for (const params of [
      `{"threadId":"${threadId}","input":${input}}`,
      `{"threadId":"${threadId}","input":[],"outputSchema":${deep}}`,
      `{"threadId":${deep},"input":[]}`,
      deep,
    ]) {
      const from = client.frames.length;
      client.sendText(`{"id":"deep","method":"turn/start","params":${params}}`);
      await client.call("thread/loaded/list");
      expect(client.frames[from]).toMatchObject({ id: "deep", error: { code: -32600 } });
      expect(client.frames.length).toBe(from + 2);
    }
    // What is not too deep is carried to the end.
    const fits = "[".repeat(100) + "]".repeat(100);
    client.sendText(
      `{"id":"fits","method":"turn/start","params":{"threadId":"${threadId}","input":[],"outputSchema":${fits}}}`,
    );
    const { result } = await client.waitFor(({ id }) => id === "fits", "reply");
    await client.turnCompleted(result.turn.id);
  });

  it("[BAR-1] may have a long string beside an id that must be found in the text", async () => {
    const { client } = await stdioHost();
    for (const unit of ["x", '\\"', "\\\\", "\\u0022id\\u0022:3,"]) {
      const from = client.frames.length;
      const pad = unit.repeat(Math.ceil((20 * MiB) / unit.length));
      client.sendText(`{"params":{"pad":"${pad}"},"id":1.5,"method":"thread/loaded/list"}`);
      await client.until(() => client.frames.length > from, "reply");
      expect(client.frames[from]!.text).toMatch(/^\{"id":1\.5,"result"/);
    }
  });
});

describe("a crowd", () => {
  it("[BAR-3] of hundreds of clients connects, initializes and leaves without a growth of memory", async () => {
    // Every collection is a full one: left to itself the collector lets the heap grow before it finds it worth while.
    const nodeArgs = ["--gc-global", "--max-semi-space-size=1"];
    const host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"], nodeArgs });
    const connected = async (): Promise<number> => {
      const metrics = await (await fetch(`${await host.site()}/metrics`)).text();
      return Number(/^bobbin_connections (\d+)$/m.exec(metrics)![1]);
    };
    const visit = async (): Promise<void> => {
      const crowd = await Promise.all(Array.from({ length: CROWD }, () => host.join()));
      expect(await connected()).toBe(CROWD);
      // Half of them say goodbye.
      await Promise.all(crowd.map((client, at) => (at % 2 === 0 ? client.close() : client.cut())));
      await eventually(async () => (await connected()) === 0, "all have left");
    };
    await visit();
    await visit();
    const before = host.rss();
    await visit();
    await eventually(() => host.rss() < before * 1.1, `the memory is within 10 % of ${before}`);
    await (await host.join()).call("model/list");
  });
});
