// A host whose claim on a thread goes to another one, as if it had been taken for dead, lets the thread go.
import { join } from "node:path";
import { describe, expect } from "vitest";
import { readConfig } from "../../packages/host/src/config/config.ts";
import { sessionPath } from "../../packages/host/src/store/files/journal-paths.ts";
import type { ToolSource } from "../../packages/host/src/tool/tool.ts";
import { THIEF, theirCommit } from "../store/hosts.ts";
import { agent, deedTool } from "./deeds.ts";
import { type Disk, Inode } from "./disk.ts";
import { fakePlatform } from "./fake-platform.ts";
import { familyOf } from "./family.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import { HOME, type SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

const DESK = "http://desk.example";
const CLOSED = [
  ["thread/status/changed", { type: "notLoaded" }],
  ["thread/closed", undefined],
];

/** Another host, which takes threads over. */
class Thief {
  readonly files: ReturnType<typeof fakePlatform>["files"];
  readonly #liveness: ReturnType<typeof fakePlatform>["liveness"];

  constructor(world: World) {
    ({ files: this.files, liveness: this.#liveness } = fakePlatform(world, { name: "outside", alive: true }));
  }

  /** Takes the claim. The host that had it does not see that before it looks. */
  async take(threadId: string): Promise<void> {
    const claim = join(HOME, "live", threadId);
    await this.files.remove(claim);
    await this.announce();
    await this.files.claim(claim, THIEF);
  }

  async announce(): Promise<void> {
    await this.#liveness.announce(join(HOME, "live", `${THIEF}.lock`));
  }

  /** Takes the claim and writes, within one step: no other host does anything in between. */
  takeAndWrite(disk: Disk, threadId: string, line: string): void {
    const claim = join(HOME, "live", threadId);
    const inode = new Inode(true);
    inode.bytes = Buffer.from(THIEF);
    disk.remove(claim);
    disk.link(claim, inode);
    disk.get(sessionPath(HOME, threadId))!.append(Buffer.from(line));
  }

  async write(threadId: string, line: string): Promise<void> {
    const file = await this.files.openAppend(sessionPath(HOME, threadId));
    await file.append(Buffer.from(line));
    await file.close();
  }

  holder(threadId: string): Promise<string | undefined> {
    return this.files.claimed(join(HOME, "live", threadId));
  }

  journal(threadId: string): Promise<string | undefined> {
    return this.files.readText(sessionPath(HOME, threadId));
  }
}

async function connected(host: SimHost): Promise<SimClient> {
  const client = host.connect();
  client.rules.onlyReplies = true;
  await client.initialize({ experimentalApi: true });
  return client;
}

/** What clients get about a thread, from a frame on. */
function told(client: SimClient, threadId: string, from: number): readonly unknown[] {
  return client.frames
    .slice(from)
    .filter(({ params }) => params?.threadId === threadId)
    .map(({ method, params }) => [method, (params as { status?: unknown }).status]);
}

describe("a thread that another host has taken over", () => {
  simulate(
    "[MOVED-1] is parked, and closed for the clients of this one",
    { count: 20, full: 300 },
    async (world) => {
      const closings: unknown[] = [];
      world.network.servers.set(DESK, async ({ path, body }) => {
        if (path === "/close_thread") closings.push(body.thread_id);
        return { status: path === "/close_thread" ? 200 : 404 };
      });
      const host = await world.start({ config: readConfig({ rap_servers: { desk: { url: DESK } } }) });
      const client = await connected(host);
      const threadId = await client.startThread();
      await client.call("thread/name/set", { threadId, name: "mine" });
      const other = await client.startThread();

      const thief = new Thief(world);
      await thief.take(threadId);
      await thief.write(threadId, theirCommit());
      const written = await thief.journal(threadId);

      // Several at once: what waits behind the one that finds out is not lost in silence, either.
      const from = client.frames.length;
      const replies = await Promise.all(
        ["one", "two"].map((name) => client.request("thread/name/set", { threadId, name })),
      );
      await world.scheduler.quiet();
      const { data: loaded } = await client.call("thread/loaded/list");
      const { thread } = await client.call("thread/read", { threadId });
      await client.call("thread/name/set", { threadId: other, name: "another thread goes on" });
      world.check(() => {
        for (const reply of replies) expect("reply" in reply && reply.reply.error).toBeTruthy();
        expect(told(client, threadId, from)).toEqual(CLOSED);
        expect(loaded).toEqual([other]);
        expect(thread).toMatchObject({ name: "theirs", heldBy: THIEF });
      });
      await host.close();
      const [after, holder] = [await thief.journal(threadId), await thief.holder(threadId)];
      world.check(() => {
        // Nothing was written, and the claim is the other host's as before. Only the other thread was closed.
        expect(after).toBe(written);
        expect(holder).toBe(THIEF);
        expect(closings).toEqual([other]);
      });
    },
  );

  simulate(
    "[MOVED-1] is parked, too, if the other host writes while a failed write is tried again",
    { count: 10, full: 300 },
    async (world) => {
      const host = await world.start();
      const client = await connected(host);
      const threadId = await client.startThread();
      await client.call("thread/name/set", { threadId, name: "mine" });
      await world.scheduler.quiet();
      const thief = new Thief(world);
      await thief.announce();
      const from = client.frames.length;
      let isTaken = false;
      const path = (path: string): boolean => {
        if (!path.includes(threadId)) return false;
        // Right after the step in which the write fails, and before the next one.
        if (!isTaken) queueMicrotask(() => thief.takeAndWrite(world.disk, threadId, theirCommit()));
        isTaken = true;
        return true;
      };
      world.disk.fail({ op: "append", code: "EIO", path });
      const refused = await client.request("thread/name/set", { threadId, name: "too late" });
      await world.scheduler.quiet();
      const { thread } = await client.call("thread/read", { threadId });
      world.check(() => {
        expect("reply" in refused && refused.reply.error).toBeTruthy();
        expect(told(client, threadId, from)).toEqual(CLOSED);
        expect(thread).toMatchObject({ name: "theirs", heldBy: THIEF });
      });
      await host.close();
    },
  );

  simulate(
    "[MOVED-2] has no call performed here that was dispatched before",
    { count: 20, full: 300 },
    async (world) => {
      const done: number[] = [];
      const thief = new Thief(world);
      const isTaken = world.random.chance(0.8);
      let looks = 0;
      const tools: ToolSource = {
        tools: () => [deedTool(done)],
        ready(thread, call) {
          // The first look is for the call's first step, the second one is made when its dispatch is written.
          if (call === undefined || ++looks !== 2 || !isTaken) return undefined;
          return thief.take(thread.facts.id);
        },
      };
      world.model.scripts = agent;
      const host = await world.start({ tools });
      const client = await connected(host);
      const threadId = await client.startThread();
      const from = client.frames.length;
      await client.request("turn/start", { threadId, input: [{ type: "text", text: "act 1" }] });
      await world.scheduler.quiet();
      const [after, holder] = [await thief.journal(threadId), await thief.holder(threadId)];
      world.check(() => {
        expect(looks).toBeGreaterThanOrEqual(2);
        expect(done).toEqual(isTaken ? [] : [1]);
        if (!isTaken) return;
        // What the model's answer brings may still be written before the other host writes something.
        expect(after).toContain("toolDispatched");
        expect(after).not.toContain("toolAnswered");
        expect(holder).toBe(THIEF);
        expect(told(client, threadId, from).slice(-2)).toEqual(CLOSED);
      });
      await host.close();
    },
  );

  simulate(
    "[MOVED-4] has its model not called here again after a failure",
    { count: 20, full: 300 },
    async (world) => {
      const isTaken = world.random.chance(0.8);
      const lost = [
        { do: "pause", ms: 60_000 },
        { do: "fail", message: "lost", retries: 3 },
      ] as const;
      world.model.scripts = (_request, _random, call) => ({
        steps: call === 1 ? lost : [{ do: "say", pieces: ["back"] }],
      });
      const host = await world.start();
      const client = await connected(host);
      const threadId = await client.startThread();
      const from = client.frames.length;
      await client.startTurn(threadId);
      const thief = new Thief(world);
      if (isTaken) await thief.take(threadId);
      await world.sleep(10 * 60_000);
      await world.scheduler.quiet();
      const holder = await thief.holder(threadId);
      world.check(() => {
        expect(world.model.calls).toBe(isTaken ? 1 : 2);
        if (!isTaken) return;
        expect(holder).toBe(THIEF);
        expect(told(client, threadId, from).slice(-2)).toEqual(CLOSED);
      });
      await host.close();
    },
  );

  simulate(
    "[MOVED-3] takes its helpers with it: they are parked, and free for the other host",
    { count: 20, full: 300 },
    async (world) => {
      const closings: unknown[] = [];
      world.network.servers.set(DESK, async ({ path, body }) => {
        if (path === "/close_thread") closings.push(body.thread_id);
        return { status: path === "/close_thread" ? 200 : 404 };
      });
      const namespace = "multi_agent_v1";
      const spawn = { do: "call", name: "spawn_agent", namespace, args: { message: "a task" } } as const;
      // The helper is in the middle of an answer, or has said something and is idle.
      const hangs = world.random.chance(0.5);
      world.model.scripts = ({ context }) => {
        const said = JSON.stringify(context);
        if (!said.includes("begin"))
          return { steps: hangs ? [{ do: "hang" }] : [{ do: "say", pieces: ["did it"] }] };
        const isSpawned = context.some(({ type }) => type === "toolOutput");
        return { steps: isSpawned ? [{ do: "say", pieces: ["done"] }] : [spawn] };
      };
      const host = await world.start({ config: readConfig({ rap_servers: { desk: { url: DESK } } }) });
      const client = await connected(host);
      const threadId = await client.startThread();
      const turnId = await client.startTurn(threadId, "begin");
      await client.turnEnd(turnId);
      await world.scheduler.quiet();
      const childId = [...familyOf(world, threadId).children.keys()][0]!;
      const thief = new Thief(world);
      await thief.take(threadId);
      const { data: before } = await client.call("thread/loaded/list");
      const written = await thief.journal(childId);
      const last = JSON.parse((await thief.journal(threadId))!.trimEnd().split("\n").at(-1)!) as {
        readonly seq: number;
      };
      const records = [{ type: "renamed", at: 1, name: "theirs" }];
      const commit = { seq: last.seq + 1, epoch: 1, prev: last.seq, records };
      await thief.write(threadId, `${JSON.stringify(commit)}\n`);

      const from = client.frames.length;
      await client.request("thread/name/set", { threadId, name: "too late" });
      await world.scheduler.quiet();
      const { data: loaded } = await client.call("thread/loaded/list");
      const [after, holder] = [await thief.journal(childId), await thief.holder(childId)];
      world.check(() => {
        expect([...(before as string[])].sort()).toEqual([threadId, childId].sort());
        expect(loaded).toEqual([]);
        expect(told(client, childId, from).slice(-2)).toEqual(CLOSED);
        expect(told(client, threadId, from).slice(-2)).toEqual(CLOSED);
        // Nothing was written of the helper, its claim is free, and no tool server heard of any of it.
        expect(after).toBe(written);
        expect(holder).toBeUndefined();
        expect(closings).toEqual([]);
      });
      await host.close();
    },
  );
});
