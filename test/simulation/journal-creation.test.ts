// One host makes the journal of a thread that it has acknowledged, and may be killed in any step of that, while another
// host on the same home is asked for the thread all the time.
import { describe, expect } from "vitest";
import { checkJournals } from "../model/journals.ts";
import { simulate } from "./run.ts";
import type { Outcome, SimClient } from "./sim-client.ts";
import type { SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

/** The thread is not there yet, or somebody else has it: all that another host may say of it. */
const EXPECTED: ReadonlySet<string> = new Set(["threadNotLoaded", "noRollout", "heldElsewhere"]);

const ASKS = ["thread/read", "thread/resume", "thread/fork", "thread/turns/list", "thread/name/set"];

async function client(host: SimHost): Promise<SimClient> {
  const one = host.connect();
  one.rules.onlyReplies = true;
  await one.initialize({ experimentalApi: true });
  return one;
}

function refusalOf(outcome: Outcome): string | undefined {
  return "reply" in outcome ? outcome.reply.error?.data?.code : undefined;
}

/** Who asks at the same time. */
const ASKERS = 6;

/** A thread that its host is about to make a journal for, while each asker asks another host for it `asks` times. */
async function contested(world: World, asks: number) {
  const [maker, other] = [await world.start(), await world.start()];
  const [own, stranger] = [await client(maker), await client(other)];
  const threadId = await own.startThread();
  const used = own.request("turn/start", { threadId, input: [{ type: "text", text: "go on" }] });
  const ask = async () => {
    for (let nth = 0; nth < asks; nth++) {
      const method = world.random.pick(ASKS);
      const name = method === "thread/name/set" ? { name: "a name" } : {};
      const code = refusalOf(await stranger.request(method, { threadId, ...name }));
      world.check(() => expect([...EXPECTED, undefined], method).toContain(code));
    }
  };
  const asked = Promise.all(Array.from({ length: ASKERS }, ask));
  return { maker, other, stranger, threadId, used, asked };
}

describe("a thread whose journal another host is making", () => {
  simulate(
    "[FAULT-24] is there or not yet, whatever it is asked for, and is never called damaged",
    { count: 10, full: 400 },
    async (world) => {
      const { maker, other, stranger, threadId, used, asked } = await contested(world, 3);
      await Promise.all([used, asked]);
      await stranger.call("thread/read", { threadId });
      await maker.close();
      await other.close();
      world.check(() => checkJournals(world.disk));
    },
  );

  simulate(
    "[FAULT-24] [FAULT-14] is there as it was acknowledged after a kill in any step, until it is deleted for good",
    { count: 10, full: 400 },
    async (world) => {
      const { maker, other, stranger, threadId, used, asked } = await contested(world, 2);
      const { scheduler, random } = world;
      await new Promise<void>((resolve) => scheduler.inSteps(random.between(0, 60), "kill", resolve));
      maker.crash("kill");
      await Promise.all([used, asked]);
      await stranger.call("thread/read", { threadId });
      await stranger.call("thread/delete", { threadId });
      const last = await client(await world.start());
      const code = refusalOf(await last.request("thread/read", { threadId }));
      await scheduler.quiet();
      world.check(() => {
        expect(code).toBe("threadNotLoaded");
        expect(world.disk.paths.filter((path) => path.includes(threadId))).toEqual([]);
      });
      await other.close();
    },
  );
});
