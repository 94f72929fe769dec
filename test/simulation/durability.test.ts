import { describe, expect } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { World } from "./world.ts";

async function started(world: World, policy?: string) {
  const config = readConfig(policy === undefined ? {} : { journal_sync: policy });
  const host = await world.start({ config });
  const client = host.connect();
  client.rules.onlyReplies = true;
  await client.initialize();
  return { host, client };
}

const syncs = ({ scheduler }: World) => scheduler.trace.filter((line) => /\.jsonl: sync begins/.test(line));

async function nameOf(client: SimClient, threadId: string): Promise<unknown> {
  const { thread } = await client.call("thread/read", { threadId });
  return (thread as { name: unknown }).name;
}

describe("journal_sync", () => {
  simulate("[FAULT-12] `always` takes every change over a power cut", { count: 30 }, async (world) => {
    const { host, client } = await started(world, "always");
    const threadId = await client.startThread();
    await client.turnEnd(await client.startTurn(threadId));
    await client.call("thread/name/set", { threadId, name: "kept" });
    host.crash("power");
    const next = await started(world);
    expect(await nameOf(next.client, threadId)).toBe("kept");
    await next.host.close();
  });

  simulate("[FAULT-12] `never` leaves it to the operating system", { count: 5 }, async (world) => {
    for (const [policy, expected] of [
      ["never", false],
      ["turns", true],
    ] as const) {
      const { host, client } = await started(world, policy);
      await client.turnEnd(await client.startTurn(await client.startThread()));
      expect(syncs(world).length > 0).toBe(expected);
      await host.close();
    }
  });
});

describe("a deletion", () => {
  simulate(
    "[FAULT-14] outlives a power cut, whichever host made the thread",
    { count: 60 },
    async (world) => {
      const { random } = world;
      const first = await started(world);
      const threadId = await first.client.startThread();
      const others = random.chance(0.5) ? [await first.client.startThread()] : [];
      const second = await started(world);
      if (random.chance(0.5)) await first.host.close();
      else await first.client.call("thread/unload", { threadId });
      // A host that is slow to give a thread back may still have it.
      const outcome = await second.client.request("thread/delete", { threadId });
      if ("reply" in outcome && outcome.reply.error !== undefined) {
        await world.scheduler.quiet();
        await second.client.call("thread/delete", { threadId });
      }
      first.host.crash("kill");
      second.host.crash("power");
      const next = await started(world);
      await world.scheduler.quiet();
      await Promise.allSettled(others.map((id) => nameOf(next.client, id)));
      await expect(nameOf(next.client, threadId)).rejects.toThrow(/no rollout found|not loaded/);
      world.check(() => expect(world.disk.paths.filter((path) => path.includes(threadId))).toEqual([]));
      await next.host.close();
    },
  );
});

describe("a home on a network file system", () => {
  simulate("[FAULT-13] takes no threads, with an error that says so", { count: 5 }, async (world) => {
    world.locks.overNetwork = true;
    const { host, client } = await started(world);
    const outcome = await client.request("thread/start");
    expect("reply" in outcome && outcome.reply.error).toMatchObject({
      code: -32600,
      message: expect.stringMatching(/is on a network file system/),
      data: { code: "networkHome" },
    });
    expect(await client.call("thread/list")).toMatchObject({ data: [] });
    // Whoever mends it need not start again.
    world.locks.overNetwork = false;
    await client.startThread();
    await host.close();
  });
});
