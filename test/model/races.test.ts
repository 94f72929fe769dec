import assert from "node:assert/strict";
import { describe } from "vitest";
import { simulate } from "../simulation/run.ts";
import type { SimClient } from "../simulation/sim-client.ts";
import type { World } from "../simulation/world.ts";
import { byMood } from "./scripts.ts";

const DELAY_SECS = 5;

type Leaving = (client: SimClient, threadId: string, world: World) => Promise<unknown>;

/** How a thread can come to be unloaded while someone else is about to resume it. */
const LEAVINGS: readonly Leaving[] = [
  (client, threadId) => client.request("thread/unsubscribe", { threadId }),
  (client, threadId) => client.request("thread/unload", { threadId }),
  (client, threadId) => client.request("thread/unload", { threadId, interrupt: true }),
  async (client) => client.leave(),
  async (client) => client.cut(),
  // A turn whose end lets the thread go.
  async (client, threadId, world) => {
    const turn = client.request("turn/start", { threadId, input: [{ type: "text", text: "quick 1" }] });
    await world.moment();
    client.leave();
    await turn;
  },
];

describe("a race", () => {
  simulate(
    "between a resume and an unload ends with a loaded thread and a subscription",
    { count: 40, full: 1500 },
    async (world) => {
      const { random, scheduler } = world;
      world.model.scripts = byMood;
      // Steps take time, so that the delay can end in the middle of the resume.
      scheduler.pace = random.pick([0, 5, 50]);
      const host = await world.start();
      const threadUnloadDelaySecs = random.pick([0, DELAY_SECS]);
      const one = host.connect();
      const other = host.connect({ transport: "websocket" });
      for (const client of [one, other]) client.rules.onlyReplies = true;
      await one.initialize({ experimentalApi: true, threadUnloadDelaySecs });
      await other.initialize();
      const threadId = await one.startThread();
      await one.turnEnd(await one.startTurn(threadId, "quick 0"));

      const left = random.pick(LEAVINGS)(one, threadId, world);
      if (random.chance(0.5)) await world.sleep(random.between(0, threadUnloadDelaySecs * 1100));
      else await new Promise<void>((go) => scheduler.inSteps(random.between(0, 60), "resume", () => go()));
      await other.call("thread/resume", { threadId });
      const resumedAt = other.frames.length;
      await left;
      await world.sleep(DELAY_SECS * 3000);
      await scheduler.quiet();

      world.check(() => {
        const told = other.frames.slice(resumedAt).map(({ method }) => method);
        assert(!told.includes("thread/closed"), "the thread was closed after the resume was answered");
      });
      const { data } = await other.call("thread/loaded/list");
      assert.deepEqual(data, [threadId], "the threads that are loaded");
      assert(await other.turnEnd(await other.startTurn(threadId, "quick 2")), "its turns are told");
      await host.close();
    },
  );

  simulate(
    "between a client that asks for a thread and its own end leaves nothing loaded",
    { count: 15, full: 500 },
    async (world) => {
      const { random, scheduler } = world;
      const host = await world.start();
      const one = host.connect();
      one.rules.onlyReplies = true;
      await one.initialize();
      const threadId = await one.startThread();
      const asked = one.request(random.pick(["thread/start", "thread/resume", "thread/fork"]), { threadId });
      await new Promise<void>((go) => scheduler.inSteps(random.between(0, 60), "end", () => go()));
      one[random.pick(["leave", "cut"] as const)]();
      await asked;
      await scheduler.quiet();
      const other = host.connect();
      await other.initialize();
      const { data } = await other.call("thread/loaded/list");
      assert.deepEqual(data, [], "threads that nobody follows any more and that stay loaded");
      await host.close();
    },
  );
});
