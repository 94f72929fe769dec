import { describe, expect } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { checkJournals, journals } from "../model/journals.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { World } from "./world.ts";

const capabilities = { experimentalApi: true };

interface Written {
  readonly type: string;
  readonly about?: string;
  readonly usage?: { readonly last: { readonly inputTokens: number; readonly outputTokens: number } };
}

function written(world: World, threadId: string): readonly Written[] {
  const path = journals(world.disk).find((one) => one.includes(threadId))!;
  const lines = world.disk.text(path)!.split("\n").slice(0, -1);
  return lines.flatMap((line) => (JSON.parse(line) as { records: Written[] }).records);
}

describe("a goal", () => {
  simulate(
    "is pursued in so many turns and no more, and pays for each of them, however often its host dies",
    { count: 60, full: 400 },
    async (world) => {
      world.model.scripts = () => ({ steps: [{ do: "say", pieces: ["I talk ", "and talk"] }] });
      let threads: string[] = [];
      let isSet = false;
      const start = () => world.start({ config: readConfig({ max_resident_threads: 1 }) });
      const live = async (client: SimClient) => {
        await client.initialize(capabilities);
        if (threads.length === 0) threads = [await client.startThread(), await client.startThread()];
        for (const threadId of threads) await client.call("thread/resume", { threadId });
        const [threadId] = threads;
        if (!isSet) await client.call("thread/goal/set", { threadId, objective: "Talk" });
        isSet = true;
        for (;;) await client.turnEnd(await client.startTurn(threads[1]!, "beside it"));
      };
      for (let lives = 0; lives < 3; lives++) {
        const host = await start();
        const client = host.connect();
        client.rules.onlyReplies = true;
        const dead = host.crashIn(world.random.between(0, 200));
        await Promise.all([dead, live(client).catch(() => {})]);
      }

      const host = await start();
      const client = host.connect();
      client.rules.onlyReplies = true;
      await client.initialize(capabilities);
      const [threadId] = threads;
      if (isSet) {
        await client.call("thread/resume", { threadId: threadId! });
        const blocked = ({ method, params }: { method?: string; params?: Record<string, unknown> }) =>
          method === "thread/goal/updated" && (params!.goal as { status: string }).status === "blocked";
        await client.until("the end of the goal", blocked);
        await world.scheduler.quiet();
        const { goal } = await client.call("thread/goal/get", { threadId });
        const records = written(world, threadId!);
        const turns = records.filter(({ type, about }) => type === "goalContext" && about === "continuation");
        const paid = records.flatMap(({ usage }) => usage?.last ?? []);
        const tokens = paid.reduce((sum, last) => sum + last.inputTokens + last.outputTokens, 0);
        world.check(() => {
          expect(turns).toHaveLength(10);
          expect(goal).toMatchObject({ status: "blocked", tokensUsed: tokens });
        });
      }
      await world.scheduler.quiet();
      await host.close();
      world.check(() => checkJournals(world.disk));
    },
  );
});
