// What `connect` of @bobbin/client promises, on a real host that dies, and on connections that break.
import { connect, type Notification } from "@bobbin/client";
import { stdio } from "@bobbin/client/node";
import { describe, expect, it, onTestFinished } from "vitest";
import WebSocket from "ws";
import {
  cursorsOf,
  inTwoParts,
  listen,
  modelStage,
  QUICK,
  reached,
  Stage,
  stateNow,
  textOf,
  told,
} from "../support/client-stage.ts";
import { eventually } from "../support/eventually.ts";
import { freshFolder } from "../support/folder.ts";
import { BOBBIN, environment, spawnHost } from "../support/host-process.ts";
import { escalated, say } from "../support/model-replies.ts";

describe("a connection that lasts", () => {
  it("[SDK-1] runs turns, steers, interrupts, queues and has a goal", async () => {
    const slow = inTwoParts("Half of", " it");
    const { stage, model } = await modelStage([say("Hello!"), slow.reply, say("As you wish")]);
    const bobbin = await stage.connect();
    const thread = await bobbin.startThread();
    const result = await thread.run("hi");
    expect(result).toMatchObject({ status: "completed", text: "Hello!", error: null });
    expect(result.tokenUsage?.total.totalTokens).toBe(120);
    expect(result.items.map(({ type }) => type)).toEqual(["userMessage", "agentMessage"]);

    const turn = await thread.startTurn("go on");
    const seen: Notification[] = [];
    for await (const notification of turn) {
      seen.push(notification);
      if (notification.method === "item/agentMessage/delta" && seen.length > 0 && model.asked.length === 2) {
        await turn.steer("otherwise");
      }
    }
    slow.letGo();
    expect(seen.at(-1)!.method).toBe("turn/completed");
    expect((await turn.result()).items.map(({ type }) => type)).toEqual([
      "userMessage",
      "agentMessage",
      "userMessage",
      "agentMessage",
    ]);

    const stuck = inTwoParts("Stuck", "");
    model.reply(stuck.reply, say("queued"));
    const endless = await thread.startTurn("forever");
    await eventually(() => thread.state.running.size > 0, "it answers");
    const id = await thread.queue.add("afterwards");
    await eventually(() => thread.state.queue.some((one) => one.id === id), "the queue is read");
    await endless.interrupt();
    expect((await endless.result()).status).toBe("interrupted");
    await endless.interrupt();
    stuck.letGo();
    await thread.queue.start();
    await eventually(
      () => thread.state.status.type === "idle" && thread.state.queue.length === 0,
      "it is done",
    );
    expect(thread.state.turns.at(-1)!.items.at(-1)).toMatchObject({ text: "queued" });

    await thread.goal.set({ objective: "peace", status: "paused" });
    await eventually(() => thread.state.goal?.objective === "peace", "the goal is known");
    expect(await thread.goal.clear()).toBe(true);
    expect(await thread.goal.get()).toBeNull();
    await thread.rename("a name");
    await eventually(() => thread.state.name === "a name", "the name is known");
    expect(told(thread)).toEqual(told({ state: await stateNow(stage, thread.id) }));
    await thread.leave();
    expect(bobbin.threads.size).toBe(0);
  });

  it.each(["while it is away", "when it is back"])(
    "[SDK-2] misses nothing and sees nothing twice when its connection breaks and the answer goes on %s",
    async (when) => {
      const first = inTwoParts("One ", "two ");
      const { stage, model } = await modelStage([first.reply]);
      const bobbin = await stage.connect();
      const thread = await bobbin.startThread();
      const seen = listen(thread);
      const witness = listen(await (await stage.connect()).resumeThread(thread.id));
      const wires = stage.wires.sockets[0]!;
      const turn = await thread.startTurn("count");
      await eventually(() => textOf(seen) === "One ", "half of it is there");
      const [lost, back] = [reached(bobbin, "connecting"), reached(bobbin, "connected")];
      wires.terminate();
      await lost;
      if (when === "when it is back") {
        await back;
        // The host has sent the text so far again.
        await eventually(
          () => thread.state.running.values().next().value?.outdated.length === 0,
          "it has the text",
        );
        expect(textOf(seen)).toBe("One ");
      }
      first.letGo();
      const { text, status } = await turn.result();
      expect([text, status]).toEqual(["One two ", "completed"]);
      await eventually(() => seen.at(-1)?.method === "turn/completed", "the end is there");
      expect(textOf(seen)).toBe("One two ");
      expect(model.asked).toHaveLength(1);
      await eventually(
        () => witness.at(-1)?.method === "turn/completed",
        "the other client has the end, too",
      );
      expect(cursorsOf(seen)).toEqual(cursorsOf(witness));
      expect(new Set(cursorsOf(seen)).size).toBe(cursorsOf(seen).length);
      expect(told(thread)).toEqual(told({ state: await stateNow(stage, thread.id) }));
    },
  );

  it("[SDK-3] goes on over a host that is killed and started again in mid-stream", async () => {
    const first = inTwoParts("Said before. ", "never said");
    const { stage, model } = await modelStage([first.reply, say("Said after.")]);
    const bobbin = await stage.connect();
    const gaps: unknown[] = [];
    bobbin.onGap((gap) => gaps.push(gap));
    const thread = await bobbin.startThread();
    const seen = listen(thread);
    const turn = await thread.startTurn("talk");
    await eventually(() => textOf(seen) !== "", "it talks");
    await stage.restart();
    expect((await turn.result()).status).toBe("interrupted");
    first.letGo();
    expect(await thread.run("again")).toMatchObject({ status: "completed", text: "Said after." });
    expect(gaps).toEqual([]);
    const ends = () => seen.filter(({ method }) => method === "turn/completed");
    await eventually(() => ends().length === 2, "both ends are there");
    expect(ends().map(({ params }) => "turn" in params && params.turn.status)).toEqual([
      "interrupted",
      "completed",
    ]);
    const cursors = cursorsOf(seen);
    expect(new Set(cursors).size).toBe(cursors.length);
    expect(model.asked.length).toBe(2);
    expect(told(thread)).toEqual(told({ state: await stateNow(stage, thread.id) }));
  });

  it("[SDK-4] starts a thread, a turn and a queued input once, although their replies are lost", async () => {
    const { stage, model } = await modelStage([say("once")]);
    const bobbin = await stage.connect();
    const losing = (method: string) => {
      stage.wires.sent = (text, socket) => {
        if (!text.includes(`"method":"${method}"`)) return;
        stage.wires.sent = () => {};
        // The request goes out, and the reply is not read any more.
        socket.removeAllListeners("message");
        setImmediate(() => socket.close());
      };
    };
    losing("thread/start");
    const thread = await bobbin.startThread();
    losing("turn/start");
    expect((await thread.run("only one")).text).toBe("once");
    losing("thread/queue/add");
    await thread.queue.add("queued once");
    await eventually(
      () => thread.state.turns.length === 2 && thread.state.status.type === "idle",
      "both ran",
    );
    expect(thread.state.turns.map(({ items }) => items.length)).toEqual([2, 2]);
    expect(model.asked).toHaveLength(2);
    const { data } = await bobbin.request("thread/list", {});
    expect(data.map(({ id }) => id)).toEqual([thread.id]);
    expect(stage.wires.sockets.length).toBeGreaterThanOrEqual(4);
  });

  it("[SDK-5] has a host of its own on stdio, and another one when that ends", async () => {
    const home = await freshFolder();
    const open = stdio({
      command: process.execPath,
      args: [BOBBIN, "app-server"],
      env: environment(home),
      stderr: () => {},
    });
    const bobbin = await connect(async (signal) => await open(signal), QUICK);
    onTestFinished(() => bobbin.close());
    const thread = await bobbin.startThread();
    expect((await thread.run("hello")).text).toContain("You said: hello");
    await (await bobbin.connected()).close();
    expect((await thread.run("again")).text).toContain("You said: again");
    expect(thread.state.turns).toHaveLength(2);
    await expect(connect(stdio({ command: "no-such-program-here" }))).rejects.toThrow(
      "cannot start no-such-program",
    );
  });

  it("[SDK-5] reaches a host on a Unix socket", async () => {
    const host = await spawnHost({ args: ["--listen", "unix://"] });
    const bobbin = await connect(await host.url("unix"), { ...QUICK, WebSocket });
    onTestFinished(() => bobbin.close());
    expect((await (await bobbin.startThread()).run("hello")).text).toContain("You said: hello");
  });

  it("[SDK-1] loads a thread again that was unloaded, forks it, and has its older turns when it asks", async () => {
    const stage = await Stage.start();
    const bobbin = await stage.connect();
    const thread = await bobbin.startThread();
    for (const text of ["one", "two", "three"]) await thread.run(text);
    await bobbin.request("thread/unload", { threadId: thread.id });
    await eventually(() => thread.isUnloaded, "the thread is unloaded");
    // A lost connection alone does not load it.
    stage.wires.sockets.at(-1)!.terminate();
    await eventually(
      () => stage.wires.sockets.length === 2 && bobbin.connection.state === "connected",
      "back",
    );
    const { data } = await bobbin.request("thread/loaded/list", {});
    expect(data).toEqual([]);
    expect((await thread.run("four")).status).toBe("completed");
    expect(thread.state.turns).toHaveLength(4);

    const fork = await bobbin.forkThread(thread.id, { lastTurnId: thread.state.turns[1]!.id });
    expect(fork.state.turns).toHaveLength(2);
    const late = await (await stage.connect()).resumeThread(thread.id, {}, { recentTurns: 1 });
    const inputs = () =>
      late.state.turns.map(({ items }) => items[0]?.type === "userMessage" && items[0].content[0]);
    expect(inputs()).toMatchObject([{ text: "four" }]);
    expect(await late.loadOlder(2)).toBe(true);
    expect(await late.loadOlder(2)).toBe(true);
    expect(inputs()).toMatchObject([{ text: "one" }, { text: "two" }, { text: "three" }, { text: "four" }]);
    expect(await late.loadOlder(2)).toBe(false);
  });
});

describe("questions", () => {
  const ASKS = ['sandbox_mode = "workspace-write"', 'approval_policy = "on-request"'];

  it("[SDK-6] are refused by a client without callbacks, and the turn goes on", async () => {
    const { stage, cwd } = await modelStage([escalated("echo no"), say("understood")], ASKS);
    const thread = await (await stage.connect()).startThread({ cwd });
    const { items, text } = await thread.run("go");
    expect(text).toBe("understood");
    expect(items.find(({ type }) => type === "commandExecution")).toMatchObject({ status: "declined" });
  });

  it("[SDK-6] are answered by callbacks, over a lost connection, too; other callbacks are aborted", async () => {
    const { stage, cwd } = await modelStage([escalated("echo yes"), say("done")], ASKS);
    let accept!: () => void;
    let asked = 0;
    const bobbin = await stage.connect({
      answers: {
        command: () => {
          asked++;
          return new Promise((resolve) => {
            accept = () => resolve("accept");
          });
        },
      },
    });
    let aborted = false;
    const other = await stage.connect({
      answers: {
        command: (_params, { signal }) =>
          new Promise((_resolve, reject) => {
            signal.addEventListener("abort", () => {
              aborted = true;
              reject(signal.reason);
            });
          }),
      },
    });
    const thread = await bobbin.startThread({ cwd });
    const watching = await other.resumeThread(thread.id);
    const turn = await thread.startTurn("go");
    await eventually(() => asked === 1 && watching.state.requests.length === 1, "both are asked");
    const lost = reached(bobbin, "connecting");
    stage.wires.sockets[0]!.terminate();
    await lost;
    accept();
    const { items } = await turn.result();
    expect(items.find(({ type }) => type === "commandExecution")).toMatchObject({ status: "completed" });
    expect(asked).toBe(1);
    await eventually(
      () => aborted && watching.state.requests.length === 0,
      "the other one is not asked any more",
    );
  });
});
