import assert from "node:assert/strict";
import { describe, expect } from "vitest";
import { journals } from "../model/journals.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { World } from "./world.ts";

/** One client's life on a host that is killed somewhere in it. */
async function until(world: World, life: (client: SimClient) => Promise<void>): Promise<void> {
  const host = await world.start();
  const dead = host.crashIn(world.random.between(0, 60));
  const client = host.connect();
  client.rules.onlyReplies = true;
  await Promise.all([dead, life(client).catch(() => {})]);
}

describe("a client that asks again after a crash", () => {
  simulate("has its input taken once", { count: 60, full: 400 }, async (world) => {
    let threadId: string | undefined;
    const told: string[] = [];
    /** Asks until there is an answer, whatever happened to the answers before. */
    const ask = async (client: SimClient, name: string) => {
      await client.initialize();
      if (threadId === undefined) threadId = await client.startThread();
      else await client.call("thread/resume", { threadId });
      const input = [{ type: "text", text: "go on" }];
      for (let again = 0; again < 3; again++) {
        const { turn } = await client.call("turn/start", { threadId, input, clientUserMessageId: name });
        told.push((turn as { id: string }).id);
        // The turn may go on, or end, in between.
        for (let some = world.random.between(0, 9); some > 0; some--) await world.moment();
      }
    };
    for (let lives = 0; lives < 3; lives++) await until(world, (client) => ask(client, "mine"));
    const host = await world.start();
    const client = host.connect();
    client.rules.onlyReplies = true;
    await ask(client, "mine");
    world.check(() => {
      expect(new Set(told).size).toBe(1);
      const [journal] = journals(world.disk).filter((path) => path.includes(threadId!));
      const taken = world.disk.text(journal!)!.split('"type":"inputAccepted"').length - 1;
      assert.equal(taken, 1, "how often the input was taken");
    });
    await host.close();
  });

  simulate("has its thread started once", { count: 60, full: 400 }, async (world) => {
    const told: string[] = [];
    const ask = async (client: SimClient) => {
      await client.initialize({ experimentalApi: true });
      const start = () => client.startThread({ idempotencyKey: "mine" }).then((id) => told.push(id));
      await Promise.all([start(), start()]);
      await client.startTurn(told[0]!);
      await start();
    };
    for (let lives = 0; lives < 3; lives++) await until(world, ask);
    const host = await world.start();
    const client = host.connect();
    client.rules.onlyReplies = true;
    await ask(client);
    await world.scheduler.quiet();
    world.check(() => {
      expect(new Set(told).size).toBe(1);
      expect(journals(world.disk)).toHaveLength(1);
    });
    await host.close();
  });
});
