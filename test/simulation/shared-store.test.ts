// Hosts that share nothing but a store, as hosts on several machines with one database do.
import { describe, expect } from "vitest";
import { SharedMemory } from "../../packages/host/src/store/memory/in-memory-store.ts";
import { helped } from "../model/helped.ts";
import { IndexFile } from "./memory-index.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import type { SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

interface Turn {
  readonly id: string;
  readonly status: string;
}

/** The hosts of a run, with their store. */
class Cluster {
  readonly #world: World;
  readonly #shared = new SharedMemory();
  readonly #index = new IndexFile();
  readonly #ids = new Map<SimHost, string>();

  constructor(world: World) {
    this.#world = world;
  }

  async start(): Promise<SimHost> {
    const id = `machine ${this.#ids.size + 1}`;
    const host = await this.#world.start({ store: this.#shared.open(id, this.#index.open()) });
    this.#ids.set(host, id);
    return host;
  }

  idOf(host: SimHost): string {
    return this.#ids.get(host)!;
  }

  kill(host: SimHost): void {
    host.crash("kill");
    this.#shared.died(this.idOf(host));
  }

  /** Takes a thread from its host, as if that host had not renewed its claim in time. */
  free(threadId: string): void {
    this.#shared.claims.delete(threadId);
  }

  /** The threads with a claim. */
  claimed(): readonly string[] {
    return [...this.#shared.claims.keys()];
  }

  /** Keeps threads from hosts that start, as if another host were about to take them over. That one then dies. */
  reserve(threadIds: readonly string[]): () => void {
    this.#shared.open("reserving", this.#index.open());
    for (const id of threadIds) this.#shared.claims.set(id, { host: "reserving", needsRecovery: true });
    return () => this.#shared.died("reserving");
  }

  /** The types of a thread's records. */
  async types(threadId: string): Promise<readonly string[]> {
    const found: string[] = [];
    for await (const { commit } of this.#shared.threads.get(threadId)!.journal.forwards())
      found.push(...commit.records.map(({ type }) => type));
    return found;
  }
}

async function connected(host: SimHost): Promise<SimClient> {
  const client = host.connect();
  client.rules.onlyReplies = true;
  await client.initialize({ experimentalApi: true });
  return client;
}

async function turnsOf(client: SimClient, threadId: string): Promise<readonly Turn[]> {
  const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
  return (thread as { turns: Turn[] }).turns;
}

function codeOf(outcome: Awaited<ReturnType<SimClient["request"]>>): unknown {
  return "reply" in outcome ? outcome.reply.error?.data?.code : "lost";
}

describe("hosts that share a store", () => {
  simulate(
    "[SHARED-1] read each other's threads, and take over those of a dead one",
    { count: 40, full: 600 },
    async (world) => {
      const cluster = new Cluster(world);
      const [first, second] = [await cluster.start(), await cluster.start()];
      const [near, far] = [await connected(first), await connected(second)];
      const threadId = await near.startThread();
      await near.turnEnd(await near.startTurn(threadId, "one"));
      await near.call("thread/name/set", { threadId, name: "shared" });
      const { section } = await near.call("threadSection/create", { name: "ours" });
      const keyed = { idempotencyKey: "one of its kind" };
      const unused = await near.startThread(keyed);
      await near.call("thread/unload", { threadId: unused });

      // A host writes rows of the index behind its commits, and for a list at the latest.
      await near.call("thread/list");
      const { thread } = await far.call("thread/read", { threadId });
      const { data: listed } = await far.call("thread/list");
      const refused = codeOf(await far.request("thread/resume", { threadId }));
      const { data: sections } = await far.call("threadSection/list");
      const again = await far.startThread(keyed);
      world.check(() => {
        expect(sections).toContainEqual(section);
        expect(again).toBe(unused);
        expect(thread).toMatchObject({ name: "shared", path: null, heldBy: cluster.idOf(first) });
        expect((listed as { id: string }[]).map(({ id }) => id)).toEqual([threadId]);
        expect(refused).toBe("heldElsewhere");
      });

      // The first host dies in the middle of a turn, before or after it.
      const running = near.request("turn/start", { threadId, input: [{ type: "text", text: "two" }] });
      const died = new Promise<void>((resolve) => {
        world.scheduler.inSteps(world.random.between(0, 60), "crash", () => {
          cluster.kill(first);
          resolve();
        });
      });
      const [outcome] = await Promise.all([running, died]);
      await far.call("thread/resume", { threadId });
      await world.scheduler.quiet();
      await far.turnEnd(await far.startTurn(threadId, "three"));
      const turns = await turnsOf(far, threadId);
      const types = await cluster.types(threadId);
      world.check(() => {
        const acknowledged = "reply" in outcome;
        expect(turns.length === 3 || (!acknowledged && turns.length === 2)).toBe(true);
        expect(turns[0]!.status).toBe("completed");
        expect(turns.at(-1)!.status).toBe("completed");
        for (const { status } of turns) expect(["completed", "interrupted"]).toContain(status);
        const ends = types.filter((type) => type === "turnEnded").length;
        expect(ends).toBe(types.filter((type) => type === "turnStarted").length);
      });
      await second.close();
      // No thread of these hosts has left anything on the disk of a machine.
      world.check(() => expect(world.disk.paths).toEqual([]));
    },
  );

  simulate(
    "[SHARED-1] tell a parent of its helper's result, whichever of them takes over which",
    { count: 20, full: 300 },
    async (world) => {
      // A helper works for a minute. Its parent waits for it, and at most an hour.
      world.model.scripts = (request, random, call) => {
        const { steps, ...rest } = helped(request, random, call);
        const isHelper = JSON.stringify(request.context).includes("a task");
        const isParent = JSON.stringify(request.context).includes("spawn wait");
        return { ...rest, steps: isHelper && !isParent ? [{ do: "pause", ms: 60_000 }, ...steps] : steps };
      };
      const cluster = new Cluster(world);
      const first = await cluster.start();
      const near = await connected(first);
      const threadId = await near.startThread();
      await near.startTurn(threadId, "spawn wait");
      await world.sleep(10_000);
      const family = cluster.claimed();
      cluster.kill(first);
      // One takes over the parent and the other one the helper, in any order.
      const isParentFirst = world.random.chance(0.5);
      const later = family.filter((id) => (id === threadId) !== isParentFirst);
      const free = cluster.reserve(later);
      const hosts = [await cluster.start()];
      await world.scheduler.quiet();
      free();
      hosts.push(await cluster.start());
      await world.sleep(10 * 60_000);
      const turns = await turnsOf(await connected(hosts[0]!), threadId);
      // More input reaches the helper when the other host has unloaded it.
      const owner = await connected(isParentFirst ? hosts[0]! : hosts[1]!);
      await owner.call("thread/resume", { threadId });
      await owner.startTurn(threadId, "send wait");
      await world.sleep(50 * 60_000);
      const more = await turnsOf(owner, threadId);
      world.check(() => {
        expect([family.length, later.length]).toEqual([2, 1]);
        expect(turns.map(({ status }) => status)).toEqual(["completed"]);
        expect(more.map(({ status }) => status)).toEqual(["completed", "completed"]);
      });
      for (const host of hosts) await host.close();
    },
  );

  simulate(
    "[SHARED-1] serve a thread whose claim its host has lost, from where it stands",
    { count: 20, full: 300 },
    async (world) => {
      world.model.scripts = helped;
      const cluster = new Cluster(world);
      const [first, second] = [await cluster.start(), await cluster.start()];
      const [near, far] = [await connected(first), await connected(second)];
      const threadId = await near.startThread();
      await near.turnEnd(await near.startTurn(threadId, "spawn wait"));
      const before = await turnsOf(near, threadId);

      cluster.free(threadId);
      await far.call("thread/resume", { threadId });
      await far.call("thread/name/set", { threadId, name: "far" });
      const refused = await near.request("thread/name/set", { threadId, name: "near" });
      await world.scheduler.quiet();
      await far.turnEnd(await far.startTurn(threadId, "send wait"));
      const { thread } = await near.call("thread/read", { threadId });
      const { data: loaded } = await near.call("thread/loaded/list");
      const after = await turnsOf(far, threadId);
      world.check(() => {
        expect(codeOf(refused)).toBeTruthy();
        expect(thread).toMatchObject({ name: "far", heldBy: cluster.idOf(second) });
        expect(loaded).toEqual([]);
        expect(near.frames.filter(({ method }) => method === "thread/closed").length).toBeGreaterThan(0);
        expect(after.slice(0, before.length)).toEqual(before);
        expect(after.map(({ status }) => status)).toEqual(["completed", "completed"]);
      });
      await first.close();
      await second.close();
      world.check(() => expect(world.disk.paths).toEqual([]));
    },
  );
});
