// A thread and its helper: one of them, or both, die at every step, and each result reaches the parent's model once.
import { describe, expect, it } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { helped } from "../model/helped.ts";
import { LONG } from "../support/long-form.ts";
import { STUCK_MS } from "../support/patience.ts";
import { checkFamily, familyOf } from "./family.ts";
import { runSeed } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

const HOUR = 60 * 60_000;
const STRIDE = LONG ? 1 : 47;

interface Scene {
  readonly world: World;
  readonly host: SimHost;
  readonly client: SimClient;
  readonly threadId: string;
}

/** The ways to die. They return whether the host is gone with the threads. */
const DEATHS: Readonly<Record<string, (scene: Scene) => Promise<boolean>>> = {
  "both die with a host that is killed": async ({ host }) => {
    host.crash("kill");
    return true;
  },
  "both die with a host that loses power": async ({ host }) => {
    host.crash("power");
    return true;
  },
  "both end with a host that shuts down": async ({ host }) => {
    await host.close();
    return true;
  },
  "the helper is closed by a client": async ({ client, threadId }) => {
    const { data } = await client.call("thread/loaded/list");
    for (const childId of (data as string[]).filter((id) => id !== threadId))
      await client.request("thread/unload", { threadId: childId, interrupt: true });
    return false;
  },
  "the parent is closed by a client, and opened again": async ({ client, threadId }) => {
    await client.request("thread/unload", { threadId, interrupt: true });
    await client.call("thread/resume", { threadId });
    return false;
  },
};

async function connected(host: SimHost): Promise<SimClient> {
  const client = host.connect();
  client.rules.onlyReplies = true;
  await client.initialize({ experimentalApi: true });
  return client;
}

/** What the user says. Each word but the last message's is a call of a helper tool. */
async function talk(client: SimClient, threadId: string): Promise<void> {
  for (const said of ["spawn wait send wait", "spawn", "and now"])
    await client.turnEnd(await client.startTurn(threadId, said));
}

/** Plays the talk, with a death after so many steps. Returns whether the talk was over before. */
async function playAndDie(world: World, death: string, steps: number): Promise<boolean> {
  const { scheduler } = world;
  world.model.scripts = helped;
  const config = readConfig({ agents: { max_threads: 100 } });
  const host = await world.start({ config });
  const client = await connected(host);
  const threadId = await client.startThread();
  // From here on the thread survives a power cut.
  await client.turnEnd(await client.startTurn(threadId, "hello"));
  await scheduler.quiet();
  let isOver = false;
  const talked = talk(client, threadId).then(
    () => {
      isOver = true;
    },
    () => {},
  );
  await Promise.race([talked, new Promise<void>((due) => scheduler.inSteps(steps, "a death", due))]);
  const wasOver = isOver;
  const isHostGone = await DEATHS[death]!({ world, host, client, threadId });
  const next = isHostGone ? await world.start({ config }) : host;
  await talked;
  await world.sleep(3 * HOUR);
  await scheduler.quiet();
  const last = await connected(next);
  await last.call("thread/resume", { threadId });
  // The model gets results that no call waited for with the next user message.
  await last.turnEnd(await last.startTurn(threadId, "and at last"));
  await scheduler.quiet();
  await next.close();
  world.check(() => {
    checkFamily(world, threadId);
    const answers = familyOf(world, threadId).parent.filter(({ type }) => type === "toolAnswered");
    // A wait ends when its helper has ended, not an hour later.
    for (const { output } of answers) expect(String(output)).not.toContain('"timed_out":true');
  });
  return wasOver;
}

describe("each result of a helper reaches its parent's model once, at whatever step", () => {
  it.each(Object.keys(DEATHS))("[HELPER-20] %s", { timeout: STUCK_MS }, async (death) => {
    let isOver = false;
    for (let steps = 0; !isOver; steps += STRIDE) {
      await runSeed(1 + (steps % 7), async (world) => {
        isOver = await playAndDie(world, death, steps).catch((cause: unknown) => {
          throw new Error(`after ${steps} steps: ${(cause as Error).message}`, { cause });
        });
      });
    }
  });
});
