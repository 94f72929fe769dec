// A thread that nobody retains is unloaded after a delay, however its last subscriber went.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { beforeAll, describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { type HostProcess, spawnHost, stdioHost } from "../support/host-process.ts";
import { story } from "../support/story.ts";
import type { WireClient } from "../support/wire-client.ts";

const SOCKET = ["--listen", "ws://127.0.0.1:0"];
const AT_ONCE = { experimentalApi: true, threadUnloadDelaySecs: 0 };
const UNLOADED = ["thread/status/changed notLoaded", "thread/closed"];
const PAIRS = 200;

let host: HostProcess;
let witness: WireClient;
beforeAll(async () => {
  host = await spawnHost({ args: SOCKET });
  witness = await host.join(undefined, { experimentalApi: true });
});

async function unloadsIn(one: WireClient, threadId: string): Promise<number | null | undefined> {
  const { threads } = await one.call("server/diagnostics", {});
  return threads.find((thread: { threadId: string }) => thread.threadId === threadId)?.unloadsInMs;
}

/** How often each load of a thread was begun and ended, as a client saw it: they take turns. */
function loads(one: WireClient, threadId: string): number {
  const words = story(one.frames, threadId).filter((word) => /^thread\/(status|closed)/.test(word));
  const begins = words.filter((word) => word.endsWith(" idle")).length;
  const expected = Array.from({ length: begins }, () => [...UNLOADED, "thread/status/changed idle"]).flat();
  expect(words.slice(0, expected.length)).toEqual(expected);
  expect(UNLOADED.slice(0, words.length - expected.length)).toEqual(words.slice(expected.length));
  return begins;
}

describe("the delay", () => {
  it("[IDLE-9] begins at once for a thread whose resume is refused", async () => {
    const client = await host.join(undefined, { ...AT_ONCE, eventCursor: true });
    const threadId = await client.startThread();
    await client.turn(threadId, "one");
    expect(await client.call("thread/unload", { threadId })).toEqual({ status: "unloaded" });
    const from = client.frames.length;
    const { data } = await client.refusal("thread/resume", { threadId, afterCursor: "nonsense" });
    expect(data.code).toBe("invalidCursor");
    await client.about(threadId, "thread/closed", from);
  });

  it("[IDLE-1] is 0 on stdio: the reply, notLoaded, closed; a later resume loads again", async () => {
    const { client } = await stdioHost();
    const threadId = await client.startThread();
    await client.turn(threadId, "one");
    const from = client.frames.length;
    client.send({ id: "leave", method: "thread/unsubscribe", params: { threadId } });
    client.send({ id: "back", method: "thread/resume", params: { threadId, developerInstructions: "new" } });
    await client.waitFor(({ id }) => id === "back", "reply", from);
    expect(story(client.frames.slice(from), threadId).slice(0, 5)).toEqual([
      "reply leave",
      ...UNLOADED,
      "thread/status/changed idle",
      "reply back",
    ]);
    const leave = client.frames.find(({ id }) => id === "leave")!;
    expect(leave.result).toEqual({ status: "unsubscribed" });
    await client.turn(threadId, "two");
  });

  it("[IDLE-2] is 1800 seconds on sockets, what a client states, or what is configured", async () => {
    const threadId = await witness.startThread();
    await witness.call("thread/unsubscribe", { threadId });
    const left = (await unloadsIn(witness, threadId))!;
    expect(left).toBeGreaterThan(1_790_000);
    expect(left).toBeLessThanOrEqual(1_800_000);

    const own = await host.join(undefined, { threadUnloadDelaySecs: 1 });
    const second = await own.startThread();
    const begun = Date.now();
    await own.call("thread/unsubscribe", { threadId: second });
    await own.about(second, "thread/closed");
    expect(Date.now() - begun).toBeGreaterThanOrEqual(990);

    const configured = await spawnHost({ args: [...SOCKET, "-c", "thread_unload_delay_secs=0"] });
    const third = await configured.join();
    const at = await third.startThread();
    await third.call("thread/unsubscribe", { threadId: at });
    await third.about(at, "thread/closed");
    await configured.kill();
  });

  it("[IDLE-3] ends when a client returns, and restarts when it leaves", async () => {
    const one = await host.join(undefined, { experimentalApi: true, threadUnloadDelaySecs: 1 });
    const [kept, left] = [await one.startThread(), await one.startThread()];
    await one.call("thread/unsubscribe", { threadId: kept });
    expect(await unloadsIn(one, kept)).toBeGreaterThan(0);
    await one.call("thread/resume", { threadId: kept });
    expect(await unloadsIn(one, kept)).toBeNull();
    await one.call("thread/unsubscribe", { threadId: left });
    await one.about(left, "thread/closed");
    expect(one.told("thread/closed").map(({ params }) => params.threadId)).toEqual([left]);
    expect((await one.call("thread/loaded/list")).data).toContain(kept);
  });

  it("[IDLE-10] continues when a client changes or reads the thread, and restarts after a turn", async () => {
    const one = await host.join(undefined, { experimentalApi: true, threadUnloadDelaySecs: 3600 });
    const threadId = await one.startThread();
    await one.turn(threadId, "one");
    await one.call("thread/unsubscribe", { threadId });
    let before = (await unloadsIn(one, threadId))!;
    for (const [method, params] of [
      ["thread/name/set", { name: "x" }],
      ["thread/loadSettings/update", { developerInstructions: "y" }],
      ["thread/read", { includeTurns: true }],
      ["thread/rollback", { numTurns: 1 }],
      ["thread/resume", { afterCursor: "no cursor" }],
    ] as const) {
      const { error } = await one.request(method, { threadId, ...params });
      expect(error?.data.code).toBe(method === "thread/resume" ? "invalidCursor" : undefined);
      const after = (await unloadsIn(one, threadId))!;
      expect(after, method).toBeLessThan(before);
      before = after;
    }
    // So long that the look after the new beginning cannot come too late to notice it.
    const start = before;
    await eventually(async () => {
      before = (await unloadsIn(one, threadId))!;
      return before < start - 2000;
    }, "two seconds of the delay have passed");
    await one.call("turn/start", { threadId, input: [{ type: "text", text: "two" }] });
    await eventually(async () => ((await unloadsIn(one, threadId)) ?? 0) > before, "the delay begins anew");
  });

  it("[IDLE-4] is that of the last subscriber to leave, and does not run while one is left", async () => {
    const quick = await host.join(undefined, AT_ONCE);
    const threadId = await quick.startThread();
    await witness.call("thread/resume", { threadId });
    await quick.call("thread/unsubscribe", { threadId });
    expect(await unloadsIn(witness, threadId)).toBeNull();
    await quick.call("thread/resume", { threadId });
    await witness.call("thread/unsubscribe", { threadId });
    expect(await unloadsIn(witness, threadId)).toBeNull();
    await quick.call("thread/unsubscribe", { threadId });
    await witness.about(threadId, "thread/closed");
  });
});

describe("the last subscriber", () => {
  it.each(["close", "cut"] as const)("[IDLE-5] may go by ending its connection (%s)", async (how) => {
    const one = await host.join(undefined, AT_ONCE);
    const threads = [await one.startThread(), await one.startThread()];
    await one[how]();
    for (const threadId of threads) await witness.about(threadId, "thread/closed");
    const { data } = await witness.call("thread/loaded/list");
    expect(data.filter((id: string) => threads.includes(id))).toEqual([]);
  });

  it("[IDLE-5] may be killed", async () => {
    const script = `
      const socket = new (require("ws").WebSocket)(${JSON.stringify(await host.url())});
      const send = (message) => socket.send(JSON.stringify(message));
      socket.on("open", () => send({ id: 1, method: "initialize", params: {
        clientInfo: { name: "killed", version: "1" }, capabilities: { threadUnloadDelaySecs: 0 } } }));
      socket.on("message", (data) => {
        const { id, result } = JSON.parse(data);
        if (id === 1) send({ id: 2, method: "thread/start" });
        if (id === 2) console.log(result.thread.id);
      });`;
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const threadId = line.toString().trim();
    expect((await witness.call("thread/loaded/list")).data).toContain(threadId);
    child.kill("SIGKILL");
    await witness.about(threadId, "thread/closed");
    expect((await witness.call("thread/read", { threadId })).thread.status.type).toBe("notLoaded");
  });

  it("[IDLE-5] may be gone before its request is served", async () => {
    const known = await witness.startThread();
    await witness.turn(known, "resume me");
    await witness.call("thread/unload", { threadId: known });
    const before = (await witness.call("thread/loaded/list")).data;
    for (let round = 0; round < 20; round++) {
      const one = await host.join(undefined, AT_ONCE);
      one.send({ id: "a", method: "thread/start" });
      one.send({ id: "b", method: "thread/resume", params: { threadId: known } });
      one.send({ id: "c", method: "thread/fork", params: { threadId: known } });
      // By turns before and after the host had the time to read.
      if (round % 2 === 0) await witness.call("thread/loaded/list");
      await one.cut();
    }
    await eventually(
      async () => (await witness.call("thread/loaded/list")).data.length === before.length,
      "nothing stays loaded for a client that is gone",
    );
  });

  it("[IDLE-6] leaves a running turn to go on to its end", async () => {
    const one = await host.join(undefined, AT_ONCE);
    const [byRequest, byDisconnect] = [await one.startThread(), await one.startThread()];
    const turns: string[] = [];
    for (const threadId of [byRequest, byDisconnect]) {
      await one.turn(threadId, "quick");
      turns.push(await one.speaking(threadId, "slowly"));
    }
    await one.call("thread/unsubscribe", { threadId: byRequest });
    expect(await one.call("thread/unsubscribe", { threadId: byRequest })).toEqual({
      status: "notSubscribed",
    });
    await one.cut();
    for (const [at, threadId] of [byRequest, byDisconnect].entries()) {
      await witness.about(threadId, "thread/closed");
      const { thread } = await witness.call("thread/read", { threadId, includeTurns: true });
      expect(thread.turns.at(-1)).toMatchObject({ id: turns[at], status: "completed" });
      expect(
        story(witness.frames, threadId)
          .filter((word) => word.startsWith("thread/"))
          .slice(-3),
      ).toEqual(["thread/status/changed idle", ...UNLOADED]);
    }
  });
});

describe("a resume that races with the unload", () => {
  it("[IDLE-7] ends with a loaded thread and a subscription, on one connection", async () => {
    const one = await host.join(undefined, AT_ONCE);
    const threadId = await one.startThread();
    const replies: Promise<{ error?: unknown; result?: { status?: string } }>[] = [];
    for (let pair = 0; pair < PAIRS; pair++) {
      replies.push(one.request("thread/unsubscribe", { threadId }, `leave ${pair}`));
      replies.push(one.request("thread/resume", { threadId, excludeTurns: true }, `back ${pair}`));
    }
    const answers = await Promise.all(replies);
    expect(answers.filter(({ error }) => error !== undefined)).toEqual([]);
    const left = answers.filter((_, at) => at % 2 === 0);
    expect(new Set(left.map(({ result }) => result!.status))).toEqual(new Set(["unsubscribed"]));
    expect(loads(one, threadId)).toBeGreaterThan(0);
    await one.turn(threadId, "still here");
    await one.close();
  });

  it("[IDLE-7] ends with a loaded thread and two subscriptions, on two connections", async () => {
    const both = [await host.join(undefined, AT_ONCE), await host.join(undefined, AT_ONCE)];
    const threadId = await both[0]!.startThread();
    const from = witness.frames.length;
    await Promise.all(
      both.map(async (one) => {
        for (let pair = 0; pair < PAIRS; pair++) {
          const leave = one.request("thread/unsubscribe", { threadId });
          const back = one.request("thread/resume", { threadId, excludeTurns: true });
          expect((await leave).error).toBeUndefined();
          expect((await back).result.thread.id).toBe(threadId);
        }
      }),
    );
    await witness.call("thread/loaded/list");
    expect(witness.frames.length).toBeGreaterThan(from);
    loads(witness, threadId);
    const turnId = await both[0]!.say(threadId, "still here");
    for (const one of both) await one.turnCompleted(turnId);
    await Promise.all(both.map((one) => one.close()));
    await eventually(
      async () => !(await witness.call("thread/loaded/list")).data.includes(threadId),
      "unloaded",
    );
  });

  it("[IDLE-8] has the outcome of the last request when threads are unloaded, archived and renamed meanwhile", async () => {
    const [one, two] = [await host.join(undefined, AT_ONCE), await host.join(undefined, AT_ONCE)];
    const threadId = await one.startThread();
    await one.turn(threadId, "hello");
    for (let round = 0; round < 40; round++) {
      const results = await Promise.all([
        one.request("thread/unsubscribe", { threadId }),
        two.request("thread/name/set", { threadId, name: `name ${round}` }),
        two.request("thread/unload", { threadId }),
        one.request("thread/resume", { threadId, excludeTurns: true }),
        two.request("thread/read", { threadId }),
      ]);
      expect(results.filter(({ error }) => error !== undefined)).toEqual([]);
      expect((await one.call("thread/loaded/list")).data).toContain(threadId);
    }
    expect((await two.call("thread/read", { threadId })).thread.name).toBe("name 39");
    await one.turn(threadId, "bye");
  });
});
