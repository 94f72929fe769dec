import { describe } from "vitest";
import { type ModelScripts, talkative } from "./fake-model.ts";
import type { Random } from "./random.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

/** A model as it is on bad days: most answers come, some late, some never, some with an error. */
const moody: ModelScripts = (request, random, call) => {
  const { steps } = talkative(request, random, call);
  const mood = random.below(10);
  if (mood === 0) return { steps: [...steps, { do: "hang" }] };
  if (mood === 1)
    return { steps: [{ do: "mumble", pieces: ["well, "] }, { do: "pause", ms: 5000 }, ...steps] };
  if (mood === 2) return { steps: [...steps, { do: "fail", message: "out of words" }] };
  if (mood === 3)
    return {
      steps: [
        { do: "mumble", pieces: ["I "] },
        { do: "throw", message: "wire broke" },
      ],
    };
  return { steps };
};

/** What clients know of each other's doings: threads and turns that were told to any of them. */
interface Gossip {
  readonly threads: string[];
  readonly turns: { readonly threadId: string; readonly turnId: string }[];
}

type Action = (client: SimClient, gossip: Gossip, random: Random) => Promise<void> | void;

const startThread: Action = async (client, gossip) => {
  const outcome = await client.request("thread/start");
  if ("reply" in outcome && outcome.reply.result !== undefined) {
    gossip.threads.push((outcome.reply.result.thread as { id: string }).id);
  }
};

const startTurn: Action = async (client, gossip, random) => {
  if (gossip.threads.length === 0) return startThread(client, gossip, random);
  const threadId = random.pick(gossip.threads);
  const outcome = await client.request("turn/start", { threadId, input: input("go on") });
  if ("reply" in outcome && outcome.reply.result !== undefined) {
    gossip.turns.push({ threadId, turnId: (outcome.reply.result.turn as { id: string }).id });
  }
};

const steer: Action = async (client, gossip, random) => {
  if (gossip.turns.length === 0) return;
  const { threadId, turnId } = random.pick(gossip.turns);
  await client.request("turn/steer", { threadId, expectedTurnId: turnId, input: input("rather this") });
};

const interrupt: Action = async (client, gossip, random) => {
  if (gossip.turns.length === 0) return;
  const { threadId, turnId } = random.pick(gossip.turns);
  await client.request("turn/interrupt", { threadId, turnId: random.pick([turnId, turnId, "", "other"]) });
};

const ask: Action = async (client, _gossip, random) => {
  const method = random.pick(["thread/loaded/list", "model/list", "no/such/method", "initialize"]);
  await client.request(method, { clientInfo: { name: "again", title: null, version: "1" } });
};

/** As often as they are listed. */
const actions: readonly Action[] = [
  ...[startThread, startTurn, startTurn, startTurn, startTurn, steer, steer, interrupt, interrupt, ask],
  (client) => client.stopReading(),
  (client) => client.goOnReading(),
  (client, _gossip, random) => (random.chance(0.3) ? client.cut() : undefined),
  (client, _gossip, random) => (random.chance(0.3) ? client.leave() : undefined),
];

async function behave(world: World, host: SimHost, gossip: Gossip): Promise<void> {
  const { random } = world;
  const client = host.connect({ magnify: random.pick([1, 1, 100, 1000]) });
  const pending: Promise<unknown>[] = [client.request("initialize", { clientInfo: me(client) })];
  if (random.chance(0.8)) await pending[0];
  for (let left = random.between(3, 10); left > 0; left--) {
    await world.moment(`${client.name} acts`);
    const done = Promise.resolve(random.pick(actions)(client, gossip, random));
    pending.push(done);
    if (client.end === "open" && random.chance(0.3))
      await Promise.race([done, world.moment(`${client.name} acts`)]);
  }
  if (random.chance(0.7)) client.goOnReading();
  await world.scheduler.quiet();
  client.goOnReading();
  await Promise.all(pending);
}

describe("a host in a storm", () => {
  simulate(
    "answers everyone once, ends every turn once, and closes",
    { count: 150, full: 2000 },
    async (world) => {
      world.model.scripts = moody;
      world.expectError(/model stream failed: wire broke/);
      const host = await world.start();
      const gossip: Gossip = { threads: [], turns: [] };
      const everyone = Array.from({ length: world.random.between(1, 4) }, () => behave(world, host, gossip));
      // In half of the runs the host leaves in the middle of it all.
      if (world.random.chance(0.5)) {
        const steps = world.random.between(0, 200);
        await new Promise<void>((resolve) => world.scheduler.inSteps(steps, "time to close", resolve));
        await host.close();
        await Promise.all(everyone);
      } else {
        await Promise.all(everyone);
        await host.close();
      }
    },
  );
});

function me(client: SimClient): object {
  return { name: client.name, title: null, version: "1" };
}

function input(text: string): readonly object[] {
  return [{ type: "text", text }];
}
