import { describe, expect } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { checkJournals, journals } from "../model/journals.ts";
import { AGAIN, type JournalRecord, ONCE, resultOf, ToolLedger } from "../support/tool-ledger.ts";
import { toolset } from "../support/tool-server.ts";
import type { FakeServer } from "./fake-network.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { World } from "./world.ts";

const DESK = "http://desk.example";
const capabilities = { experimentalApi: true };
const CALLS_A_TURN = 2;
/** So long that every call has come to an end: one that was lost before it was acknowledged has ten minutes. */
const ALL_MS = 15 * 60_000;
const TOOLSET = toolset(DESK, { [AGAIN]: { annotations: { idempotent: true } }, [ONCE]: {} });

/** Takes every call, and tries to get rid of the result until someone has taken or refused it. */
function desk(world: World, ledger: ToolLedger): FakeServer {
  const { random, network } = world;
  const deliver = async (url: string, message: object, callId: string): Promise<void> => {
    for (;;) {
      const answer = await network.post(url, message);
      if (answer?.status === 200) ledger.taken(callId, world.scheduler.wallClock);
      if (answer !== undefined && answer.status < 500) return;
      await world.sleep(500, "desk");
    }
  };
  const work = async (id: string, group_id: string, url: string): Promise<void> => {
    await world.sleep(random.pick([0, 0, 50, 5000]), "desk");
    const message = { type: "tool_result", id, group_id, text: resultOf(id) };
    for (let times = random.pick([1, 1, 2]); times > 0; times--) await deliver(url, message, id);
  };
  return async ({ path, body }) => {
    if (path === "/.well-known/rap-toolset") return { status: 200, json: TOOLSET };
    if (path === "/close_thread") ledger.closed(body.thread_id);
    if (path !== "/invoke") return { status: 200 };
    ledger.invoked(body.group_id, body.id, body.operation);
    void work(body.id, body.group_id, body.callback_url);
    return { status: 200 };
  };
}

function written(world: World, threadId: string): readonly JournalRecord[] {
  const path = journals(world.disk).find((one) => one.includes(threadId));
  const lines = path === undefined ? [] : world.disk.text(path)!.split("\n").slice(0, -1);
  return lines.flatMap((line) => (JSON.parse(line) as { records: JournalRecord[] }).records);
}

describe.each([
  ["all threads are awake", 8, "kill"],
  ["threads sleep while they wait", 1, "kill"],
  ["the power fails", 2, "power"],
] as const)("the results of tools, where %s,", (_, max_resident_threads, end) => {
  simulate(
    "[RAPR-62] have their effect once, however often and whenever their host dies",
    { count: 8, full: 5_000 },
    async (world) => {
      const { random } = world;
      const powerCuts = end === "power";
      const ledger = new ToolLedger();
      const shown = new Map<string, Set<string>>();
      world.network.servers.set(DESK, desk(world, ledger));
      let calls = 0;
      world.model.scripts = ({ context }) => {
        let results = 0;
        for (const item of context) {
          if (item.type === "message" && item.role === "user") results = 0;
          if (item.type !== "toolOutput") continue;
          results++;
          const seen = shown.get(item.callId) ?? new Set();
          shown.set(item.callId, seen.add(JSON.stringify(item.output)));
        }
        if (results >= CALLS_A_TURN) return { steps: [{ do: "say", pieces: ["Done"] }] };
        const steps = Array.from({ length: random.pick([1, 1, 2]) }, () => {
          const name = random.pick([AGAIN, ONCE]);
          return { do: "call", name, args: {}, callId: `call_${++calls}` } as const;
        });
        return { steps };
      };
      const config = readConfig({ max_resident_threads, rap_servers: { desk: { url: DESK } } });
      const start = () => world.start({ config });
      const threads: string[] = [];
      const act = async (client: SimClient, threadId: string): Promise<void> => {
        for (;;) {
          await client.call("thread/resume", { threadId });
          if (!(await client.turnEnd(await client.startTurn(threadId, "work")))) return;
          if (random.chance(0.3)) await client.call("thread/unload", { threadId });
        }
      };
      for (let lives = random.between(1, 4); lives > 0; lives--) {
        const host = await start();
        const client = host.connect();
        client.rules.onlyReplies = true;
        const dead = host.crashIn(random.between(20, 400), () => end);
        const life = async () => {
          await client.initialize(capabilities);
          while (threads.length < 2) threads.push(await client.startThread());
          await Promise.all(threads.map((threadId) => act(client, threadId)));
        };
        await Promise.all([dead, life().catch(() => {})]);
      }

      const host = await start();
      const client = host.connect();
      client.rules.onlyReplies = true;
      await client.initialize(capabilities);
      await world.scheduler.quiet(ALL_MS);
      const kept = threads.filter((threadId) => written(world, threadId).length > 0);
      for (const threadId of kept) {
        await client.call("thread/resume", { threadId });
        await client.turnEnd(await client.startTurn(threadId, "and again"));
      }
      await world.scheduler.quiet(ALL_MS);
      await host.close();
      world.check(() => {
        checkJournals(world.disk);
        for (const threadId of kept) ledger.check(threadId, written(world, threadId), shown, { powerCuts });
        expect(shown.size).toBeGreaterThan(kept.length === 0 ? -1 : 0);
      });
    },
  );
});
