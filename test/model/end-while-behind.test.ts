import assert from "node:assert/strict";
import { describe } from "vitest";
import type { Message } from "../simulation/frame-rules.ts";
import { simulate } from "../simulation/run.ts";
import type { SimClient } from "../simulation/sim-client.ts";
import type { World } from "../simulation/world.ts";
import { byMood } from "./scripts.ts";

/** Longer than the end of a load waits for anyone. */
const LONG_MS = 10_000;

const ENDS = {
  "thread/unload": ["thread/status/changed notLoaded", "thread/closed"],
  "thread/archive": ["thread/status/changed notLoaded", "thread/archived"],
  "thread/delete": ["thread/status/changed notLoaded", "thread/deleted"],
  "the host ends": ["thread/status/changed notLoaded", "thread/closed"],
} as const;

type End = keyof typeof ENDS;

/** A thread with some turns, and one who is about to hear all of them again. */
async function scene(world: World, magnify: number) {
  const { random } = world;
  world.model.scripts = byMood;
  // Steps take no time to speak of: whoever reads is done before anyone's patience is over.
  world.scheduler.pace = random.pick([0, 0.05]);
  const host = await world.start();
  const one = host.connect({ transport: "websocket" });
  const follower = host.connect({ transport: "websocket", magnify });
  for (const client of [one, follower]) client.rules.onlyReplies = true;
  await one.initialize();
  await follower.initialize({ experimentalApi: true, eventCursor: true });
  const threadId = await one.startThread();
  const turns = random.between(1, 5);
  for (let turn = 1; turn <= turns; turn++) await one.turnEnd(await one.startTurn(threadId, `quick ${turn}`));
  await one.call("thread/unsubscribe", { threadId });
  const replay = () =>
    follower.request("thread/resume", { threadId, excludeTurns: true, afterCursor: "1.1.0" });
  return { host, one, follower, threadId, turns, replay };
}

function steps({ random, scheduler }: World, most: number): Promise<void> {
  return new Promise((go) => scheduler.inSteps(random.between(0, most), "go on", () => go()));
}

/** What was told of a thread from the reply to the replay on; nothing if it had ended before that. */
function told({ frames, asked }: SimClient): readonly string[] {
  const replies = frames.findIndex(({ id }) => id !== undefined && asked.get(id)?.method === "thread/resume");
  const isOver = ({ method, error }: Message) => method === "thread/archived" || error !== undefined;
  return replies < 0 || frames.slice(0, replies + 1).some(isOver)
    ? []
    : frames.slice(replies + 1).flatMap((frame) => words(frame) ?? []);
}

function words({ method, params }: Message): string | undefined {
  if (method === undefined || method.startsWith("item/")) return undefined;
  const status = (params!.status as { type: string } | undefined)?.type;
  return status === undefined ? method : `${method} ${status}`;
}

describe("a thread that ends while a follower is behind", () => {
  simulate("is told to its end, then its end", { count: 80, full: 2000 }, async (world) => {
    const { random, scheduler } = world;
    const { host, one, follower, threadId, turns, replay } = await scene(
      world,
      random.pick([1, 100, 1_000_000]),
    );
    const resumed = replay();
    await steps(world, 60);
    const end = random.pick(Object.keys(ENDS) as End[]);
    const stuck = end !== "the host ends" && random.chance(0.3);
    if (stuck) follower.stopReading();
    const asks = end === "thread/unload" ? follower : one;
    const ended = end === "the host ends" ? host.close() : asks.request(end, { threadId });
    // One who does not read is waited for, but not for ever.
    await (end === "thread/unload" ? steps(world, 60) : ended);
    if (stuck) {
      await world.sleep(random.pick([0, LONG_MS]));
      follower.goOnReading();
    }
    await Promise.all([resumed, ended]);
    await scheduler.quiet();
    world.check(() => {
      const heard = told(follower);
      if (heard.length === 0) return;
      assert.deepEqual(heard.slice(-2), ENDS[end], "what it was told last");
      const completed = heard.filter((what) => what === "turn/completed").length;
      // Of a thread that was deleted nothing is left that someone could be told later.
      if (!stuck || end !== "thread/delete") assert.equal(completed, turns, `turns in ${heard.join(", ")}`);
      assert.equal(heard.filter((what) => what === ENDS[end][1]).length, 1, "how often it ended");
    });
    await host.close();
  });

  simulate(
    "and is resumed at once has no gap and nothing twice",
    { count: 60, full: 1500 },
    async (world) => {
      const { random, scheduler } = world;
      const { host, follower, threadId, replay } = await scene(world, random.pick([1, 100, 1_000_000]));
      const resumed = replay();
      await steps(world, 60);
      const stuck = random.chance(0.3);
      if (stuck) follower.stopReading();
      const unloaded = follower.request("thread/unload", { threadId });
      const again = follower.request("thread/resume", { threadId, excludeTurns: true });
      await steps(world, 60);
      if (stuck) {
        await world.sleep(random.pick([0, LONG_MS]));
        follower.goOnReading();
      }
      await Promise.all([resumed, unloaded, again]);
      await scheduler.quiet();
      await follower.turnEnd(await follower.startTurn(threadId, "quick 9"));
      world.check(() => {
        const cursors = follower.frames.flatMap(({ params }) => (params?.cursor as string | undefined) ?? []);
        const places = cursors.map((cursor) => cursor.split(".").map(Number) as [number, number, number]);
        places.slice(1).forEach(([, seq, index], at) => {
          const [, before, nth] = places[at]!;
          // Between two loads there is a status that those who do not follow are told without a cursor.
          const follows = seq === before ? index === nth + 1 : seq > before;
          assert(follows, `told ${cursors[at + 1]} after ${cursors[at]}`);
        });
        const heard = told(follower);
        const closed = heard.filter((what) => what === "thread/closed").length;
        assert.equal(closed, 1, `how often it was closed: ${heard.join(", ")}`);
        const statuses = heard.filter((what) => what.startsWith("thread/status/changed"));
        statuses.slice(1).forEach((status, at) => {
          assert.notEqual(status, statuses[at], `one status twice in a row: ${heard.join(", ")}`);
        });
        if (!stuck) {
          const replied = follower.frames.findLastIndex(
            ({ id }) => id !== undefined && follower.asked.get(id)?.method === "thread/resume",
          );
          const closing = follower.frames.findIndex(({ method }) => method === "thread/closed");
          assert(closing < replied, "the resume was answered before the closing was told");
        }
      });
      await host.close();
    },
  );
});
