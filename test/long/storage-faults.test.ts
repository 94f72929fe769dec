// What is wrong with a disk is told clearly, costs nothing that was kept, and only concerns the threads it hits.
import { execFileSync } from "node:child_process";
import { appendFileSync, existsSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { mkdir, rename, rm, rmdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost, stdioHost } from "../support/host-process.ts";
import { isHere } from "../support/machine.ts";
import type { WireClient } from "../support/wire-client.ts";

/** A command of the operating system, where it has it. */
function system(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: "ignore" });
}

const mounted: string[] = [];
afterAll(() => {
  for (const folder of mounted) system("umount", "-l", folder);
});

/** A small disk of its own; only root can have one. */
async function smallDisk(size: string): Promise<string> {
  const folder = await freshFolder("disk");
  system("mount", "-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder);
  mounted.push(folder);
  return folder;
}

const hasDisks = isHere(
  "DISKS",
  canMount(),
  "the right to mount, for tests of full and read-only disks (root)",
);

function canMount(): boolean {
  try {
    system("unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt");
    return true;
  } catch {
    return false;
  }
}

/** A home with one thread of three turns, and no host on it. */
async function storedThread(home: string): Promise<{ threadId: string; path: string; turns: string[] }> {
  const { host, client } = await stdioHost({ home });
  const threadId = await client.startThread();
  const turns: string[] = [];
  for (const text of ["one", "two", "three"]) turns.push(await client.turn(threadId, text));
  const { path } = (await client.call("thread/read", { threadId })).thread;
  client.end();
  await host.exited;
  return { threadId, path, turns };
}

async function turnIds(client: WireClient, threadId: string): Promise<string[]> {
  const { thread } = await client.call("thread/read", { threadId, includeTurns: true });
  return thread.turns.map(({ id }: { id: string }) => id);
}

async function ends(host: HostProcess, client: WireClient): Promise<void> {
  client.end();
  expect(await host.exited).toEqual({ code: 0, signal: null });
}

describe("a home that cannot be written to", () => {
  it.runIf(hasDisks)("[FAULT-1] is read; what wants to write is refused", async () => {
    const home = await smallDisk("16m");
    const { threadId, turns } = await storedThread(home);
    system("mount", "-o", "remount,ro", home);
    const { host, client } = await stdioHost({ home });
    expect(await turnIds(client, threadId)).toEqual(turns);
    const { data } = await client.call("thread/list", {});
    expect(data.map(({ id }: { id: string }) => id)).toEqual([threadId]);
    for (const [method, params] of [
      ["thread/start", {}],
      ["thread/resume", { threadId }],
      ["thread/name/set", { threadId, name: "x" }],
      ["thread/archive", { threadId }],
      ["thread/delete", { threadId }],
    ] as const) {
      const { code, data } = await client.refusal(method, params);
      expect([method, code, data.code]).toEqual([method, -32603, "storageFailed"]);
    }
    const ephemeral = await client.startThread({ ephemeral: true });
    await client.turn(ephemeral, "in memory");
    expect(await turnIds(client, threadId)).toEqual(turns);
    await ends(host, client);
  });

  it.runIf(hasDisks)("[LIST-18] is listed as the host that was killed on it has left it", async () => {
    const home = await smallDisk("16m");
    const before = await stdioHost({ home });
    const threadId = await before.client.startThread();
    await before.client.turn(threadId, "one");
    await before.client.call("thread/name/set", { threadId, name: "new name" });
    await before.host.kill();
    system("mount", "-o", "remount,ro", home);
    const { host, client } = await stdioHost({ home });
    const { data } = await client.call("thread/list", {});
    expect(data.map(({ name }: { name: string }) => name)).toEqual(["new name"]);
    await ends(host, client);
  });

  it("[FAULT-1] because it is a file refuses threads, and goes on serving", async () => {
    const home = join(await freshFolder(), "file");
    await writeFile(home, "not a folder");
    const { host, client } = await stdioHost({ home });
    expect((await client.refusal("thread/start", {})).data.code).toBe("storageFailed");
    expect((await client.call("thread/list", {})).data).toEqual([]);
    await client.turn(await client.startThread({ ephemeral: true }), "in memory");
    await ends(host, client);
  });

  it("[FAULT-2] because its folders were removed at run time accepts new threads again", async () => {
    const home = await freshFolder();
    const { host, client } = await stdioHost({ home });
    const threadId = await client.startThread();
    await client.turn(threadId, "one");
    await rename(join(home, "sessions"), join(home, "elsewhere"));
    const fresh = await client.startThread();
    await client.turn(fresh, "after");
    expect(await turnIds(client, fresh)).toHaveLength(1);
    await rm(join(home, "sessions"), { recursive: true });
    await rm(join(home, "live"), { recursive: true });
    const again = await client.startThread();
    await client.turn(again, "after all");
    expect(await turnIds(client, again)).toHaveLength(1);
    await ends(host, client);
  });

  it.runIf(hasDisks)(
    "[FAULT-3] because the disk is full loses nothing and goes on when there is room",
    async () => {
      const home = await smallDisk("4m");
      const { host, client } = await stdioHost({ home });
      const victim = await client.startThread();
      const kept = await client.turn(victim, "before");
      const doomed = await client.startThread();
      await client.turn(doomed, "before");
      const unused = await client.startThread();
      const other = await client.startThread({ ephemeral: true });
      const filler = join(home, "filler");
      for (let size = 1 << 20; size >= 1024; size >>= 1) {
        try {
          for (;;) appendFileSync(filler, Buffer.alloc(size));
        } catch {
          // Full for pieces of this size.
        }
      }
      const refused = await client.refusal("turn/start", {
        threadId: victim,
        input: [{ type: "text", text: "x".repeat(100_000) }],
      });
      expect([refused.code, refused.data.code, refused.data.retryable]).toEqual([
        -32603,
        "storageFailed",
        true,
      ]);
      await client.waitFor(
        ({ method, params }) =>
          method === "thread/status/changed" &&
          params.threadId === victim &&
          params.status.type === "systemError",
        "systemError",
      );
      // The last page of the host's starts may have room for a few more.
      let started = await client.request("thread/start", {});
      for (let tries = 10; started.error === undefined && tries > 0; tries--)
        started = await client.request("thread/start", {});
      expect(started.error?.data?.code).toBe("storageFailed");
      expect((await client.refusal("thread/delete", { threadId: doomed })).data.code).toBe("storageFailed");
      expect(await client.call("thread/unload", { threadId: unused })).toEqual({ status: "unloaded" });
      expect((await client.refusal("thread/resume", { threadId: unused })).data.code).toBe("storageFailed");
      // Others go on, and what was kept is read.
      await client.turn(other, "in memory");
      expect(await turnIds(client, victim)).toEqual([kept]);
      await rm(filler);
      // The thread is still loaded: the next request opens its journal again.
      const { thread } = await client.call("thread/resume", { threadId: victim });
      expect(thread.turns.map(({ id }: { id: string }) => id)).toEqual([kept]);
      const next = await client.turn(victim, "after");
      expect(await turnIds(client, victim)).toEqual([kept, next]);
      await client.call("thread/delete", { threadId: doomed });
      await client.call("thread/resume", { threadId: unused });
      await client.turn(unused, "after");
      await ends(host, client);
    },
  );
});

describe("a damaged file", () => {
  it.each(["garbage", "truncated", "empty"])(
    "[FAULT-4] of the index (%s) is made anew from the journals",
    async (how) => {
      const home = await freshFolder();
      const { threadId } = await storedThread(home);
      const index = readdirSync(home).find((name) => name.endsWith(".sqlite"))!;
      const bytes = readFileSync(join(home, index));
      const damaged = {
        garbage: Buffer.alloc(bytes.length, "not a database "),
        truncated: bytes.subarray(0, Math.floor(bytes.length / 2)),
        empty: Buffer.alloc(0),
      }[how]!;
      writeFileSync(join(home, index), damaged);
      const { host, client } = await stdioHost({ home });
      const { data } = await client.call("thread/list", {});
      expect(data.map(({ id }: { id: string }) => id)).toEqual([threadId]);
      const found = await spawnHost({ home });
      const searcher = found.stdio();
      await searcher.initialize({ experimentalApi: true });
      expect((await searcher.call("thread/search", { searchTerm: "three" })).data).toHaveLength(1);
      await ends(found, searcher);
      await client.call("thread/resume", { threadId });
      await client.turn(threadId, "four");
      await ends(host, client);
    },
  );

  it("[FAULT-5] with a torn last line is cut there, and says so", async () => {
    const home = await freshFolder();
    const { threadId, path, turns } = await storedThread(home);
    const whole = readFileSync(path);
    writeFileSync(path, Buffer.concat([whole, Buffer.from('{"seq":999,"epoch":1,"prev":998,"rec')]));
    const { host, client } = await stdioHost({ home });
    expect(await turnIds(client, threadId)).toEqual(turns);
    await client.call("thread/resume", { threadId });
    await host.logged(({ msg }) => msg === "cut a torn last line");
    const next = await client.turn(threadId, "four");
    expect(await turnIds(client, threadId)).toEqual([...turns, next]);
    expect(readFileSync(path, "utf8")).not.toContain('"seq":999');
    await ends(host, client);
  });

  it("[FAULT-11] that another program writes to accepts no more writes until it is loaded again", async () => {
    const { client, host } = await stdioHost();
    const threadId = await client.startThread();
    const kept = await client.turn(threadId, "one");
    const { path } = (await client.call("thread/read", { threadId })).thread;
    appendFileSync(path, "something\n");
    const refused = await client.refusal("thread/name/set", { threadId, name: "two" });
    expect(refused.data.code).toBe("storageFailed");
    expect(refused.message).toContain("another process has appended to the journal");
    expect(readFileSync(path, "utf8").endsWith("something\n")).toBe(true);
    const { thread } = await client.call("thread/read", { threadId });
    expect([thread.status.type, thread.name]).toEqual(["systemError", null]);
    await client.call("thread/unload", { threadId });
    await client.call("thread/resume", { threadId });
    const next = await client.turn(threadId, "and on");
    expect(await turnIds(client, threadId)).toEqual([kept, next]);
    await ends(host, client);
  });

  it("[FAULT-6] with bad lines in the middle is read without them, and not changed", async () => {
    const home = await freshFolder();
    const { threadId, path, turns } = await storedThread(home);
    const lines = readFileSync(path, "utf8").split("\n");
    lines.splice(2, 0, "{nonsense", '{"seq":"x"}', "null", "[]", "\u0000\u0001", "");
    writeFileSync(path, lines.join("\n"));
    const { host, client } = await stdioHost({ home });
    expect(await turnIds(client, threadId)).toEqual(turns);
    await host.logged(({ msg, count }) => /left out/.test(String(msg)) && count === 5);
    const { thread } = await client.call("thread/resume", { threadId });
    expect(thread.turns).toHaveLength(3);
    await client.turn(threadId, "four");
    expect(readFileSync(path, "utf8")).toContain("{nonsense");
    await ends(host, client);
  });

  it("[FAULT-7] with a BOM, CRLF or U+2028 is read like any other", async () => {
    const home = await freshFolder();
    const { threadId, path, turns } = await storedThread(home);
    const text = readFileSync(path, "utf8").replaceAll("\n", "\r\n").replaceAll('"two"', '"tw\u2028o"');
    writeFileSync(path, `\ufeff${text}`);
    const { host, client } = await stdioHost({ home });
    expect(await turnIds(client, threadId)).toEqual(turns);
    await client.call("thread/resume", { threadId });
    const next = await client.turn(threadId, "four");
    const { data } = await client.call("thread/turns/list", { threadId, sortDirection: "asc" });
    expect(data.map(({ id }: { id: string }) => id)).toEqual([...turns, next]);
    expect(data[1].items[0].content[0].text).toBe("tw\u2028o");
    await ends(host, client);
  });

  it("[FAULT-8] that is no journal at all hurts no other thread", async () => {
    const home = await freshFolder();
    const { threadId, path, turns } = await storedThread(home);
    const broken = threadId.replace(/.{4}$/, "0000");
    writeFileSync(path.replace(threadId, broken), "nothing of this is a commit\n".repeat(1000));
    await mkdir(path.replace(threadId, threadId.replace(/.{4}$/, "1111")));
    for (const name of readdirSync(home)) if (name.includes(".sqlite")) await rm(join(home, name));
    const { host, client } = await stdioHost({ home });
    const { data } = await client.call("thread/list", {});
    expect(data.map(({ id }: { id: string }) => id)).toEqual([threadId]);
    expect((await client.refusal("thread/read", { threadId: broken })).data.code).toBe("journalDamaged");
    expect((await client.refusal("thread/resume", { threadId: broken })).data.code).toBe("journalDamaged");
    expect(await turnIds(client, threadId)).toEqual(turns);
    await ends(host, client);
  });
});

describe("an index that cannot be opened", () => {
  /** Names by id. */
  const list = async (client: WireClient): Promise<Record<string, string | null>> => {
    const { data } = await client.call("thread/list", {});
    return Object.fromEntries(data.map(({ id, name }: { id: string; name: string | null }) => [id, name]));
  };
  const search = async (client: WireClient, searchTerm: string): Promise<string[]> => {
    const { data } = await client.call("thread/search", { searchTerm });
    return data.map(({ thread }: { thread: { id: string } }) => thread.id);
  };
  const next = async (home: string) => {
    const host = await spawnHost({ home });
    const client = host.stdio();
    await client.initialize({ experimentalApi: true });
    return { host, client };
  };

  it("[FAULT-20] refuses to delete, keeps its claims, and is up to date for the next host", async () => {
    const home = await freshFolder();
    const before = await next(home);
    const [renamed, deleted] = [await before.client.startThread(), await before.client.startThread()];
    await before.client.turn(renamed, "one");
    await before.client.turn(deleted, "secret");
    await ends(before.host, before.client);
    // A folder in its place: nobody can open that, root neither.
    const index = join(home, readdirSync(home).find((name) => name.endsWith(".sqlite"))!);
    await rename(index, join(home, "aside"));
    await mkdir(index);

    const { host, client } = await next(home);
    await client.call("thread/resume", { threadId: deleted });
    const refused = await client.refusal("thread/delete", { threadId: deleted });
    expect([refused.data.code, refused.data.retryable]).toEqual(["storageFailed", true]);
    // It was refused before anything was done: the thread is still loaded.
    await client.turn(deleted, "another secret");
    await client.call("thread/name/set", { threadId: renamed, name: "new name" });
    const added = await client.startThread();
    await client.turn(added, "two");
    const all = { [renamed]: "new name", [deleted]: null, [added]: null };
    expect(await list(client)).toEqual(all);
    for (const threadId of [added, deleted]) await client.call("thread/unload", { threadId });
    await ends(host, client);
    await host.logged(({ msg }) => /cannot be opened; until it can, it is kept in memory/.test(String(msg)));
    for (const threadId of [renamed, deleted, added])
      expect(readlinkSync(join(home, "live", threadId)), threadId).toMatch(/^[0-9a-f-]{36}$/);

    await rmdir(index);
    await rename(join(home, "aside"), index);
    const after = await next(home);
    await eventually(async () => added in (await list(after.client)), "the index is made good");
    expect(await list(after.client)).toEqual(all);
    await after.client.call("thread/delete", { threadId: deleted });
    expect(await search(after.client, "secret")).toEqual([]);
    await ends(after.host, after.client);
  });
});

describe("two hosts on one home", () => {
  it("[FAULT-9] both read everything; one writes, and the other names the writer in its errors until that one is gone", async () => {
    const home = await freshFolder();
    const [first, second] = [await stdioHost({ home }), await stdioHost({ home })];
    const threadId = await first.client.startThread();
    const turns = [await first.client.turn(threadId, "one")];
    const own = await second.client.startThread();
    await second.client.turn(own, "mine");
    for (const { client } of [first, second]) {
      await eventually(
        async () => (await client.call("thread/list", {})).data.length === 2,
        "both are listed",
      );
      expect(await turnIds(client, threadId)).toEqual(turns);
    }
    // A claim is a link to nowhere that names its host.
    const holder = readlinkSync(join(home, "live", threadId));
    for (const [method, params] of [
      ["thread/resume", {}],
      ["thread/name/set", { name: "x" }],
      ["thread/archive", {}],
      ["thread/delete", {}],
    ] as const) {
      const { message, data } = await second.client.refusal(method, { threadId, ...params });
      expect([method, data.code, data.retryable]).toEqual([method, "heldElsewhere", true]);
      // Clients that know a thread with another writer know it by these words.
      expect(message).toBe(
        `thread ${threadId} already has an active writer: host ${holder} on the same home`,
      );
    }
    // A running turn of the other is seen as far as it is written.
    const running = await first.client.speaking(threadId);
    expect(await turnIds(second.client, threadId)).toEqual([...turns, running]);
    expect((await second.client.refusal("thread/resume", { threadId })).data.code).toBe("heldElsewhere");
    await first.host.kill();
    const { thread } = await second.client.call("thread/resume", { threadId });
    expect(thread.turns.map(({ id, status }: { id: string; status: string }) => [id, status])).toEqual([
      [turns[0], "completed"],
      [running, "interrupted"],
    ]);
    await second.client.turn(threadId, "taken over");
    // What is given back in order can be taken at once.
    await second.client.call("thread/unload", { threadId });
    const third = await stdioHost({ home });
    await eventually(() => !existsSync(join(home, "live", threadId)), "the claim is given back");
    await third.client.call("thread/resume", { threadId });
    expect((await second.client.refusal("thread/resume", { threadId })).data.code).toBe("heldElsewhere");
    await ends(third.host, third.client);
    await ends(second.host, second.client);
  });

  it.each(["SIGTERM", "SIGKILL"] as const)("[FAULT-10] wait for one that ends (%s)", async (signal) => {
    const home = await freshFolder();
    const second = await stdioHost({ home });
    for (let round = 0; round < 3; round++) {
      const first = await stdioHost({ home });
      const threads: string[] = [];
      for (let at = 0; at < 5; at++) {
        threads.push(await first.client.startThread());
        await first.client.turn(threads[at]!, "one");
      }
      await first.client.speaking(threads[0]!);
      first.host.signal(signal);
      // At once: what is on its way out is waited for.
      await Promise.all(threads.map((threadId) => second.client.call("thread/resume", { threadId })));
      await first.host.exited;
    }
    await ends(second.host, second.client);
  });
});
