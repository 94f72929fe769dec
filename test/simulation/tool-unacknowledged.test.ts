// A host dies after a call was sent to a tool server and before it heard that the server has it.
import { describe, expect } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { journals } from "../model/journals.ts";
import { toolset } from "../support/tool-server.ts";
import { simulate } from "./run.ts";
import type { SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

const DESK = "http://desk.example";
const TOOLSET = toolset(DESK, { once: {}, again: { annotations: { idempotent: true } } });
const MINUTE = 60_000;
const UNKNOWN = /whether it had its effect is not known/;

interface Sent {
  readonly id: string;
  readonly group_id: string;
  readonly callback_url: string;
}

/** Takes calls. The host dies of the first one, before it hears of that. */
class Desk {
  readonly calls: Sent[] = [];
  readonly cancelled: string[] = [];
  /** Called when the first call has come. */
  called: () => void = () => {};
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    // Slower, and a server that is there is taken for one that is not.
    world.scheduler.pace = Math.min(world.scheduler.pace, 5);
    world.network.servers.set(DESK, async ({ path, body }) => {
      if (path === "/.well-known/rap-toolset") return { status: 200, json: TOOLSET };
      if (path === "/cancel_tool_call") this.cancelled.push(body.tool_call_id);
      if (path === "/invoke" && this.calls.push(body) === 1) this.called();
      return { status: 200 };
    });
  }

  /** Posts the result until a host answers; the statuses. */
  async deliver(): Promise<readonly number[]> {
    const { id, group_id, callback_url } = this.calls[0]!;
    const message = { type: "tool_result", id, group_id, text: "seen" };
    for (const statuses: number[] = []; ; await this.#world.sleep(500, "desk")) {
      const answer = await this.#world.network.post(callback_url, message);
      if (answer !== undefined) statuses.push(answer.status);
      if (answer !== undefined && answer.status < 500) return statuses;
    }
  }
}

/** What the model was shown that its call came to. */
function model(world: World, name: "once" | "again"): unknown[] {
  const outputs: unknown[] = [];
  world.model.scripts = ({ context }) => {
    const shown = context.flatMap((item) => (item.type === "toolOutput" ? [item.output] : []));
    outputs.splice(0, outputs.length, ...shown);
    return {
      steps:
        shown.length > 0
          ? [{ do: "say", pieces: ["Done"] }]
          : [{ do: "call", name, args: {}, callId: "call_1" }],
    };
  };
  return outputs;
}

/** Runs a turn until its host dies of its call. */
async function dying(world: World, desk: Desk, start: () => Promise<SimHost>): Promise<string> {
  const host = await start();
  const client = host.connect();
  client.rules.onlyReplies = true;
  await client.initialize({ experimentalApi: true });
  const threadId = await client.startThread();
  const dead = new Promise<void>((resolve) => {
    desk.called = () => {
      host.crash(world.random.pick(["kill", "power"] as const));
      resolve();
    };
  });
  await Promise.all([dead, client.startTurn(threadId).catch(() => {})]);
  return threadId;
}

interface JournalRecord {
  readonly type: string;
  readonly status?: unknown;
  readonly output?: unknown;
}

function recordsOf({ disk }: World, threadId: string, type: string): readonly JournalRecord[] {
  const path = journals(disk).find((one) => one.includes(threadId));
  const lines = path === undefined ? [] : disk.text(path)!.split("\n").slice(0, -1);
  const records = lines.flatMap((line) => (JSON.parse(line) as { records: JournalRecord[] }).records);
  return records.filter((record) => record.type === type);
}

const endsOf = (world: World, threadId: string): unknown[] =>
  recordsOf(world, threadId, "turnEnded").map(({ status }) => status);
const answersOf = (world: World, threadId: string): unknown[] =>
  recordsOf(world, threadId, "toolAnswered").map(({ output }) => output);

describe.each([
  ["all threads are awake", 8],
  ["threads sleep while they wait", 1],
])("a call whose host dies before it is acknowledged, where %s,", (_, max_resident_threads) => {
  const config = (deadline?: number) =>
    readConfig({
      max_resident_threads,
      rap_servers: { desk: { url: DESK, ...(deadline && { call_deadline_secs: deadline }) } },
    });

  simulate(
    "[RAPR-51] waits for its result, which may come before or after the next host, and is not sent twice",
    { count: 15, full: 2_000 },
    async (world) => {
      const { random, scheduler } = world;
      const desk = new Desk(world);
      const outputs = model(world, "once");
      const start = () => world.start({ config: config() });
      const threadId = await dying(world, desk, start);
      const early = random.chance(0.5) ? desk.deliver() : undefined;
      await world.sleep(random.pick([0, 1000, 8 * MINUTE]));
      for (let hosts = random.between(0, 2); hosts > 0; hosts--) {
        const host = await start();
        // At some step, but not after the time that it would idle away.
        await Promise.race([host.crashIn(random.between(1, 200)), scheduler.quiet()]);
        host.crash("kill");
      }
      const host = await start();
      // Others, so that the thread may sleep.
      const client = host.connect();
      client.rules.onlyReplies = true;
      await client.initialize({ experimentalApi: true });
      await client.startThread();
      if (random.chance(0.5)) await world.sleep(MINUTE);
      const statuses = await scheduler.waitFor("the result", early ?? desk.deliver());
      await scheduler.quiet();
      await host.close();
      world.check(() => {
        expect(outputs).toEqual(["seen"]);
        // A host that died with the result may have gone far before it could answer.
        if (early === undefined) expect(statuses.at(-1)).toBe(200);
        if (early === undefined) expect(endsOf(world, threadId)).toEqual(["completed"]);
        expect(answersOf(world, threadId)).toEqual(["seen"]);
        expect(desk.calls).toHaveLength(1);
        expect(desk.cancelled).toEqual([]);
      });
    },
  );

  simulate(
    "[RAPR-51] [RAPR-50] is given up at its deadline, ten minutes from its dispatch where none is configured",
    { count: 15, full: 2_000 },
    async (world) => {
      const { random, scheduler } = world;
      const desk = new Desk(world);
      const outputs = model(world, "once");
      const deadline = random.pick([undefined, 30, 3600]);
      const start = () => world.start({ config: config(deadline) });
      const threadId = await dying(world, desk, start);
      const due = scheduler.elapsed + (deadline ?? 600) * 1000;
      await world.sleep(random.pick([0, 1000, 5 * MINUTE]));
      const host = await start();
      const client = host.connect();
      client.rules.onlyReplies = true;
      await client.initialize({ experimentalApi: true });
      await client.startThread();
      if (scheduler.elapsed < due - 2000) {
        await world.sleep(due - 2000 - scheduler.elapsed);
        world.check(() => expect(endsOf(world, threadId)).toEqual([]));
      }
      await world.sleep(4000);
      await scheduler.quiet();
      await host.close();
      world.check(() => {
        expect(outputs).toEqual([expect.stringMatching(UNKNOWN)]);
        expect(endsOf(world, threadId)).toEqual(["completed"]);
        expect(desk.calls).toHaveLength(1);
        expect(desk.cancelled).toEqual(["call_1"]);
      });
    },
  );

  simulate(
    "[RAPR-52] is sent again with the same id if its tool is idempotent",
    { count: 10, full: 1_000 },
    async (world) => {
      const { scheduler } = world;
      const desk = new Desk(world);
      const outputs = model(world, "again");
      const start = () => world.start({ config: config() });
      const threadId = await dying(world, desk, start);
      const host = await start();
      const client = host.connect();
      client.rules.onlyReplies = true;
      await client.initialize({ experimentalApi: true });
      await scheduler.quiet();
      // A power cut may have taken the whole turn with it.
      if (desk.calls.length === 1) {
        world.check(() => expect(endsOf(world, threadId)).toEqual([]));
        return;
      }
      const statuses = await scheduler.waitFor("the result", desk.deliver());
      await scheduler.quiet();
      await host.close();
      world.check(() => {
        expect(statuses).toEqual([200]);
        expect(desk.calls.map(({ id, callback_url }) => [id, callback_url])).toEqual(
          Array(2).fill([desk.calls[0]!.id, desk.calls[0]!.callback_url]),
        );
        expect(outputs).toEqual(["seen"]);
        expect(endsOf(world, threadId)).toEqual(["completed"]);
      });
    },
  );
});
