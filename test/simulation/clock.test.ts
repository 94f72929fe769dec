import { describe, expect } from "vitest";
import { journals } from "../model/journals.ts";
import { byMood } from "../model/scripts.ts";
import type { ModelScripts } from "./fake-model.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

const HOUR = 60 * 60 * 1000;
const FIFTY_YEARS = 50 * 365.25 * 24 * HOUR;

const LOOKUP = { type: "function", name: "lookup", description: "d", inputSchema: { type: "object" } };

interface Timed {
  readonly id: string;
  readonly startedAt: number;
  readonly completedAt: number | null;
  readonly durationMs: number | null;
  readonly items: readonly TimedItem[];
}

interface TimedItem {
  readonly startedAtMs?: number | null;
  readonly completedAtMs?: number | null;
  readonly durationMs?: number | null;
}

interface ThreadTimes {
  readonly id: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly path: string;
  readonly turns: readonly Timed[];
}

/** Speaks, calls a tool of the client, and fails in a way that is tried again. */
const busy: ModelScripts = (_request, random, call) => {
  const say = { do: "say", pieces: [`said ${call}`] } as const;
  switch (random.below(3)) {
    case 0:
      return { steps: [say, { do: "call", name: "lookup", args: {} }] };
    case 1:
      return { steps: [{ do: "fail", message: "try again", retries: 5 }] };
    default:
      return { steps: [{ do: "pause", ms: random.below(2000) }, say] };
  }
};

async function join(host: SimHost): Promise<SimClient> {
  const client = host.connect();
  client.rules.onlyReplies = true;
  await client.initialize({ experimentalApi: true });
  return client;
}

/** Answers whatever the host asks. */
function answering(client: SimClient): void {
  const answered = new Set<unknown>();
  client.heard = () => {
    const { id, method } = client.frames.at(-1)!;
    if (method !== "item/tool/call" || answered.has(id)) return;
    answered.add(id);
    client.answer(id!, { result: { contentItems: [{ type: "inputText", text: "found" }], success: true } });
  };
}

async function read(client: SimClient, threadId: string): Promise<ThreadTimes> {
  const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
  return thread as ThreadTimes;
}

function expectOrder({ createdAt, updatedAt, turns }: ThreadTimes): void {
  expect(updatedAt).toBeGreaterThanOrEqual(createdAt);
  for (const turn of turns) {
    expect(turn.completedAt).toBeGreaterThanOrEqual(turn.startedAt);
    expect(turn.durationMs).toBeGreaterThanOrEqual(0);
    for (const { startedAtMs, completedAtMs, durationMs } of turn.items) {
      expect(completedAtMs).toBeGreaterThanOrEqual(startedAtMs!);
      if (durationMs != null) expect(durationMs).toBeGreaterThanOrEqual(0);
    }
  }
}

/** The times of all records of a thread, in the order of its journal. */
function recordedTimes(world: World, threadId: string): number[] {
  const path = journals(world.disk).find((one) => one.includes(threadId))!;
  const lines = world.disk.text(path)!.split("\n").slice(0, -1);
  return lines
    .flatMap((line) => (JSON.parse(line) as { records: { at?: number }[] }).records)
    .flatMap(({ at }) => at ?? []);
}

describe("a clock that is set while threads are at work", () => {
  simulate("[CLOCK-1] never makes a thread's times go back", { count: 30, full: 600 }, async (world) => {
    const { random, scheduler } = world;
    world.model.scripts = busy;
    let over = false;
    const setClock = () => {
      if (over) return;
      scheduler.skew = random.between(-10, 10) * HOUR;
      scheduler.inSteps(random.between(1, 60), "the clock is set", setClock);
    };
    setClock();
    let threadId: string | undefined;
    for (let lives = 0; lives < 3; lives++) {
      const host = await world.start();
      const client = await join(host);
      answering(client);
      if (threadId === undefined) threadId = await client.startThread({ dynamicTools: [LOOKUP] });
      else await client.call("thread/resume", { threadId });
      for (let turns = 0; turns < 3; turns++) await client.turnEnd(await client.startTurn(threadId));
      await client.startTurn(threadId);
      if (random.chance(0.5)) {
        await host.crashIn(random.between(0, 60));
      } else {
        await client.call("thread/unload", { threadId, interrupt: true });
        await host.close();
      }
    }
    over = true;
    const host = await world.start();
    const client = await join(host);
    answering(client);
    await client.call("thread/resume", { threadId });
    await client.turnEnd(await client.startTurn(threadId!));
    const fork = (await client.call("thread/fork", { threadId })).thread as ThreadTimes;
    const thread = await read(client, threadId!);
    await host.close();
    world.check(() => {
      expectOrder(thread);
      expectOrder(fork);
      const times = recordedTimes(world, threadId!);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
      // Nothing that was due soon waited for a clock that was set back.
      expect(scheduler.elapsed).toBeLessThan(HOUR);
    });
  });

  simulate(
    "[CLOCK-2] is forgotten once it is right again, if it was wrong by years",
    { count: 15, full: 300 },
    async (world) => {
      const { scheduler } = world;
      world.model.scripts = byMood;
      const host = await world.start();
      const client = await join(host);
      const before = await client.startThread();
      await client.turnEnd(await client.startTurn(before, "quick"));

      scheduler.skew = FIFTY_YEARS;
      const during = await client.startThread();
      await client.turnEnd(await client.startTurn(during, "quick"));
      await client.turnEnd(await client.startTurn(before, "quick"));
      const running = await client.startTurn(before, "slow");

      scheduler.skew = 0;
      const after = await client.startThread();
      await client.turnEnd(running);
      for (const threadId of [before, during, after])
        await client.turnEnd(await client.startTurn(threadId, "slow"));

      const now = scheduler.wallClock / 1000;
      const [first, wrong, last] = [
        await read(client, before),
        await read(client, during),
        await read(client, after),
      ];
      const { data } = await client.call("thread/list", { sortKey: "updated_at" });
      await host.close();
      world.check(() => {
        for (const thread of [first, wrong, last]) expectOrder(thread);
        expect(last.path).toContain("/sessions/2030/");
        expect(last.createdAt).toBeLessThanOrEqual(now);
        expect(first.updatedAt).toBeLessThanOrEqual(now);
        // A turn that ran then is the only one of that time.
        expect(first.turns.at(-1)!.startedAt).toBeLessThanOrEqual(now);
        expect(first.turns.at(-1)!.durationMs).toBeGreaterThan(0);
        expect(wrong.turns.at(-1)!.durationMs).toBeGreaterThan(0);
        expect((data as { id: string }[]).map(({ id }) => id)).toEqual([during, after, before]);
      });
    },
  );
});
