import { describe, it } from "vitest";
import { runSeed } from "../simulation/run.ts";
import type { SimClient } from "../simulation/sim-client.ts";
import type { World } from "../simulation/world.ts";
import { firstOf, LONG } from "../support/long-form.ts";
import { STUCK_MS } from "../support/patience.ts";
import { checkEnd } from "./aftermath.ts";
import { Ledger } from "./ledger.ts";
import { checkAfterwards, goOn } from "./next-host.ts";
import { type Scene, scenes } from "./scenes.ts";
import { byMood } from "./scripts.ts";
import { SceneStage } from "./stage.ts";
import { Witness } from "./witness.ts";

/** Each step of one thread's life from start to deletion, and of another one's that stays. */
async function live(client: SimClient, ledger: Ledger): Promise<void> {
  const say = (text: string) => ({ input: [{ type: "text", text }] });
  await client.initialize({ experimentalApi: true, eventCursor: true });
  const other = await client.startThread();
  await client.turnEnd(await client.startTurn(other, "quick 1"));
  const threadId = await client.startThread();
  await client.turnEnd(await client.startTurn(threadId, "quick 2"));
  await client.call("thread/queue/add", { threadId, ...say("quick q"), clientUserMessageId: "queued" });
  let queued: string | undefined;
  await client.until("the end of the queued turn", ({ method, params }) => {
    if ((params?.item as { clientId?: string } | undefined)?.clientId === "queued")
      queued = params!.turnId as string;
    return method === "turn/completed" && (params!.turn as { id: string }).id === queued;
  });
  const turnId = await client.startTurn(threadId, "hang 3");
  await client.call("turn/steer", { threadId, expectedTurnId: turnId, ...say("hang 4") });
  await client.call("turn/interrupt", { threadId, turnId });
  await client.turnEnd(turnId);
  await client.call("thread/name/set", { threadId, name: "name 5" });
  await client.call("thread/unload", { threadId });
  await client.call("thread/resume", { threadId });
  await client.turnEnd(await client.startTurn(threadId, "fail 6"));
  await client.startTurn(threadId, "hang 7");
  await client.call("thread/archive", { threadId });
  await client.call("thread/unarchive", { threadId });
  await client.call("thread/resume", { threadId });
  await client.startTurn(other, "hang 8");
  ledger.deleting(threadId);
  await client.call("thread/delete", { threadId });
}

/** That life on a host that dies after so many steps; true if it was over before. */
async function liveAndDie(world: World, kind: "kill" | "power", steps: number): Promise<boolean> {
  world.model.scripts = byMood;
  const ledger = new Ledger();
  const first = await world.start();
  const client = first.connect();
  client.rules.onlyReplies = true;
  const witness = new Witness(client, ledger, new Map(), { host: first.name });
  client.heard = () => world.check(() => witness.look());
  let over = false;
  const life = live(client, ledger).then(
    () => {
      over = true;
    },
    () => {},
  );
  await Promise.race([life, new Promise<void>((dead) => world.scheduler.inSteps(steps, "die", dead))]);
  first.crash(kind);
  if (kind === "power") ledger.powerCut();
  await life;
  await checkEnd(world, ledger, await world.start());
  return over;
}

/** A scene on a host that dies after so many steps; true if it was over before. */
async function playAndDie(
  world: World,
  scene: Scene,
  { kind, steps }: { readonly kind: "kill" | "power"; readonly steps: number },
): Promise<boolean> {
  const stage = new SceneStage(world, scene);
  await stage.start();
  let over = false;
  const play = scene.live(stage).then(
    () => {
      over = true;
    },
    () => {},
  );
  await Promise.race([play, new Promise<void>((dead) => world.scheduler.inSteps(steps, "die", dead))]);
  const wasOver = over;
  stage.crash(kind);
  await goOn(stage);
  await checkAfterwards(stage, kind);
  return wasOver;
}

/** Those with tool calls, questions, callbacks, children, patches, commands, helpers, reviews and questions about hosts. */
const TOOL_SCENES = scenes.filter(({ name }) =>
  /^what (clients are asked|a tool server|an MCP server|a turn changes|commands do|helpers do|a model approves|a command asks)/.test(
    name,
  ),
);

/**
 * Dies after steps of a life: in the short form after every `stride`th, in the long one also after some between. Seeds
 * differ in what happens between two steps.
 */
async function dieAtSteps(
  longStride: number,
  die: (world: World, steps: number) => Promise<boolean>,
): Promise<void> {
  const stride = LONG ? longStride : 4 * longStride;
  const passes = [1, 2, 3].flatMap((seed) =>
    Array.from({ length: stride }, (_, at) => ({ seed, from: (seed + at) % stride })),
  );
  for (const { seed, from } of firstOf(passes, 1, 2)) {
    let over = false;
    for (let steps = from; !over; steps += stride) {
      await runSeed(seed, async (world) => {
        over = await die(world, steps).catch((cause: unknown) => {
          throw new Error(`after ${steps} steps: ${(cause as Error).message}`, { cause });
        });
      });
    }
  }
}

describe("a crash between every record and its effect", { timeout: STUCK_MS }, () => {
  for (const kind of ["kill", "power"] as const) {
    for (const scene of TOOL_SCENES) {
      it(`loses nothing that a ${kind} may not take of ${scene.name}`, () =>
        dieAtSteps(29, (world, steps) => playAndDie(world, scene, { kind, steps })));
    }

    it(`loses nothing that a ${kind} may not take`, () =>
      dieAtSteps(9, (world, steps) => liveAndDie(world, kind, steps)));
  }
});
