import { describe } from "vitest";
import { simulate } from "./run.ts";

describe("a host that dies", () => {
  simulate(
    "at any moment leaves files on which the next one serves",
    { count: 80, full: 500 },
    async (world) => {
      const { random } = world;
      const kinds = ["kill", "power"] as const;
      for (let lives = random.between(1, 3); lives > 0; lives--) {
        const host = await world.start();
        const dead = host.crashIn(random.between(0, 80), () => random.pick(kinds));
        const life = async () => {
          const client = host.connect();
          await client.initialize();
          const threadId = await client.startThread();
          for (;;) await client.turnEnd(await client.startTurn(threadId));
        };
        // Its wire goes with the host, so its last call is lost.
        await Promise.all([dead, life().catch(() => {})]);
      }
      const host = await world.start();
      const client = host.connect();
      await client.initialize();
      await client.turnEnd(await client.startTurn(await client.startThread()));
      await host.close();
    },
  );
});
