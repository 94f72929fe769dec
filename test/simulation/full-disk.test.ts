// What clients can still do while a disk takes nothing, and that all is as before when it does again.
import { describe, expect } from "vitest";
import { checkJournals, journals } from "../model/journals.ts";
import { byMood } from "../model/scripts.ts";
import type { FileOp } from "./disk.ts";
import { simulate } from "./run.ts";
import type { Outcome, SimClient } from "./sim-client.ts";
import type { SimHost } from "./sim-host.ts";
import type { World } from "./world.ts";

const WRITES: readonly FileOp[] = ["openAppend", "append", "replaceText", "truncate"];

async function client(host: SimHost): Promise<SimClient> {
  const one = host.connect();
  one.rules.onlyReplies = true;
  await one.initialize({ experimentalApi: true });
  return one;
}

/** From now on, until the returned function is called. */
function fillDisk({ disk }: World): () => void {
  return disk.fail({ op: WRITES, code: "ENOSPC", times: Number.POSITIVE_INFINITY });
}

function codeOf(outcome: Outcome): unknown {
  return "reply" in outcome ? outcome.reply.error?.data?.code : "lost";
}

describe("a thread that was started before the disk was full", () => {
  simulate(
    "[FAULT-21] can be used as soon as there is room, although it was unloaded meanwhile",
    { count: 30, full: 400 },
    async (world) => {
      world.expectError(/ENOSPC/);
      const host = await world.start();
      const one = await client(host);
      const threadId = await one.startThread();
      const other = await one.startThread();
      const makeRoom = fillDisk(world);
      const outcome = await one.request("thread/unload", { threadId });
      world.check(() => expect(codeOf(outcome)).toBeUndefined());
      await world.scheduler.quiet();
      for (const method of ["thread/resume", "thread/read", "thread/name/set"]) {
        const refused = await one.request(method, { threadId, name: "new" });
        world.check(() => expect([method, codeOf(refused)]).toEqual([method, "storageFailed"]));
      }
      makeRoom();
      const use = world.random.pick(["thread/resume", "thread/read", "thread/name/set"]);
      await one.call(use, { threadId, name: "new" });
      await one.call("thread/resume", { threadId });
      await one.turnEnd(await one.startTurn(threadId, "hello"));
      await one.turnEnd(await one.startTurn(other, "hello"));
      await host.close();
      world.check(() => {
        checkJournals(world.disk);
        expect(journals(world.disk)).toHaveLength(2);
      });
    },
  );

  simulate("[FAULT-21] is there after the next start", { count: 30, full: 400 }, async (world) => {
    world.expectError(/ENOSPC/);
    const host = await world.start();
    const one = await client(host);
    const threadId = await one.startThread();
    const makeRoom = fillDisk(world);
    await one.call("thread/unload", { threadId });
    await world.scheduler.quiet();
    if (world.random.chance(0.5)) await host.close();
    else host.crash("kill");
    makeRoom();
    const next = await world.start();
    const two = await client(next);
    await two.call("thread/resume", { threadId });
    await two.turnEnd(await two.startTurn(threadId, "hello"));
    await next.close();
    world.check(() => checkJournals(world.disk));
  });
});

describe("a thread whose sync failed in a turn", () => {
  simulate(
    "[FAULT-22] is freed by thread/unload, with and without interrupt",
    { count: 30, full: 400 },
    async (world) => {
      world.expectError(/EIO/, /could not be read or written/);
      world.model.scripts = byMood;
      const host = await world.start();
      const one = await client(host);
      const threadId = await one.startThread();
      await one.turnEnd(await one.startTurn(threadId, "quick 1"));
      const turnId = await one.startTurn(threadId, "hang 2");
      world.disk.fail({ op: "sync", code: "EIO", path: (path) => path.includes(threadId) });
      const how = world.random.pick(["first", "by itself"] as const);
      // It fails because of another request, or because of the one that unloads.
      if (how === "first") {
        const refused = await one.request("turn/interrupt", { threadId, turnId });
        world.check(() => expect(codeOf(refused)).toBe("storageFailed"));
      }
      const interrupt = how === "by itself" || world.random.chance(0.7);
      const { status } = await one.call("thread/unload", { threadId, interrupt });
      world.check(() => expect(status).toBe("unloaded"));
      const { data } = await one.call("thread/loaded/list");
      world.check(() => expect(data).toEqual([]));
      await one.call("thread/resume", { threadId });
      await one.turnEnd(await one.startTurn(threadId, "quick 3"));
      await host.close();
      world.check(() => checkJournals(world.disk));
    },
  );
});

describe("a disk that is full for a moment", () => {
  simulate(
    "[FAULT-27] ends the running turn with an error, and the thread goes on with the next request",
    { count: 60, full: 600 },
    async (world) => {
      const { random } = world;
      world.expectError(/ENOSPC/, /EIO/, /could not be read or written/);
      world.model.scripts = byMood;
      const host = await world.start();
      const one = await client(host);
      const threadId = await one.startThread();
      await one.turnEnd(await one.startTurn(threadId, "quick 1"));
      const turnId = await one.startTurn(threadId, random.pick(["hang 2", "slow 2", "ask 2"]));
      await world.moment("the turn");
      // A sync that failed once may leave its commit in the journal.
      const mend = random.chance(0.5)
        ? fillDisk(world)
        : world.disk.fail({ op: "sync", code: "EIO", path: (path) => path.includes(threadId) });
      // Writes something, if the turn itself has nothing to write.
      await one.request("turn/interrupt", { threadId, turnId });
      await one.turnEnd(turnId);
      mend();
      const other = random.chance(0.5) ? await client(host) : one;
      if (other !== one || random.chance(0.3)) await other.call("thread/resume", { threadId });
      await other.turnEnd(await other.startTurn(threadId, "quick 3"));
      world.check(() => {
        const ends = one.frames.flatMap(({ method, params }) => {
          const turn = method === "turn/completed" ? (params!.turn as { id: string; status: string }) : null;
          return turn?.id === turnId ? [turn.status] : [];
        });
        expect(ends).toHaveLength(1);
        const errors = one.frames.filter(({ method }) => method === "error");
        expect(errors).toHaveLength(ends[0] === "failed" ? 1 : 0);
      });
      const { thread } = await one.call("thread/read", { threadId, includeTurns: true });
      const { turns, status } = thread as { turns: { status: string }[]; status: { type: string } };
      world.check(() => {
        expect(turns.map((turn) => turn.status)).not.toContain("inProgress");
        expect([turns.length, status.type]).toEqual([3, "idle"]);
      });
      await host.close();
      world.check(() => checkJournals(world.disk));
    },
  );
});

describe("a disk that fails anywhere", () => {
  const OPS: readonly FileOp[] = [
    ...["readText", "openAppend", "openRead", "list", "exists", "rename", "remove"],
    ...["claim", "claimed", "append", "sync", "truncate", "read", "index"],
  ] as FileOp[];
  const input = [{ type: "text", text: "hello" }];
  const METHODS: Readonly<Record<string, object>> = {
    "thread/delete": {},
    "thread/archive": {},
    "thread/unarchive": {},
    "thread/unload": {},
    "thread/resume": {},
    "thread/start": {},
    "thread/fork": {},
    "thread/read": { includeTurns: true },
    "thread/list": {},
    "thread/search": { searchTerm: "hello" },
    "thread/turns/list": {},
    "thread/items/list": {},
    "thread/name/set": { name: "a name" },
    "thread/metadata/update": { gitInfo: { branch: "b" } },
    "thread/rollback": { numTurns: 1 },
    "thread/inject_items": {
      items: [{ type: "message", role: "user", content: [{ type: "input_text", text: "put in" }] }],
    },
    "thread/queue/add": { input, clientUserMessageId: "queued" },
    "thread/goal/set": { objective: "an objective" },
    "thread/grants/list": {},
    "thread/files/restore": { beforeTurnId: "none" },
    "thread/shellCommand": { command: "echo" },
    "thread/compact/start": {},
    "threadSection/create": { name: "a section" },
    "threadSection/list": {},
    "turn/start": { input },
  };

  simulate(
    "[FAULT-23] is told as such, and never as a fault of the host",
    { count: 60, full: 3000 },
    async (world) => {
      const { random } = world;
      world.expectError(/EIO/, /could not be read or written/, /systemError/);
      const host = await world.start();
      const one = await client(host);
      const threads = [await one.startThread(), await one.startThread(), await one.startThread()];
      await one.turnEnd(await one.startTurn(threads[0]!, "hello"));
      await one.turnEnd(await one.startTurn(threads[1]!, "hello"));
      if (random.chance(0.5)) await one.call("thread/unload", { threadId: threads[1] });
      const op = random.pick(OPS);
      const mend = world.disk.fail({
        op,
        code: "EIO",
        skip: random.pick([0, 0, 0, 1, 2, 3, 5]),
        times: random.pick([1, 2, Number.POSITIVE_INFINITY]),
      });
      for (let asks = 3; asks > 0; asks--) {
        const [method, params] = random.pick(Object.entries(METHODS));
        const outcome = await one.request(method, { threadId: random.pick(threads), ...params });
        const said = `${method} while ${op} fails: ${String(codeOf(outcome))}`;
        // There is no other host.
        const wrong = ["internal", "threadBroken", "heldElsewhere"];
        world.check(() => expect(wrong, said).not.toContain(codeOf(outcome)));
      }
      mend();
      await world.scheduler.quiet();
      await host.close();
    },
  );
});
