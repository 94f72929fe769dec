import { describe, expect } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { checkJournals } from "../model/journals.ts";
import { byMood } from "../model/scripts.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

const capabilities = { experimentalApi: true };

async function join(host: SimHost): Promise<SimClient> {
  const client = host.connect();
  client.rules.onlyReplies = true;
  await client.initialize(capabilities);
  return client;
}

function start(world: World): Promise<SimHost> {
  // Two threads, and room for one: the other one sleeps.
  return world.start({ config: readConfig({ max_resident_threads: 1 }) });
}

/** The texts of the user's messages, oldest first. */
async function said(client: SimClient, threadId: string): Promise<string[]> {
  const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
  const { turns } = thread as { turns: { items: { type: string; content: { text: string }[] }[] }[] };
  return turns
    .flatMap(({ items }) => items)
    .filter(({ type }) => type === "userMessage")
    .map(({ content }) => content[0]!.text);
}

async function left(client: SimClient, threadId: string): Promise<string[]> {
  const { data } = await client.call("thread/queue/list", { threadId });
  return (data as { input: { text: string }[] }[]).map(({ input }) => input[0]!.text);
}

describe("a queue", () => {
  simulate(
    "gives each input one turn, in order, however often its host dies",
    { count: 60, full: 400 },
    async (world) => {
      world.model.scripts = byMood;
      let threads: string[] = [];
      const asked: string[] = [];
      const acknowledged: string[] = [];
      const live = async (client: SimClient) => {
        if (threads.length === 0) threads = [await client.startThread(), await client.startThread()];
        for (const threadId of threads) await client.call("thread/resume", { threadId });
        for (let more = 0; more < 4; more++) {
          const text = `${world.random.pick(["quick", "slow", "fail"])} ${asked.length}`;
          asked.push(text);
          const input = [{ type: "text", text }];
          await client.call("thread/queue/add", { threadId: threads[0]!, input, clientUserMessageId: text });
          acknowledged.push(text);
          await client.startTurn(threads[1]!, "quick");
        }
      };
      for (let lives = 0; lives < 3; lives++) {
        const host = await start(world);
        const client = host.connect();
        client.rules.onlyReplies = true;
        const dead = host.crashIn(world.random.between(0, 150));
        const life = client.initialize(capabilities).then(() => live(client));
        await Promise.all([dead, life.catch(() => {})]);
      }

      const host = await start(world);
      const client = await join(host);
      const [threadId] = threads;
      if (threadId !== undefined) {
        await client.call("thread/resume", { threadId });
        await world.sleep(1_000_000);
        // A turn that was cut off by a crash stopped the queue.
        if ((await left(client, threadId)).length > 0) await client.call("thread/queue/start", { threadId });
        await world.sleep(1_000_000);
        await world.scheduler.quiet();
        const texts = await said(client, threadId);
        world.check(() => {
          expect(texts.filter((text) => acknowledged.includes(text))).toEqual(acknowledged);
          expect(texts).toEqual(asked.filter((text) => texts.includes(text)));
        });
        expect(await left(client, threadId)).toEqual([]);
      }
      await world.scheduler.quiet();
      await host.close();
      world.check(() => checkJournals(world.disk));
    },
  );
});
