// Every turn that was accepted ends once, whatever comes in between.
import assert from "node:assert/strict";
import { describe } from "vitest";
import { endSurvivors } from "../model/aftermath.ts";
import { checkJournals, journals } from "../model/journals.ts";
import type { ModelScript, ModelScripts } from "./fake-model.ts";
import type { Random } from "./random.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

const LOOKUP = { type: "function", name: "lookup", description: "L", inputSchema: { type: "object" } };
const QUESTION = {
  questions: [{ id: "q", header: "H", question: "Q?", options: [{ label: "A", description: "d" }] }],
};
const PLAN = { plan: [{ step: "s", status: "pending" }] };

type Steps = ModelScript["steps"];

/** Every way in which a model can go on or let people down, and every tool that it has. */
const unsteady: ModelScripts = (_request, random) => {
  const talk = (): Steps => [{ do: "say", pieces: ["well, ", "yes"] }];
  const ways: readonly (() => Steps)[] = [
    ...[talk, talk, talk, talk],
    () => [{ do: "call", name: "lookup", args: {} }],
    () => [
      { do: "mumble", pieces: ["let me "] },
      { do: "call", name: "request_user_input", args: QUESTION },
    ],
    () => [
      { do: "call", name: "update_plan", args: PLAN },
      { do: "call", name: "lookup", args: {} },
      { do: "call", name: "nobody", args: {} },
    ],
    () => [
      { do: "mumble", pieces: ["I "] },
      { do: "fail", message: "busy", retries: 2 },
    ],
    () => [{ do: "fail", message: "no" }],
    () => [{ do: "fail", message: "too long", tooLong: true }],
    () => [{ do: "call", name: "lookup", args: {} }, { do: "stop" }],
    () => [{ do: "pause", ms: random.between(1, 5000) }],
    () => [{ do: "mumble", pieces: ["hm "] }, { do: "hang" }],
  ];
  const steps = Array.from({ length: random.between(1, 2) }, () => random.pick(ways)()).flat();
  return { steps, tokens: random.pick([3, 3, 2000]), atOnce: random.chance(0.3) };
};

interface Gossip {
  readonly threads: string[];
  /** Turns that someone was told are accepted. */
  readonly accepted: Map<string, string>;
}

type Act = (client: SimClient, gossip: Gossip, random: Random) => Promise<unknown> | undefined;

const say = (text: string) => [{ type: "text", text }];

/** What is taken as a turn counts from its reply on. */
async function begin(client: SimClient, gossip: Gossip, method: string, params: { threadId: string }) {
  const outcome = await client.request(method, params);
  if (!("reply" in outcome) || outcome.reply.result === undefined) return;
  const { id } = outcome.reply.result.turn as { id: string };
  gossip.accepted.set(id, params.threadId);
}

const anyTurn = (gossip: Gossip, random: Random): readonly [string, string] | undefined =>
  gossip.accepted.size === 0 ? undefined : random.pick([...gossip.accepted]);

const startTurn: Act = (client, gossip, random) =>
  begin(client, gossip, "turn/start", {
    threadId: random.pick(gossip.threads),
    ...{ input: say(random.pick(["go on", "and then?"])) },
  });

/** Those that are seldom end what others have begun. */
const seldom =
  (act: Act): Act =>
  (client, gossip, random) =>
    random.chance(0.3) ? act(client, gossip, random) : undefined;

const ACTS: readonly Act[] = [
  ...[startTurn, startTurn, startTurn, startTurn],
  (client, gossip, random) => {
    const [turnId, threadId] = anyTurn(gossip, random) ?? [];
    if (turnId === undefined) return undefined;
    return client.request("turn/steer", { threadId, expectedTurnId: turnId, input: say("rather this") });
  },
  (client, gossip, random) => {
    const [turnId, threadId] = anyTurn(gossip, random) ?? [];
    if (turnId === undefined) return undefined;
    return client.request("turn/interrupt", { threadId, turnId: random.pick([turnId, ""]) });
  },
  seldom((client, gossip, random) =>
    client.request("thread/compact/start", { threadId: random.pick(gossip.threads) }),
  ),
  seldom((client, gossip, random) =>
    begin(client, gossip, "review/start", {
      threadId: random.pick(gossip.threads),
      ...{ target: { type: "uncommittedChanges" } },
    }),
  ),
  (client, gossip, random) => client.request("thread/resume", { threadId: random.pick(gossip.threads) }),
  (client, gossip, random) =>
    client.request("thread/queue/add", { threadId: random.pick(gossip.threads), input: say("later") }),
  seldom((client, gossip, random) =>
    client.request("thread/unload", { threadId: random.pick(gossip.threads), interrupt: true }),
  ),
  (client, gossip, random) =>
    client.request("thread/rollback", { threadId: random.pick(gossip.threads), numTurns: 1 }),
  (client, gossip, random) => {
    const [turnId, threadId] = anyTurn(gossip, random) ?? [];
    if (turnId === undefined) return undefined;
    return client.request("thread/revert", { threadId, beforeTurnId: turnId });
  },
  (client, _gossip, random) => {
    if (random.chance(0.3)) client.cut();
    return undefined;
  },
];

/** Answers what it is asked, most of the time, and sometimes with nonsense or twice. */
function answers(world: World, client: SimClient): void {
  let seen = 0;
  client.heard = () => {
    for (const { id, method } of client.frames.slice(seen)) {
      if (id === undefined || method === undefined || world.random.chance(0.2)) continue;
      const good = method === "item/tool/call" ? { contentItems: [], success: true } : { answers: {} };
      const given = world.random.pick([
        { result: good },
        { result: good },
        { result: 7 },
        { error: { code: 1, message: "no" } },
      ]);
      client.answer(id, given);
      if (world.random.chance(0.1)) client.answer(id, given);
    }
    seen = client.frames.length;
  };
}

async function behave(world: World, host: SimHost, gossip: Gossip): Promise<void> {
  const { random } = world;
  const client = host.connect();
  client.rules.onlyReplies = true;
  answers(world, client);
  const pending: Promise<unknown>[] = [];
  await client.request("initialize", {
    clientInfo: { name: client.name, title: null, version: "1" },
    capabilities: { experimentalApi: true },
  });
  for (const threadId of gossip.threads) pending.push(client.request("thread/resume", { threadId }));
  for (let left = random.between(4, 12); left > 0 && client.end === "open"; left--) {
    await world.moment(`${client.name} acts`);
    const done = Promise.resolve(random.pick(ACTS)(client, gossip, random));
    pending.push(done);
    if (random.chance(0.4)) await Promise.race([done, world.moment(`${client.name} acts`)]);
  }
  await Promise.all(pending);
}

/** How often each turn ended, by the journals. */
function ended({ disk }: World): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const path of journals(disk)) {
    for (const line of disk.text(path)!.split("\n").slice(0, -1)) {
      const { records } = JSON.parse(line) as { records: { type: string; turnId: string }[] };
      for (const { type, turnId } of records) {
        if (type === "turnStarted") counts.set(turnId, counts.get(turnId) ?? 0);
        if (type === "turnEnded") counts.set(turnId, (counts.get(turnId) ?? 0) + 1);
      }
    }
  }
  return counts;
}

/** One client sees the end of a turn at most once, and nothing of it afterwards. */
function checkTold(client: SimClient): void {
  const over = new Set<string>();
  for (const { method, params } of client.frames) {
    const turn = (params?.turn as { id: string } | undefined)?.id ?? (params?.turnId as string | undefined);
    if (turn === undefined || method === "thread/tokenUsage/updated") continue;
    assert(!over.has(turn), `${client.name} is told ${method} of turn ${turn} after its end`);
    if (method === "turn/completed") over.add(turn);
  }
}

describe("a turn that was accepted", () => {
  simulate("[ONCE-1] ends once, through everything", { count: 60, full: 1000 }, async (world) => {
    const { random } = world;
    world.model.scripts = unsteady;
    const gossip: Gossip = { threads: [], accepted: new Map() };
    const setUp = await world.start();
    const first = setUp.connect();
    first.rules.onlyReplies = true;
    await first.initialize({ experimentalApi: true });
    for (let count = random.between(1, 2); count > 0; count--) {
      gossip.threads.push(await first.startThread({ dynamicTools: [LOOKUP] }));
    }
    let host = setUp;
    for (let lives = random.between(1, 3); lives > 0; lives--) {
      const everyone = Array.from({ length: random.between(1, 3) }, () => behave(world, host, gossip));
      if (random.chance(0.6)) {
        await new Promise<void>((resolve) => world.scheduler.inSteps(random.between(0, 300), "die", resolve));
        host.crash("kill");
      } else if (random.chance(0.5)) {
        await new Promise<void>((resolve) =>
          world.scheduler.inSteps(random.between(0, 300), "close", resolve),
        );
        await host.close();
      } else {
        await Promise.all(everyone);
        await world.scheduler.quiet();
        host.crash("kill");
      }
      await Promise.all(everyone);
      host = await world.start();
    }
    await world.scheduler.quiet();
    await endSurvivors(host);
    await host.close();
    world.check(() => {
      checkJournals(world.disk);
      const counts = ended(world);
      for (const turnId of gossip.accepted.keys()) assert(counts.has(turnId), `turn ${turnId} is not there`);
      for (const [turnId, count] of counts) assert.equal(count, 1, `ends of turn ${turnId}`);
      for (const client of world.clients) checkTold(client);
    });
  });
});
