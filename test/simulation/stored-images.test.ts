import assert from "node:assert/strict";
import { describe } from "vitest";
import { journals } from "../model/journals.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";

describe("a picture that a message names", () => {
  simulate(
    "is kept before the message is, whenever its host dies",
    { count: 60, full: 400 },
    async (world) => {
      const { random } = world;
      let threadId: string | undefined;
      const pictures = ["GIF89a one", "GIF89a another"];
      const live = async (client: SimClient) => {
        await client.initialize({ experimentalApi: true });
        if (threadId === undefined) threadId = await client.startThread();
        else await client.call("thread/resume", { threadId });
        for (;;) {
          world.disk.put("/work/picture.gif", random.pick(pictures));
          const input = [{ type: "localImage", path: "picture.gif" }];
          const { turn } = await client.call("turn/start", { threadId, input });
          await client.turnEnd((turn as { id: string }).id);
        }
      };
      for (let lives = 0; lives < 3; lives++) {
        const host = await world.start();
        const client = host.connect();
        client.rules.onlyReplies = true;
        const dead = host.crashIn(random.between(0, 100), () => random.pick(["kill", "power"]));
        await Promise.all([dead, live(client).catch(() => {})]);
        world.check(() => {
          for (const path of journals(world.disk)) {
            const named = [...world.disk.text(path)!.matchAll(/"blobs":\{"picture.gif":"([^"]+)"\}/g)];
            for (const [, name] of named) {
              const kept = world.disk.text(`${path.replace(/\.jsonl$/, ".blobs")}/${name}`);
              assert(pictures.includes(kept ?? ""), `${name} of ${path} is ${kept}`);
            }
          }
        });
      }
      const host = await world.start();
      await world.scheduler.quiet();
      await host.close();
    },
  );
});
