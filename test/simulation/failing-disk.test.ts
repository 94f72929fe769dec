// A disk that fails costs the thread that it fails, and no other; and what was told stays true.
import { describe, expect } from "vitest";
import { checkIndex } from "../model/aftermath.ts";
import { checkJournals, journals } from "../model/journals.ts";
import { simulate } from "./run.ts";
import type { SimClient } from "./sim-client.ts";
import { HOME } from "./sim-host.ts";

const initialized = async (client: SimClient): Promise<SimClient> => {
  client.rules.onlyReplies = true;
  await client.initialize({ experimentalApi: true });
  return client;
};

const nameOf = async (client: SimClient, threadId: string): Promise<unknown> => {
  const { thread } = await client.call("thread/read", { threadId });
  return (thread as { name: unknown }).name;
};

describe("a disk that fails", () => {
  simulate(
    "under commands that wait for each other takes none of them for done",
    { count: 40, full: 400 },
    async (world) => {
      world.expectError(/EIO/, /storageFailed/, /could not be read or written/);
      const host = await world.start();
      const client = await initialized(host.connect());
      const threadId = await client.startThread();
      await client.call("thread/name/set", { threadId, name: "before" });
      world.disk.fail({
        // An append is tried four times.
        ...world.random.pick([{ op: "sync" }, { op: "append" }, { op: "append", times: 4 }] as const),
        code: "EIO",
        path: (path) => path.includes(threadId),
      });
      const told: string[] = [];
      await Promise.all(
        ["one", "two", "three"].map(async (name) => {
          await world.moment(name);
          await client.call("thread/name/set", { threadId, name }).then(
            () => told.push(name),
            () => {},
          );
        }),
      );
      const other = await client.startThread();
      await client.call("thread/name/set", { threadId: other, name: "the other" });
      await host.close();
      const second = await world.start();
      const next = await initialized(second.connect());
      const name = await nameOf(next, threadId);
      const otherName = await nameOf(next, other);
      world.check(() => {
        expect(["before", "one", "two", "three"]).toContain(name);
        if (told.length > 0) expect(name).not.toBe("before");
      });
      world.check(() => expect(otherName).toBe("the other"));
      await next.call("thread/resume", { threadId });
      await second.close();
      world.check(() => checkJournals(world.disk));
    },
  );

  simulate(
    "under a deletion leaves a thread that can be deleted again, here and elsewhere",
    { count: 40, full: 400 },
    async (world) => {
      world.expectError(/EIO/, /storageFailed/, /could not be read or written/);
      const host = await world.start();
      const client = await initialized(host.connect());
      const threadId = await client.startThread();
      await client.turnEnd(await client.startTurn(threadId, "hello"));
      world.disk.fail({ op: "remove", code: "EIO", path: (path) => path.includes("rollout") });
      const refused = await client.call("thread/delete", { threadId }).then(
        () => undefined,
        (cause: Error) => cause,
      );
      world.check(() => {
        expect(refused?.message).toMatch(/EIO/);
        // It was unloaded for it, which everyone has to know.
        const told = client.frames.filter(({ params }) => params?.threadId === threadId);
        expect(told.slice(-2).map(({ method }) => method)).toEqual([
          "thread/status/changed",
          "thread/closed",
        ]);
      });
      // A claim goes behind the reply. The next host waits for it, but not for a disk as slow as this one may be.
      await world.scheduler.quiet();
      const elsewhere = world.random.pick([client, await initialized((await world.start()).connect())]);
      await elsewhere.call("thread/delete", { threadId });
      world.check(() => expect(journals(world.disk)).toEqual([]));
    },
  );

  simulate(
    "when a new thread's journal is made leaves the thread, which can be used and deleted later",
    { count: 40, full: 400 },
    async (world) => {
      world.expectError(/ENOSPC/);
      const host = await world.start();
      const client = await initialized(host.connect());
      const threadId = await client.startThread();
      const other = await client.startThread();
      const isJournal = (path: string) => path.includes("rollout") && path.includes(threadId);
      world.disk.fail({
        op: world.random.pick(["openAppend", "append"] as const),
        code: "ENOSPC",
        path: isJournal,
        // As often as an append is tried.
        times: 4,
      });
      const name = (to: string) => client.request("thread/name/set", { threadId, name: to });
      const refused = await name("one");
      world.check(() => expect("reply" in refused && refused.reply.error?.message).toMatch(/ENOSPC/));
      await client.call("thread/delete", { threadId: other });
      await client.call("thread/unload", { threadId });
      await client.call("thread/resume", { threadId });
      await name("two");
      const kept = await nameOf(client, threadId);
      world.check(() => expect(kept).toBe("two"));
      await client.call("thread/delete", { threadId });
      await host.close();
      world.check(() => expect(journals(world.disk)).toEqual([]));
    },
  );
});

describe("an index that cannot be opened", () => {
  simulate(
    "[FAULT-20] lets no claim go and no thread be deleted, and is made good by the next host at the latest",
    { count: 40, full: 400 },
    async (world) => {
      const { disk, random } = world;
      const first = await world.start();
      const before = await initialized(first.connect());
      const [renamed, deleted] = [await before.startThread(), await before.startThread()];
      for (const threadId of [renamed, deleted])
        await before.turnEnd(await before.startTurn(threadId, "hello"));
      await first.close();

      const mend = disk.fail({ op: "index", code: "EROFS", times: Number.POSITIVE_INFINITY });
      const second = await world.start();
      const client = await initialized(second.connect());
      if (random.chance(0.5)) await client.call("thread/resume", { threadId: deleted });
      const refused = await client.request("thread/delete", { threadId: deleted });
      await client.call("thread/name/set", { threadId: renamed, name: "new name" });
      const added = await client.startThread();
      await client.turnEnd(await client.startTurn(added, "hello"));
      await client.call("thread/unload", { threadId: added });
      await world.scheduler.quiet();
      world.check(() => {
        expect("reply" in refused && refused.reply.error?.data?.code).toBe("storageFailed");
        for (const threadId of [renamed, added]) expect(disk.paths).toContain(`${HOME}/live/${threadId}`);
      });
      const end = random.pick(["close", "kill", "power", "mend"] as const);
      if (end === "mend") {
        mend();
        await world.sleep(60_000);
        world.check(() => {
          for (const threadId of [renamed, added])
            expect(disk.paths).not.toContain(`${HOME}/live/${threadId}`);
        });
      }
      if (end === "close" || end === "mend") await second.close();
      else second.crash(end);
      mend();

      const third = await world.start();
      await world.scheduler.quiet();
      await checkIndex(world, third);
      const next = await initialized(third.connect());
      await next.call("thread/delete", { threadId: deleted });
      await checkIndex(world, third);
      await third.close();
      const known = await world.index.known();
      world.check(() => {
        expect([...known.keys()].sort()).toEqual([renamed, added].sort());
        expect(known.get(renamed)?.row.thread.name).toBe("new name");
        checkJournals(disk);
      });
    },
  );
});
