import assert from "node:assert/strict";
import { describe } from "vitest";
import { journals } from "../model/journals.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";

const picture = (fill: number): Buffer =>
  Buffer.concat([Buffer.from("GIF89a\x01\0\x01\0", "latin1"), Buffer.alloc(40_000, fill)]);
const PICTURES = [picture(1), picture(2)];
const URLS = PICTURES.map((bytes) => `data:image/gif;base64,${bytes.toString("base64")}`);

describe("a picture that a tool shows", () => {
  simulate(
    "is kept before the answer that names it, and shown as it was, whenever its host dies",
    { count: 30, full: 400 },
    async (world) => {
      const { random } = world;
      let threadId: string | undefined;
      world.model.scripts = ({ context }) => {
        for (const item of context) {
          if (item.type !== "toolOutput" || typeof item.output === "string") continue;
          const [part] = item.output as { image_url?: string }[];
          world.check(() =>
            assert(URLS.includes(part?.image_url ?? ""), "the model is shown another picture"),
          );
        }
        const shown = context.at(-1)?.type === "toolOutput";
        return shown
          ? { steps: [{ do: "say", pieces: ["Seen"] }] }
          : { steps: [{ do: "call", name: "view_image", args: { path: "picture.gif" } }] };
      };
      const live = async (client: SimClient) => {
        await client.initialize({ experimentalApi: true });
        if (threadId === undefined) threadId = await client.startThread();
        else await client.call("thread/resume", { threadId });
        for (;;) {
          world.disk.put("/work/picture.gif", random.pick(PICTURES));
          await client.turnEnd(await client.startTurn(threadId));
        }
      };

      for (let lives = 0; lives < 3; lives++) {
        const host = await world.start();
        const client = host.connect();
        client.rules.onlyReplies = true;
        const dead = host.crashIn(random.between(60, 250), () => random.pick(["kill", "power"]));
        await Promise.all([dead, live(client).catch(() => {})]);
        world.check(() => {
          for (const path of journals(world.disk)) {
            const text = world.disk.text(path)!;
            assert(!text.includes("base64,"), "the journal has a picture in it");
            for (const [, name] of text.matchAll(/"blobs":\{"kept:[^"]+":"([^"]+)"\}/g)) {
              const kept = world.disk.get(`${path.replace(/\.jsonl$/, ".blobs")}/${name}`)?.bytes;
              assert(
                PICTURES.some((one) => kept !== undefined && one.equals(kept)),
                `${name} of ${path} is not whole`,
              );
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
