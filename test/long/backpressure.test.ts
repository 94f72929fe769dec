import { describe, expect, it } from "vitest";
import { settled } from "../support/eventually.ts";
import { type HostProcess, spawnHost, stdioHost } from "../support/host-process.ts";
import { workedMs } from "../support/patience.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

const MiB = 1024 * 1024;
const THREADS = 4;
/** Of each turn. A delta is a frame of two hundred bytes: of four threads it is some forty megabytes. */
const WORDS = [40_000, 5_000];

/** What a turn of the offline model leaves behind, in order; deltas aside. */
const DURABLE = [
  "thread/status/changed active",
  "turn/started",
  "item/started userMessage",
  "item/completed userMessage",
  "item/started agentMessage",
  "item/completed agentMessage",
  "thread/tokenUsage/updated",
  "thread/status/changed idle",
  "turn/completed",
];

function durable(frames: readonly Received[], threadId: string): string[] {
  return frames
    .filter(({ method, params }) => params?.threadId === threadId && method !== "item/agentMessage/delta")
    .map(({ method, params }) =>
      [method, params.item?.type ?? params.status?.type].filter(Boolean).join(" "),
    );
}

/** The deltas of an item, put together; they come between its start and its end. */
function shown(frames: readonly Received[], itemId: string): string {
  let phase: "before" | "running" | "over" = "before";
  let text = "";
  for (const { method, params } of frames) {
    if (method === "item/started" && params.item.id === itemId) phase = "running";
    else if (method === "item/completed" && params.item.id === itemId) phase = "over";
    else if (method === "item/agentMessage/delta" && params.itemId === itemId) {
      expect(phase).toBe("running");
      text += params.delta;
    }
  }
  return text;
}

function answers(frames: readonly Received[]): { id: string; text: string }[] {
  return frames
    .filter(({ method, params }) => method === "item/completed" && params.item.type === "agentMessage")
    .map(({ params }) => params.item);
}

/** Runs turns that stream a lot on all threads, and resolves when the witness has heard of their ends. */
async function traffic(
  client: WireClient,
  witness: WireClient,
  threads: readonly string[],
  words: readonly number[],
): Promise<void> {
  for (const [turn, count] of words.entries()) {
    const text = "ab ".repeat(count);
    const idle = (): number =>
      witness.told("thread/status/changed").filter(({ params }) => params.status.type === "idle").length;
    const wanted = idle() + threads.length;
    for (const threadId of threads) {
      client.send({
        id: `${threadId} ${turn}`,
        method: "turn/start",
        params: { threadId, input: [{ type: "text", text }] },
      });
    }
    await witness.until(() => idle() === wanted, "all threads idle");
  }
}

/** The most memory that the host has while something goes on. */
async function peak(host: HostProcess, work: Promise<void>): Promise<number> {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, host.rss());
  }, 20);
  try {
    await work;
  } finally {
    clearInterval(timer);
  }
  return most;
}

/** How long the slowest of many round trips takes, until the work is done. */
async function slowestReply(client: WireClient, work: Promise<unknown>): Promise<number> {
  let over = false;
  void work.finally(() => {
    over = true;
  });
  let slowest = 0;
  while (!over) {
    const begun = workedMs();
    await client.call("thread/loaded/list");
    slowest = Math.max(slowest, workedMs() - begun);
  }
  return slowest;
}

describe.each(["websocket", "stdio"] as const)("a client on %s that stops reading", (transport) => {
  async function meet(): Promise<{ host: HostProcess; slow: WireClient; witness: WireClient }> {
    const host = await spawnHost({
      args: ["--listen", "ws://127.0.0.1:0", "--stdio"],
      // Garbage is collected sooner, so that what is measured is what is kept.
      nodeArgs: ["--optimize-for-size"],
    });
    const slow = transport === "stdio" ? host.stdio() : await host.connect();
    await slow.initialize();
    return { host, slow, witness: await host.join() };
  }

  it("[LOAD-3] [LOAD-4] [LOAD-5] [LOAD-7] costs little, slows no other client, and misses nothing", async () => {
    const { host, slow, witness } = await meet();
    const start = async (client: WireClient): Promise<string[]> => {
      const threads: string[] = [];
      for (let at = 0; at < THREADS; at++) threads.push(await client.startThread());
      return threads;
    };
    // What the same turns take when their text is not sent to anyone.
    const quiet = await host.join(undefined, { optOutNotificationMethods: ["item/agentMessage/delta"] });
    const usual = await peak(host, traffic(quiet, witness, await start(quiet), WORDS));

    const threads = await start(slow);
    const from = slow.frames.length;
    slow.pause();
    const work = traffic(slow, witness, threads, WORDS);
    const [most, slowest] = await Promise.all([peak(host, work), slowestReply(witness, work)]);
    expect(most).toBeLessThan(usual + 24 * MiB);
    expect(slowest).toBeLessThan(1_000);

    slow.resume();
    await slow.until(() => slow.count("turn/completed") === THREADS * WORDS.length, "the ends of all turns");
    const frames = slow.frames.slice(from);
    for (const threadId of threads) {
      expect(durable(frames, threadId)).toEqual(Array.from({ length: WORDS.length }, () => DURABLE).flat());
      for (let turn = 0; turn < WORDS.length; turn++) {
        expect(frames.filter(({ id }) => id === `${threadId} ${turn}`)).toHaveLength(1);
      }
    }
    // Of an answer that ended while nobody read, the deltas stop where they were; the item has all of it.
    for (const { id, text } of answers(frames)) expect(text.startsWith(shown(frames, id))).toBe(true);

    const after = slow.frames.length;
    await slow.turnCompleted(await slow.say(threads[0]!, "Live again"));
    expect(durable(slow.frames.slice(after), threads[0]!)).toEqual(DURABLE);
    expect(host.stderr).not.toMatch(/"level":"(error|warn)"/);
    await host.kill();
  });

  it("[LOAD-6] gets the missing text of an answer that still runs, then goes on live", async () => {
    const { host, slow, witness } = await meet();
    const speaker = await slow.startThread();
    const others: string[] = [];
    for (let at = 0; at < 6; at++) others.push(await slow.startThread());
    const turnId = await slow.say(speaker, `slowly ${"and on ".repeat(300)}`);
    const isDelta = ({ method, params }: Received): boolean =>
      method === "item/agentMessage/delta" && params.turnId === turnId;
    await slow.waitFor(isDelta, "delta");
    slow.pause();
    // Each thread says more than the wire and the queue hold; what the speaker says meanwhile goes with it.
    const input = [{ type: "text", text: "x".repeat(MiB) }];
    const isIdle = ({ method, params }: Received): boolean =>
      method === "thread/status/changed" && params.status.type === "idle" && others.includes(params.threadId);
    for (const [at, threadId] of others.entries()) {
      slow.send({ id: `u${at}`, method: "turn/start", params: { threadId, input } });
      await witness.until(() => witness.frames.filter(isIdle).length === at + 1, "turns");
    }
    // The same pace, seen by one who reads: some words have been said that were not read.
    await witness.say(await witness.startThread(), "slowly");
    await witness.until(() => witness.count("item/agentMessage/delta") >= 4, "words");
    slow.resume();
    // What was on the wire already comes first, words of the speaker among it; behind it is what it missed.
    await slow.until(() => slow.count("turn/completed") === others.length, "the ends of the others' turns");
    await slow.waitFor(isDelta, "delta after the pause", slow.frames.length);
    await slow.waitFor(isDelta, "another one", slow.frames.length);
    await slow.call("turn/interrupt", { threadId: speaker, turnId });
    await slow.until(() => slow.count("turn/completed") === others.length + 1, "the ends of all turns");
    const { thread } = await slow.call("thread/read", { threadId: speaker, includeTurns: true });
    const answer = thread.turns[0].items.at(-1);
    expect(answer.text).toBe(shown(slow.frames, answer.id));
    // One word a delta while it reads; what it missed came in one.
    expect(slow.frames.filter(isDelta).length).toBeLessThan(answer.text.trim().split(/\s+/).length);
    for (const threadId of others) {
      expect(durable(slow.frames, threadId)).toEqual(DURABLE);
    }
    await host.kill();
  });
});

describe("too many requests", () => {
  it.each(["stdio", "websocket"])(
    "[LOAD-1] [LOAD-2] at once on %s are told to come back, each exactly once",
    async (transport) => {
      const { host, client: stdio } = await stdioHost({ args: ["--listen", "ws://127.0.0.1:0", "--stdio"] });
      const client = transport === "stdio" ? stdio : await host.join();
      const other = await host.join();
      const lines = Array.from({ length: 10_000 }, (_, id) => `{"id":"${id}","method":"model/list"}`);
      if (transport === "stdio") client.sendLines(lines);
      else for (const line of lines) client.sendText(line);
      const prompt = workedMs();
      await other.call("model/list");
      expect(workedMs() - prompt).toBeLessThan(5_000);
      const replies = (): Received[] => client.frames.filter(({ id }) => typeof id === "string");
      await client.until(() => client.count(undefined) > lines.length, "as many replies");
      await client.call("thread/loaded/list");
      expect(replies()).toHaveLength(lines.length);
      expect(new Set(replies().map(({ id }) => id)).size).toBe(lines.length);
      const refused = replies().filter(({ error }) => error !== undefined);
      if (transport === "stdio") expect(refused.length).toBeGreaterThan(0);
      for (const { error } of refused) {
        expect(error).toEqual({
          code: -32001,
          message: "Server overloaded; retry later.",
          data: { code: "overloaded", retryable: true },
        });
      }
      // Once it is over, it is over.
      expect((await client.call("model/list")).data).toHaveLength(1);
    },
  );

  it("[LOAD-2] [LOAD-7] of a client that does not read are no longer read from its socket, and are all answered later", async () => {
    const { host, client } = await stdioHost();
    // What it reads of its own program for it is read by then.
    await client.call("model/list");
    client.pause();
    const lines = Array.from({ length: 30_000 }, (_, id) => `{"id":"${id}","method":"model/list"}`);
    const before = { rss: host.rss(), read: host.bytesRead() };
    client.sendLines(lines);
    const read = await settled(() => host.bytesRead());
    expect(read - before.read).toBeLessThan(lines.join("\n").length);
    expect(host.rss() - before.rss).toBeLessThan(48 * MiB);
    client.resume();
    await client.until(() => client.count(undefined) > lines.length + 1, "all replies");
    const ids = new Set(client.frames.map(({ id }) => id));
    expect([ids.size, client.frames.length]).toEqual([lines.length + 2, lines.length + 2]);
  });
});
