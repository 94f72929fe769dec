// @bobbin/client on a real host that is not there yet, that is killed between a request and its reply, or that has lost
// what the client saw.
import { existsSync, readdirSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect, type FollowedThread } from "@bobbin/client";
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
import { spawnHost } from "../support/host-process.ts";
import { say } from "../support/model-replies.ts";

/** The journal of the only thread of a home. */
async function journalOf(home: string): Promise<string> {
  const names = await readdir(join(home, "sessions"), { recursive: true });
  const [journal, ...others] = names.filter((name) => name.endsWith(".jsonl"));
  if (journal === undefined || others.length > 0) throw new Error("there is not one journal");
  return join(home, "sessions", journal);
}

it("[PACK-5] waits for a host that is not there yet", async () => {
  const home = await freshFolder();
  const url = `unix://${join(home, "app-server-control/app-server-control.sock")}`;
  const options = { ...QUICK, WebSocket };
  await expect(connect(url, options)).rejects.toThrow(/cannot connect to/);
  const connecting = connect(url, { ...options, waitForHost: true });
  const host = await spawnHost({ home, args: ["--listen", "unix://"] });
  const bobbin = await connecting;
  onTestFinished(() => bobbin.close());
  expect((await (await bobbin.startThread()).run("hello")).text).toContain("You said: hello");
  await host.kill();
});

it("[PACK-5] reports a gap when the host has lost what the client saw, and has the whole state nevertheless", async () => {
  const stage = await Stage.start();
  const bobbin = await stage.connect();
  const gaps: unknown[] = [];
  bobbin.onGap((gap) => gaps.push(gap));
  const thread = await bobbin.startThread();
  await thread.run("one");
  const journal = await journalOf(stage.home);
  const kept = await readFile(journal, "utf8");
  await thread.run("two");
  // A power cut: what was written last is not on the disk.
  const lost = reached(bobbin, "connecting");
  await stage.host.kill();
  await lost;
  await writeFile(journal, kept);
  await stage.restart();
  await eventually(() => gaps.length > 0 && thread.state.turns.length === 1, "the gap is reported");
  expect(gaps).toEqual([{ threadId: thread.id }]);
  expect((await thread.run("three")).text).toContain("You said: three");
  expect(told(thread)).toEqual(told({ state: await stateNow(stage, thread.id) }));
});

it("[SDK-7] notices a host that stands still, and goes on with it when it works again: nothing twice", async () => {
  const answer = inTwoParts("One ", "two");
  const { stage } = await modelStage([answer.reply]);
  const bobbin = await stage.connect({ heartbeatMs: 300 });
  const errors: unknown[] = [];
  bobbin.onConnection((status) => {
    if (status.state === "connecting") errors.push(status.error?.message);
  });
  const thread = await bobbin.startThread();
  const turn = await thread.startTurn("Talk");
  let text = "";
  const reading = (async () => {
    for await (const { method, params } of turn)
      if (method === "item/agentMessage/delta") text += params.delta;
  })();
  await eventually(() => text === "One ", "the first half");
  stage.host.signal("SIGSTOP");
  onTestFinished(() => stage.host.signal("SIGCONT"));
  await eventually(() => bobbin.connection.state === "connecting", "the silence is noticed");
  expect(errors[0]).toBe("the host does not answer");
  stage.host.signal("SIGCONT");
  await eventually(() => bobbin.connection.state === "connected", "the host is back");
  answer.letGo();
  await reading;
  expect(text).toBe("One two");
  expect((await turn.result()).text).toBe("One two");
});

describe("a host that is killed between a request and its reply", () => {
  /** `before`: the host has not read the request. `in`: the host has recorded what the request asks for, and no reply arrives. */
  const MOMENTS = ["before", "in"] as const;

  /** Kills and restarts the host at the next request of a method. `done` is asked in the moment `in`. */
  function killAt(stage: Stage, method: string, moment: string, done: () => boolean | Promise<boolean>) {
    if (moment === "before") stage.host.signal("SIGSTOP");
    return new Promise<void>((resolve, reject) => {
      stage.wires.sent = (text, socket) => {
        if (!text.includes(`"method":"${method}"`)) return;
        stage.wires.sent = () => {};
        socket.removeAllListeners("message");
        const killed = async () => {
          if (moment === "in") await eventually(done, `${method} is done`);
          await stage.restart();
        };
        killed().then(resolve, reject);
      };
    });
  }

  const inputs = ({ state }: FollowedThread) =>
    state.turns.flatMap(({ items }) =>
      items.flatMap((item) => (item.type === "userMessage" ? item.content : [])),
    );

  it.each(MOMENTS)("[PACK-6] starts a thread once, killed %s the work", async (moment) => {
    const stage = await Stage.start();
    const bobbin = await stage.connect();
    const keys = join(stage.home, "start_keys");
    const isStarted = () => existsSync(keys) && readdirSync(keys).length > 0;
    const killed = killAt(stage, "thread/start", moment, isStarted);
    const thread = await bobbin.startThread();
    await killed;
    expect((await thread.run("hello")).status).toBe("completed");
    await eventually(async () => {
      const { data } = await bobbin.request("thread/list", {});
      return data.length > 0;
    }, "the thread is listed");
    const { data } = await bobbin.request("thread/list", {});
    expect(data.map(({ id }) => id)).toEqual([thread.id]);
  });

  it.each(MOMENTS)("[PACK-6] starts a turn once, killed %s the work", async (moment) => {
    const endless = inTwoParts("Said before the kill. ", "never said");
    const { stage, model } = await modelStage(
      moment === "before" ? [say("ready"), say("once")] : [say("ready"), endless.reply, say("again")],
    );
    const bobbin = await stage.connect();
    const thread = await bobbin.startThread();
    await thread.run("first");
    const killed = killAt(stage, "turn/start", moment, () => model.asked.length === 2);
    const { status, text } = await thread.run("second");
    await killed;
    endless.letGo();
    // A turn whose answer had begun is over after a kill. It is not started again.
    if (moment === "before") expect([status, text]).toEqual(["completed", "once"]);
    else expect(["interrupted", "completed"]).toContain(status);
    expect(inputs(thread)).toMatchObject([{ text: "first" }, { text: "second" }]);
    expect(told(thread)).toEqual(told({ state: await stateNow(stage, thread.id) }));
  });

  it.each(MOMENTS)("[PACK-6] queues an input once, killed %s the work", async (moment) => {
    const { stage } = await modelStage([say("ready"), say("queued")]);
    const bobbin = await stage.connect();
    const thread = await bobbin.startThread();
    await thread.run("first");
    const witness = moment === "in" ? await (await stage.connect()).resumeThread(thread.id) : undefined;
    const killed = killAt(stage, "thread/queue/add", moment, () =>
      Boolean(witness && inputs(witness).length === 2),
    );
    await thread.queue.add("second");
    await killed;
    await eventually(
      () => inputs(thread).length === 2 && thread.state.status.type === "idle",
      "the queued input became a turn",
    );
    expect(inputs(thread)).toMatchObject([{ text: "first" }, { text: "second" }]);
    expect(told(thread)).toEqual(told({ state: await stateNow(stage, thread.id) }));
  });
});

describe("a thread that is loaded twice by one client", () => {
  it("[PACK-7] is followed once, also when it was started by its method, and in mid-stream", async () => {
    const answer = inTwoParts("One ", "two");
    const { stage } = await modelStage([answer.reply]);
    const bobbin = await stage.connect();
    const { thread } = await bobbin.request("thread/start", {});
    const input = [{ type: "text" as const, text: "count", text_elements: [] }];
    await bobbin.request("turn/start", { threadId: thread.id, input });
    const followed = bobbin.threads.get(thread.id)!;
    const seen = listen(followed);
    await eventually(() => followed.state.running.size > 0, "it answers");
    const texts = () => [...followed.state.running.values()].map(({ text }) => text);
    await eventually(() => texts()[0] === "One ", "half of it is there");
    const both = await Promise.all([bobbin.resumeThread(thread.id), bobbin.resumeThread(thread.id)]);
    expect(both).toEqual([followed, followed]);
    const again = await bobbin.request("thread/resume", { threadId: thread.id });
    expect(again.thread.id).toBe(thread.id);
    // Nothing of the running text is lost by the reply.
    expect(texts()).toEqual(["One "]);
    answer.letGo();
    await eventually(() => seen.at(-1)?.method === "turn/completed", "the end is there");
    expect(textOf(seen).endsWith("two")).toBe(true);
    expect(new Set(cursorsOf(seen)).size).toBe(cursorsOf(seen).length);
    expect(told(followed)).toEqual(told({ state: await stateNow(stage, thread.id) }));
    await bobbin.request("thread/unsubscribe", { threadId: thread.id });
    expect(bobbin.threads.size).toBe(0);
  });

  it("[PACK-7] is followed once by two calls at the same time, in mid-stream", async () => {
    const answer = inTwoParts("One ", "two");
    const { stage } = await modelStage([answer.reply]);
    const first = await (await stage.connect()).startThread();
    const turn = await first.startTurn("count");
    await eventually(() => first.state.running.size > 0, "it answers");
    const other = await stage.connect();
    const [one, two] = await Promise.all([other.resumeThread(first.id), other.resumeThread(first.id)]);
    expect(one).toBe(two);
    const text = () => [...one.state.running.values()].map((item) => item.text).join();
    await eventually(() => text() === "One ", "it has the text so far");
    answer.letGo();
    await turn.result();
    await eventually(() => one.state.turns.at(-1)?.status === "completed", "it is over");
    expect(told(one)).toEqual(told(first));
  });
});
