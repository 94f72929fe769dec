// How long helpers live, and what becomes of them with their parents and their hosts.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import {
  helper,
  helperCalls,
  helperStage,
  type Parts,
  plays,
  shownTo,
  spawned,
} from "../support/helper-stage.ts";
import { spawnHost } from "../support/host-process.ts";
import { MockModel } from "../support/mock-model.ts";
import { modelHome } from "../support/model-home.ts";
import { asked } from "../support/rap-stage.ts";
import { KEY, signedBearer } from "../support/signed-token.ts";
import type { Received, WireClient } from "../support/wire-client.ts";

const EXPERIMENTAL = { experimentalApi: true };
const SOCKET = ["--listen", "ws://127.0.0.1:0"];
const QUESTION = {
  questions: [{ id: "q", header: "H", question: "Q?", options: [{ label: "A", description: "d" }] }],
};
const ANSWER = { answers: { q: { answers: ["A"] } } };

/** A parent that waits for a helper, which asks, and says what it is answered. */
const ASKING: Parts = {
  parent: [
    { calls: [["spawn_agent", { message: "play child" }]] },
    (scene) => ({ calls: [["wait_agent", { targets: [spawned(scene)], timeout_ms: 3_600_000 }]] }),
    ({ outputs }) => ({ say: outputs[1]! }),
  ],
  child: [{ calls: [["request_user_input", QUESTION]] }, { say: "child is done" }],
};

/** One that goes on while a helper never ends. */
const HANGING: Parts = {
  parent: [{ calls: [["spawn_agent", { message: "play child" }]] }, { say: "started" }],
  waits: [
    { calls: [["spawn_agent", { message: "play child" }]] },
    (scene) => ({ calls: [["wait_agent", { targets: [spawned(scene)], timeout_ms: 3_600_000 }]] }),
    { say: "waited" },
  ],
  child: [{ hang: true }],
  next: [{ say: "next" }],
};

const isWait = ({ method, params }: Received): boolean =>
  method === "item/started" && params.item.tool === "wait";

const order = (client: WireClient, method: string, from = 0): string[] =>
  client.frames
    .slice(from)
    .filter((frame) => frame.method === method)
    .map(({ params }) => params.threadId);

/** The notifications about helpers that the model was sent, in the thread that plays `part`. */
const newsTo = (model: MockModel, part: string): readonly string[] =>
  shownTo(model, part).filter((text) => text.includes("subagent_notification"));

describe("a parent that waits for its helper", () => {
  it.each(["a kill", "a restart"])("[HELPER-12] goes on after %s, and has the result once", async (how) => {
    const { client, threadId, host, home, model } = await helperStage(ASKING);
    const turnId = await client.say(threadId, "play parent");
    const question = await asked(client, "item/tool/requestUserInput");
    const { id } = await helper(client);
    if (how === "a kill") await host.kill();
    else {
      host.signal("SIGTERM");
      await host.exited;
    }
    const next = await spawnHost({ home, args: SOCKET });
    const later = await next.join(undefined, EXPERIMENTAL);
    await later.call("thread/resume", { threadId });
    const again = await asked(later, "item/tool/requestUserInput");
    expect([again.id, again.params.threadId]).toEqual([question.id, id]);
    later.send({ id: again.id, result: ANSWER });
    const { params } = await later.turnCompleted(turnId);
    expect(params.turn.status).toBe("completed");
    const done = JSON.stringify({ status: { [id]: { completed: "child is done" } }, timed_out: false });
    expect(params.turn.items[0].text).toBe(done);
    expect(shownTo(model, "parent").filter((text) => text.includes("child is done"))).toEqual([done]);
  });

  it("[HELPER-12] learns that a helper which was cut off by the host's end can go on", async () => {
    const { client, threadId, host, home } = await helperStage({
      ...ASKING,
      parent: [
        ...ASKING["parent"]!.slice(0, 2),
        (scene) => ({ calls: [["send_input", { target: spawned(scene), message: "play quick" }]] }),
        (scene) => ({ calls: [["wait_agent", { targets: [spawned(scene)] }]] }),
        ({ outputs }) => ({ say: `${outputs[1]} ${outputs[3]}` }),
      ],
      child: [{ hang: true }],
      quick: [{ say: "quick is done" }],
    });
    const turnId = await client.say(threadId, "play parent");
    const { id } = await helper(client);
    await client.about(id, "turn/started");
    await client.waitFor(isWait, "the wait");
    host.signal("SIGTERM");
    await host.exited;
    const next = await spawnHost({ home, args: SOCKET });
    const later = await next.join(undefined, EXPERIMENTAL);
    await later.call("thread/resume", { threadId });
    const { params } = await later.turnCompleted(turnId);
    expect(params.turn.items[0].text).toMatch(/errored.*The host ended.*quick is done/);
  });

  it("[HELPER-12] hibernates meanwhile, and wakes for the result", async () => {
    const { client, threadId } = await helperStage(ASKING, { top: ["max_resident_threads = 1"] });
    const turnId = await client.say(threadId, "play parent");
    const question = await asked(client, "item/tool/requestUserInput");
    await client.waitFor(isWait, "the wait");
    const other = await client.startThread();
    await eventually(async () => {
      // Threads leave memory when another one is used; the parent may not have waited yet when this one began.
      await client.call("thread/name/set", { threadId: other, name: "in use" });
      const { threads } = await client.call("server/diagnostics");
      const found = threads.find((one: { threadId: string }) => one.threadId === threadId);
      return found.turnId === turnId && !found.resident;
    }, "the parent sleeps");
    client.send({ id: question.id, result: ANSWER });
    const { params } = await client.turnCompleted(turnId);
    expect(params.turn.items[0].text).toContain("child is done");
  });

  it("[HELPER-17] still accepts input of the user, and its helper goes on", async () => {
    const { client, threadId, model } = await helperStage(HANGING);
    const turnId = await client.say(threadId, "play waits");
    const { id } = await helper(client);
    await client.waitFor(isWait, "the wait");
    await client.call("turn/steer", {
      threadId,
      expectedTurnId: turnId,
      input: [{ type: "text", text: "play next" }],
    });
    await client.turnCompleted(turnId);
    expect(shownTo(model, "next").at(-2)).toContain("The wait ended early because there is new input.");
    expect(helperCalls(client, threadId)[1]).toMatchObject({ tool: "wait", status: "completed" });
    const { thread } = await client.call("thread/read", { threadId: id });
    expect(thread.status.type).toBe("active");
  });

  it("[HELPER-13] is interrupted alone: its helper goes on, and the model gets its end later", async () => {
    let answer = (): void => {};
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const { client, threadId, model } = await helperStage({
      ...HANGING,
      child: [
        async () => {
          await answered;
          return { say: "late result" };
        },
      ],
    });
    const turnId = await client.say(threadId, "play waits");
    const { id } = await helper(client);
    await client.waitFor(isWait, "the wait");
    await client.call("turn/interrupt", { threadId, turnId });
    await client.turnCompleted(turnId);
    expect(helperCalls(client, threadId)[1]).toMatchObject({ tool: "wait", status: "failed" });
    answer();
    expect((await client.about(id, "turn/completed")).params.turn.status).toBe("completed");
    await eventually(async () => {
      await client.turn(threadId, "play next");
      return newsTo(model, "next").length > 0;
    }, "its parent's model was told");
    expect(newsTo(model, "next")).toEqual([expect.stringContaining('{"completed":"late result"}')]);
  });
});

/** How many threads are at work for one. */
async function working(client: WireClient, threadId: string): Promise<number> {
  const { threads } = await client.call("server/diagnostics");
  return threads.find((one: { threadId: string }) => one.threadId === threadId)?.descendants ?? 0;
}

describe("a helper and its parent", () => {
  it("[HELPER-14] keep each other loaded while the helper works, and are closed together, the helper first", async () => {
    const { client, threadId } = await helperStage(HANGING);
    await client.turn(threadId, "play parent");
    const { id } = await helper(client);
    await client.about(id, "turn/started");
    expect((await client.call("thread/loaded/list", {})).data.sort()).toEqual([threadId, id].sort());
    expect(await client.call("thread/unload", { threadId })).toMatchObject({
      status: "active",
      blockedBy: { turnId: null, descendants: 1 },
    });
    const from = client.frames.length;
    expect(await client.call("thread/unload", { threadId, interrupt: true })).toEqual({ status: "unloaded" });
    await client.about(threadId, "thread/closed", from);
    expect(order(client, "thread/closed", from)).toEqual([id, threadId]);
    expect((await client.about(id, "turn/completed", from)).params.turn.status).toBe("interrupted");
  });

  it("[HELPER-14] a helper that has ended stays loaded as long as its parent, and does not keep the parent loaded", async () => {
    const { client, threadId } = await helperStage({
      parent: [
        { calls: [["spawn_agent", { message: "play child" }]] },
        (scene) => ({ calls: [["wait_agent", { targets: [spawned(scene)] }]] }),
        { say: "done" },
      ],
      child: [{ say: "child is done" }],
    });
    await client.turn(threadId, "play parent");
    const { id } = await helper(client);
    expect((await client.call("thread/loaded/list", {})).data.sort()).toEqual([threadId, id].sort());
    // Someone who followed the helper alone and left is no reason for it to go.
    await client.call("thread/resume", { threadId: id });
    await client.call("thread/unsubscribe", { threadId: id });
    expect((await client.call("thread/read", { threadId: id })).thread.status.type).toBe("idle");
    // The parent's subscriber observes the helper, and does not keep it loaded: the open helper is the reason.
    const { threads } = await client.call("server/diagnostics", { threadIds: [id, threadId] });
    expect(threads).toEqual([
      expect.objectContaining({ threadId: id, subscribers: 0, isOpenHelper: true, unloadsInMs: null }),
      expect.objectContaining({ threadId, subscribers: 1, isOpenHelper: false, descendants: 0 }),
    ]);
    const from = client.frames.length;
    expect(await client.call("thread/unload", { threadId })).toEqual({ status: "unloaded" });
    await client.about(threadId, "thread/closed", from);
    expect(order(client, "thread/closed", from)).toEqual([id, threadId]);
  });

  it("[HELPER-15] are archived, unarchived and deleted together", async () => {
    const { client, threadId } = await helperStage(HANGING);
    await client.turn(threadId, "play parent");
    const { id } = await helper(client);
    await client.about(id, "turn/started");
    let from = client.frames.length;
    await client.call("thread/archive", { threadId });
    await client.about(id, "thread/archived", from);
    expect(order(client, "thread/archived", from)).toEqual([threadId, id]);
    // In place of `thread/closed`, for both.
    expect(order(client, "thread/closed", from)).toEqual([]);
    const children = async (archived: boolean): Promise<string[]> => {
      const { data } = await client.call("thread/list", { parentThreadId: threadId, archived });
      return data.map((one: { id: string }) => one.id);
    };
    expect([await children(false), await children(true)]).toEqual([[], [id]]);
    from = client.frames.length;
    await client.call("thread/unarchive", { threadId });
    await client.about(id, "thread/unarchived", from);
    expect(order(client, "thread/unarchived", from)).toEqual([threadId, id]);
    expect([await children(false), await children(true)]).toEqual([[id], []]);
    from = client.frames.length;
    await client.call("thread/delete", { threadId });
    await client.about(threadId, "thread/deleted", from);
    expect(order(client, "thread/deleted", from)).toEqual([id, threadId]);
    expect((await client.refusal("thread/read", { threadId: id })).data.code).toBe("threadNotLoaded");
  });

  it("[HELPER-16] are listed separately: helpers by their parent, or by their source kind", async () => {
    const { client, threadId } = await helperStage(HANGING);
    await client.turn(threadId, "play parent");
    const { id, agentNickname } = await helper(client);
    await client.about(id, "turn/started");
    const listed = async (params: object): Promise<string[]> => {
      const { data } = await client.call("thread/list", params);
      return data.map((one: { id: string }) => one.id);
    };
    expect(await listed({})).toEqual([threadId]);
    expect(await listed({ parentThreadId: threadId })).toEqual([id]);
    expect(await listed({ ancestorThreadId: threadId })).toEqual([id]);
    expect(await listed({ sourceKinds: ["subAgentThreadSpawn"] })).toEqual([id]);
    expect(await listed({ sourceKinds: ["subAgentReview"] })).toEqual([]);
    const { thread } = await client.call("thread/read", { threadId: id });
    expect(thread).toMatchObject({ parentThreadId: threadId, agentNickname, preview: "play child" });
    const { data } = await client.call("thread/list", { parentThreadId: threadId });
    expect(data[0]).toMatchObject({ parentThreadId: threadId, agentNickname, preview: "play child" });
  });

  it("[HELPER-22] learn what clients do to the helper and to its thread", async () => {
    const { client, threadId, model } = await helperStage({ ...HANGING, quick: [{ say: "quick is done" }] });
    await client.turn(threadId, "play parent");
    const { id } = await helper(client);
    const { params } = await client.about(id, "turn/started");
    // A person interrupts it: it may go on, so that is no end of it.
    await client.call("turn/interrupt", { threadId: id, turnId: params.turn.id });
    await client.turn(id, "play quick");
    await eventually(async () => {
      await client.turn(threadId, "play next");
      return newsTo(model, "next").length > 0;
    }, "its parent's model was told");
    expect(newsTo(model, "next")).toEqual([expect.stringContaining('{"completed":"quick is done"}')]);
    // A person closes it while it works.
    await client.say(id, "play child");
    await eventually(async () => (await working(client, threadId)) === 1, "its parent has heard of it");
    expect(await client.call("thread/unload", { threadId: id, interrupt: true })).toEqual({
      status: "unloaded",
    });
    await eventually(async () => {
      await client.turn(threadId, "play next");
      return newsTo(model, "next").length > 1;
    }, "its parent's model was told");
    expect(newsTo(model, "next").slice(1)).toEqual([expect.stringContaining('"status":"shutdown"')]);
  });

  it("[HELPER-23] a helper whose turn fails has ended with the reason", async () => {
    const { client, threadId } = await helperStage({
      parent: [
        { calls: [["spawn_agent", { message: "play child" }]] },
        (scene) => ({ calls: [["wait_agent", { targets: [spawned(scene)] }]] }),
        ({ outputs }) => ({ say: outputs[1]! }),
      ],
      child: [{ fail: "no such model" }],
    });
    const turnId = await client.say(threadId, "play parent");
    const { params } = await client.turnCompleted(turnId);
    expect(params.turn.items[0].text).toMatch(/"errored":"[^"]*no such model/);
    expect(helperCalls(client, threadId)[1]).toMatchObject({ tool: "wait", status: "failed" });
  });

  it("[HELPER-21] belong to the same subject, and no other subject sees them", async () => {
    const model = await MockModel.start(plays(HANGING));
    const { home } = await modelHome("responses", model.url);
    await writeFile(join(home, "key"), KEY);
    const auth = ["--ws-auth", "signed-bearer-token", "--ws-shared-secret-file", join(home, "key")];
    const host = await spawnHost({ home, args: [...SOCKET, ...auth] });
    const [ann, bob] = await Promise.all(
      ["ann", "bob"].map(async (name) => {
        const client = await host.connect(undefined, signedBearer(name));
        await client.initialize(EXPERIMENTAL);
        return client;
      }),
    );
    const threadId = await ann!.startThread();
    await ann!.turn(threadId, "play parent");
    const { id } = await helper(ann!);
    await ann!.about(id, "turn/started");
    expect((await ann!.call("thread/list", { parentThreadId: threadId })).data).toHaveLength(1);
    expect((await bob!.refusal("thread/read", { threadId: id })).data.code).toBe("threadNotLoaded");
    expect((await bob!.refusal("thread/resume", { threadId: id })).data.code).toBe("noRollout");
    expect((await bob!.call("thread/list", { parentThreadId: threadId })).data).toEqual([]);
    expect((await bob!.call("thread/loaded/list", {})).data).toEqual([]);
    const told = bob!.frames.filter(({ params }) =>
      [id, threadId].includes(params?.threadId ?? params?.thread?.id),
    );
    expect(told).toEqual([]);
  });
});
