// How a thread comes to be not loaded, or not there: unsubscribe, unload, archive, delete.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { filesBelow, freshFolder, tracesOf } from "../support/folder.ts";
import { type HostProcess, spawnHost, stdioHost } from "../support/host-process.ts";
import { story } from "../support/story.ts";
import type { WireClient } from "../support/wire-client.ts";

const NOBODY = "01a1e0d3-0000-7000-8000-000000000000";
const SOCKET = ["--listen", "ws://127.0.0.1:0"];
const UNLOADED = ["thread/status/changed notLoaded", "thread/closed"];

let host: HostProcess;
let client: WireClient;
let plain: WireClient;
beforeAll(async () => {
  host = await spawnHost({ args: SOCKET });
  client = await host.join(undefined, { experimentalApi: true });
  plain = await host.join();
});

/** What came for a thread since a point, once the host has nothing more to say. */
async function since(one: WireClient, from: number, threadId: string): Promise<string[]> {
  await one.request("thread/loaded/list", {}, "fence");
  return story(one.frames.slice(from), threadId).filter((word) => !/fence|delta$/.test(word));
}

describe("thread/unload", () => {
  it("[UNLOAD-1] unloads, replies, then notifies every client of notLoaded and closed", async () => {
    const threadId = await client.startThread();
    const turnId = await client.turn(threadId, "one");
    await plain.call("thread/loaded/list");
    const [mine, theirs] = [client.frames.length, plain.frames.length];
    const { result } = await client.request("thread/unload", { threadId }, "unload");
    expect(result).toEqual({ status: "unloaded" });
    await plain.about(threadId, "thread/closed", theirs);
    expect(await since(client, mine, threadId)).toEqual(["reply unload", ...UNLOADED]);
    expect(await since(plain, theirs, threadId)).toEqual(UNLOADED);
    expect((await client.call("thread/loaded/list")).data).not.toContain(threadId);
    expect((await client.refusal("turn/start", { threadId, input: [] })).message).toBe(
      `thread not found: ${threadId}`,
    );
    const { thread } = await client.call("thread/resume", { threadId });
    expect(thread.turns).toMatchObject([{ id: turnId, status: "completed" }]);
  });

  it("[UNLOAD-2] has nothing to do for a thread that is not loaded, or does not exist", async () => {
    const threadId = await client.startThread();
    await client.call("thread/unload", { threadId });
    await plain.about(threadId, "thread/closed");
    const from = plain.frames.length;
    for (const id of [threadId, NOBODY]) {
      expect(await plain.call("thread/unload", { threadId: id })).toEqual({ status: "notLoaded" });
    }
    expect(await since(plain, from, threadId)).not.toContain("thread/closed");
    expect(client.told("thread/closed").filter(({ params }) => params.threadId === threadId)).toHaveLength(1);
  });

  it("[UNLOAD-3] is refused while a turn runs, before anything is said of other subscribers", async () => {
    const threadId = await client.startThread();
    await plain.call("thread/resume", { threadId });
    const turnId = await client.speaking(threadId);
    expect(await plain.call("thread/unload", { threadId })).toEqual({ status: "active" });
    expect(await client.call("thread/unload", { threadId })).toMatchObject({
      status: "active",
      blockedBy: { turnId, otherSubscribers: 1 },
    });
    expect((await plain.refusal("thread/unload", { threadId, interrupt: true })).data.code).toBe(
      "experimentalRequired",
    );
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnCompleted(turnId);
    expect(client.told("thread/closed").filter(({ params }) => params.threadId === threadId)).toEqual([]);
    expect(await plain.call("thread/unload", { threadId })).toEqual({ status: "otherSubscribers" });
    expect(await client.call("thread/unload", { threadId })).toMatchObject({
      status: "otherSubscribers",
      blockedBy: { turnId: null, otherSubscribers: 1 },
    });
    await plain.call("thread/unsubscribe", { threadId });
    expect(await client.call("thread/unload", { threadId })).toEqual({ status: "unloaded" });
  });

  it("[UNLOAD-4] by a client that is not subscribed counts all subscribers", async () => {
    const threadId = await client.startThread();
    expect(await plain.call("thread/unload", { threadId })).toEqual({ status: "otherSubscribers" });
    await client.call("thread/unsubscribe", { threadId });
    expect(await plain.call("thread/unload", { threadId })).toEqual({ status: "unloaded" });
  });

  it("[UNLOAD-5] with interrupt ends the turn first", async () => {
    const threadId = await client.startThread();
    const turnId = await client.speaking(threadId);
    const from = client.frames.length;
    const { result } = await client.request("thread/unload", { threadId, interrupt: true }, "unload");
    expect(result).toEqual({ status: "unloaded" });
    await client.about(threadId, "thread/closed", from);
    expect(await since(client, from, threadId)).toEqual([
      "thread/status/changed idle",
      "turn/completed",
      "reply unload",
      ...UNLOADED,
    ]);
    const { params } = await client.turnCompleted(turnId);
    expect(params.turn.status).toBe("interrupted");
  });

  it("[UNLOAD-5] with interrupt leaves the turn alone while others follow the thread", async () => {
    const threadId = await client.startThread();
    await plain.call("thread/resume", { threadId });
    const turnId = await client.speaking(threadId);
    expect(await client.call("thread/unload", { threadId, interrupt: true })).toMatchObject({
      status: "otherSubscribers",
      blockedBy: { turnId, otherSubscribers: 1 },
    });
    expect((await client.call("thread/read", { threadId })).thread.status.type).toBe("active");
    await plain.call("thread/unsubscribe", { threadId });
    expect(await client.call("thread/unload", { threadId, interrupt: true })).toEqual({ status: "unloaded" });
  });

  it("[UNLOAD-6] asked by many at once happens once, and each load is closed exactly once", async () => {
    const threadId = await client.startThread();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => client.call("thread/unload", { threadId })),
    );
    const count = (status: string): number => answers.filter((answer) => answer.status === status).length;
    expect([count("unloaded"), count("notLoaded")]).toEqual([1, 19]);
    for (let load = 0; load < 10; load++) {
      const resume = client.request("thread/resume", { threadId, excludeTurns: true });
      const unload = client.request("thread/unload", { threadId });
      expect((await resume).error).toBeUndefined();
      expect((await unload).result.status).toBe("unloaded");
    }
    await client.call("thread/loaded/list");
    expect(client.told("thread/closed").filter(({ params }) => params.threadId === threadId)).toHaveLength(
      11,
    );
  });
});

describe("thread/unsubscribe", () => {
  it("[UNLOAD-7] replies whether there was a subscription, and turns are no longer notified", async () => {
    const threadId = await client.startThread();
    expect(await plain.call("thread/unsubscribe", { threadId })).toEqual({ status: "notSubscribed" });
    expect(await client.call("thread/unsubscribe", { threadId })).toEqual({ status: "unsubscribed" });
    expect(await client.call("thread/unsubscribe", { threadId })).toEqual({ status: "notSubscribed" });
    expect(await client.call("thread/unsubscribe", { threadId: NOBODY })).toEqual({ status: "notLoaded" });
    // It stays loaded, because this is a socket; a turn by one who does not follow tells only the status.
    const from = client.frames.length;
    await client.request("turn/start", { threadId, input: [{ type: "text", text: "x" }] }, "turn");
    await client.waitFor(
      ({ method, params }) => method === "thread/status/changed" && params.status.type === "idle",
      "idle",
      from,
    );
    expect(await since(client, from, threadId)).toEqual([
      "reply turn",
      "thread/status/changed active",
      "thread/status/changed idle",
    ]);
    await client.call("thread/unload", { threadId });
  });
});

describe("thread/archive and thread/unarchive", () => {
  it("[STORE-1] move the journal, and notify of archived in place of closed", async () => {
    const threadId = await client.startThread();
    await client.turn(threadId, "keep me");
    const { path } = (await client.call("thread/read", { threadId })).thread;
    let from = client.frames.length;
    await client.request("thread/archive", { threadId }, "archive");
    await client.about(threadId, "thread/archived", from);
    expect(await since(client, from, threadId)).toEqual([
      "thread/status/changed notLoaded",
      "reply archive",
      "thread/archived",
    ]);
    await plain.about(threadId, "thread/archived");
    const moved = join(host.home, "archived_sessions", basename(path));
    expect([existsSync(path), existsSync(moved)]).toEqual([false, true]);
    const ids = async (params: object): Promise<string[]> =>
      (await client.call("thread/list", { limit: 100, ...params })).data.map(({ id }: { id: string }) => id);
    expect(await ids({})).not.toContain(threadId);
    expect(await ids({ archived: true })).toContain(threadId);
    const read = await client.call("thread/read", { threadId, includeTurns: true });
    expect(read.thread).toMatchObject({ path: moved, turns: [{ status: "completed" }] });
    expect((await client.refusal("thread/archive", { threadId })).message).toBe(
      `no rollout found for thread id ${threadId}`,
    );
    for (const method of ["thread/resume", "thread/fork"] as const) {
      expect(await client.refusal(method, { threadId })).toMatchObject({
        message: `session ${threadId} is archived. Run \`codex unarchive ${threadId}\` to unarchive it first.`,
        data: { code: "archived" },
      });
    }
    expect((await client.call("thread/loaded/list")).data).not.toContain(threadId);

    from = client.frames.length;
    const { result } = await client.request("thread/unarchive", { threadId }, "unarchive");
    await client.about(threadId, "thread/unarchived", from);
    expect(await since(client, from, threadId)).toEqual(["reply unarchive", "thread/unarchived"]);
    expect(result.thread).toMatchObject({ id: threadId, path, status: { type: "notLoaded" } });
    expect([existsSync(path), existsSync(moved)]).toEqual([true, false]);
    expect(await ids({ archived: true })).not.toContain(threadId);
    expect(await ids({})).toContain(threadId);
    for (const id of [threadId, NOBODY]) {
      expect((await client.refusal("thread/unarchive", { threadId: id })).message).toBe(
        `no archived rollout found for thread id ${id}`,
      );
    }
    const resumed = await client.call("thread/resume", { threadId });
    expect(resumed.thread.turns).toHaveLength(1);
    // A refusal leaves a loaded thread as it is.
    from = client.frames.length;
    expect((await client.refusal("thread/unarchive", { threadId })).data.code).toBe("notArchived");
    expect((await since(client, from, threadId)).filter((word) => !word.startsWith("error"))).toEqual([]);
    expect((await client.call("thread/loaded/list")).data).toContain(threadId);
  });

  it("[STORE-2] end a turn that runs first, and end every subscription", async () => {
    const threadId = await client.startThread();
    await plain.call("thread/resume", { threadId });
    const turnId = await client.speaking(threadId);
    const from = client.frames.length;
    await client.request("thread/archive", { threadId }, "archive");
    await client.about(threadId, "thread/archived", from);
    expect(await since(client, from, threadId)).toEqual([
      "thread/status/changed idle",
      "turn/completed",
      "thread/status/changed notLoaded",
      "reply archive",
      "thread/archived",
    ]);
    const { params } = await client.turnCompleted(turnId);
    expect(params.turn.status).toBe("interrupted");
    await client.call("thread/unarchive", { threadId });
    await client.call("thread/resume", { threadId });
    const before = plain.count("turn/started");
    await client.turn(threadId, "again");
    await plain.call("thread/loaded/list");
    expect(plain.count("turn/started")).toBe(before);
  });
});

describe("thread/delete", () => {
  it("[STORE-3] removes every trace, of loaded threads and of others, and notifies of deleted", async () => {
    const home = await freshFolder();
    const { host, client } = await stdioHost({ home });
    const made: { threadId: string; text: string }[] = [];
    for (const [at, state] of ["loaded", "stored", "archived", "kept"].entries()) {
      const threadId = await client.startThread();
      const text = `xyzzy${at}plugh`;
      await client.turn(threadId, `the ${text} is here`);
      await client.call("thread/name/set", { threadId, name: `named ${text}` });
      if (state === "stored") await client.call("thread/unload", { threadId });
      if (state === "archived") await client.call("thread/archive", { threadId });
      made.push({ threadId, text });
    }
    expect((await client.call("thread/list", { limit: 100 })).data).toHaveLength(3);
    for (const { threadId, text } of made.slice(0, 3)) {
      expect(await tracesOf(home, text)).not.toEqual([]);
      const from = client.frames.length;
      await client.request("thread/delete", { threadId }, "delete");
      await client.about(threadId, "thread/deleted", from);
      const told = await since(client, from, threadId);
      expect(told.slice(-2)).toEqual(["reply delete", "thread/deleted"]);
      expect(told).not.toContain("thread/closed");
      expect((await client.refusal("thread/read", { threadId })).message).toBe(
        `thread not loaded: ${threadId}`,
      );
      expect((await client.refusal("thread/delete", { threadId })).message).toBe(
        `no rollout found for thread id ${threadId}`,
      );
      // The claim is given back behind the reply; all else is gone before it.
      await eventually(() => !existsSync(join(home, "live", threadId)), "the claim is given back");
      expect([await tracesOf(home, threadId), await tracesOf(home, text)]).toEqual([[], []]);
    }
    expect(await tracesOf(home, made[3]!.text)).not.toEqual([]);
    expect((await client.call("thread/list", { limit: 100 })).data).toHaveLength(1);
    client.end();
    expect(await host.exited).toEqual({ code: 0, signal: null });
    for (const { threadId, text } of made.slice(0, 3)) {
      expect([await tracesOf(home, threadId), await tracesOf(home, text)]).toEqual([[], []]);
    }
    expect(
      (await filesBelow(home)).filter((path) => path.startsWith("live/") && !path.includes("takeover")),
    ).toEqual([]);
  });

  it("[STORE-4] ends a turn that runs first", async () => {
    const threadId = await client.startThread();
    const turnId = await client.speaking(threadId);
    await client.call("thread/delete", { threadId });
    expect((await client.turnCompleted(turnId)).params.turn.status).toBe("interrupted");
    expect(await tracesOf(host.home, threadId)).toEqual([]);
  });
});

describe("what is loaded, and why", () => {
  it("[UNLOAD-8] is shown by server/diagnostics and counted by /metrics", async () => {
    const quiet = await spawnHost({ args: [...SOCKET, "-c", "max_resident_threads=2"] });
    const one = await quiet.join(undefined, { experimentalApi: true, threadUnloadDelaySecs: 600 });
    const threads: string[] = [];
    for (let at = 0; at < 4; at++) {
      const threadId = await one.startThread();
      await one.turn(threadId, `hello ${at}`);
      threads.push(threadId);
    }
    const turnId = await one.speaking(threads[3]!);
    await one.call("thread/unsubscribe", { threadId: threads[2] });
    const { threads: loaded, process, gauges } = await one.call("server/diagnostics", {});
    expect(process.id).toBe(quiet.pid);
    expect(loaded).toHaveLength(4);
    const of = (at: number): object =>
      loaded.find(({ threadId }: { threadId: string }) => threadId === threads[at]);
    expect(of(0)).toMatchObject({ subscribers: 1, turnId: null, unloadsInMs: null, resident: false });
    expect(of(3)).toMatchObject({ subscribers: 1, turnId, unloadsInMs: null, resident: true });
    expect(of(0)).not.toHaveProperty("memoryBytes", expect.any(Number));
    const leaving = of(2) as { unloadsInMs: number };
    expect(leaving).toMatchObject({ subscribers: 0, turnId: null });
    expect(leaving.unloadsInMs).toBeGreaterThan(590_000);
    expect(leaving.unloadsInMs).toBeLessThanOrEqual(600_000);
    const gauge = (name: string): number => gauges.find((one: { name: string }) => one.name === name)?.value;
    expect([gauge("bobbin_threads_loaded"), gauge("bobbin_threads_resident")]).toEqual([4, 2]);
    const metrics = await (await fetch(`${await quiet.site()}/metrics`)).text();
    expect(metrics).toMatch(/^bobbin_threads_loaded 4$/m);
    expect(metrics).toMatch(/^bobbin_threads_resident 2$/m);
    // One that sleeps wakes at the next touch, as if it had not slept.
    expect((await one.call("thread/read", { threadId: threads[0] })).thread.preview).toBe("hello 0");
    await one.turn(threads[0]!, "wake up");
    const { data } = await one.call("thread/turns/list", { threadId: threads[0] });
    expect(data).toHaveLength(2);
    await quiet.kill();
  });

  it("[UNLOAD-8] may hibernate before it was ever used, and is complete when it wakes", async () => {
    const quiet = await spawnHost({ args: [...SOCKET, "-c", "max_resident_threads=1"] });
    const one = await quiet.join(undefined, { experimentalApi: true, threadUnloadDelaySecs: 600 });
    const threads: string[] = [];
    for (let at = 0; at < 5; at++) {
      threads.push(await one.startThread({ developerInstructions: `number ${at} ✓` }));
    }
    const { gauges } = await one.call("server/diagnostics", {});
    expect(gauges).toContainEqual({ name: "bobbin_threads_resident", value: 1 });
    await one.turn(threads[1]!, "wake up");
    expect((await one.call("thread/unload", { threadId: threads[2] })).status).toBe("unloaded");
    await one.call("thread/delete", { threadId: threads[3] });
    for (const at of [0, 1, 2, 4]) {
      const { thread } = await one.call("thread/read", { threadId: threads[at] });
      const [first] = (await readFile(thread.path, "utf8")).split("\n");
      expect(JSON.parse(first!).records[0]).toMatchObject({
        type: "created",
        facts: { id: threads[at] },
        load: { developerInstructions: `number ${at} ✓` },
      });
    }
    await quiet.kill();
  });
});
