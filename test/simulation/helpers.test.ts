// Helpers whose hosts die: each of their results reaches the model of their parent once.
import { describe, expect } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { helped } from "../model/helped.ts";
import { checkJournals } from "../model/journals.ts";
import { checkFamily, familyOf } from "./family.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { SimHost } from "./sim-host.ts";

const HOUR = 60 * 60_000;

/** A power cut may have taken a thread that had not done anything yet. */
async function resumed(client: SimClient, threadId: string | undefined): Promise<string | undefined> {
  if (threadId === undefined) return undefined;
  const outcome = await client.request("thread/resume", { threadId });
  if ("lost" in outcome) throw new Error("the host is gone");
  return outcome.reply.error === undefined ? threadId : undefined;
}

describe("a helper", () => {
  simulate(
    "[HELPER-20] has its result reach its parent's model once, whichever of their hosts dies and whenever",
    { count: 100, full: 600 },
    async (world) => {
      const { random, scheduler } = world;
      world.model.scripts = helped;
      const config = readConfig({ agents: { max_threads: 100 } });
      let threadId: string | undefined;
      const said = ["spawn wait send wait", "spawn", "spawn wait close", "spawn spawn"];
      const live = async (host: SimHost): Promise<void> => {
        const client = host.connect();
        client.rules.onlyReplies = true;
        await client.initialize({ experimentalApi: true });
        threadId = (await resumed(client, threadId)) ?? (await client.startThread());
        for (let turns = random.between(1, 2); turns > 0; turns--) {
          await client.startTurn(threadId, random.pick(said));
          if (random.chance(0.5)) await world.sleep(random.between(1, 2000));
        }
      };
      for (let lives = random.between(1, 3); lives > 0; lives--) {
        const host = await world.start({ config });
        const dead = new Promise<void>((resolve) => {
          scheduler.inSteps(random.between(1, 400), "crash", () => {
            host.crash(random.pick(["kill", "power"]));
            resolve();
          });
        });
        await Promise.all([dead, live(host).catch(() => {})]);
      }
      const host = await world.start({ config });
      await live(host);
      await world.sleep(3 * HOUR);
      await scheduler.quiet();
      const client = host.connect();
      client.rules.onlyReplies = true;
      await client.initialize({ experimentalApi: true });
      await client.call("thread/resume", { threadId: threadId! });
      // The model gets results that no call waited for with the next user message.
      await client.turnEnd(await client.startTurn(threadId!, "and now"));
      await scheduler.quiet();
      await host.close();
      world.check(() => checkFamily(world, threadId!));
    },
  );

  simulate(
    "[HELPER-12] that does not end is waited for until the deadline, also if the host dies meanwhile",
    { count: 7, full: 300 },
    async (world) => {
      const { random, scheduler, disk } = world;
      const wait = { targets: [] as string[], timeout_ms: 60_000 };
      world.model.scripts = ({ context }) => {
        const outputs = context.filter(({ type }) => type === "toolOutput");
        const said = JSON.stringify(context);
        if (!said.includes("begin")) return { steps: [{ do: "hang" }] };
        const namespace = "multi_agent_v1";
        const spawn = { do: "call", name: "spawn_agent", namespace, args: { message: "a task" } } as const;
        if (outputs.length === 0) return { steps: [spawn] };
        const [, childId] = /agent_id\\*":\\*"([-0-9a-f]{36})/.exec(said)!;
        const args = { ...wait, targets: [childId] };
        if (outputs.length === 1) return { steps: [{ do: "call", name: "wait_agent", namespace, args }] };
        return { steps: [{ do: "say", pieces: ["done"] }] };
      };
      let host = await world.start();
      const client = host.connect();
      client.rules.onlyReplies = true;
      await client.initialize({ experimentalApi: true });
      const threadId = await client.startThread();
      await client.startTurn(threadId, "begin");
      await world.sleep(random.between(5_000, 50_000));
      if (random.chance(0.7)) {
        host.crash(random.pick(["kill", "power"]));
        await world.sleep(random.between(0, 5_000));
        host = await world.start();
      }
      await world.sleep(2 * HOUR);
      await scheduler.quiet();
      await endEverything(host);
      await scheduler.quiet();
      // The end of a helper goes to its parent, which may have been loaded for it.
      await endEverything(host);
      await host.close();
      world.check(() => {
        checkJournals(disk);
        const { parent } = familyOf(world, threadId);
        const waiting = parent.findLast(({ type, until }) => type === "toolWaiting" && until !== null)!;
        const answered = parent.find(
          ({ type, callId }) => type === "toolAnswered" && callId === waiting.callId,
        )!;
        expect(answered.output).toBe(JSON.stringify({ status: {}, timed_out: true }));
        expect((answered.at as number) - (waiting.at as number)).toBeLessThan(70_000);
        expect(answered.at as number).toBeGreaterThanOrEqual(waiting.until as number);
      });
    },
  );
});

/** Ends what the scripted model never would. */
async function endEverything(host: SimHost): Promise<void> {
  const client = host.connect();
  client.rules.onlyReplies = true;
  await client.initialize({ experimentalApi: true });
  const { data } = await client.call("thread/loaded/list");
  for (const threadId of data as string[])
    await client.request("thread/unload", { threadId, interrupt: true });
  client.leave();
}
