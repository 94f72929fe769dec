// What changes a thread: names, git facts, settings for the next turns and for the next load, dropped turns, sections.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { freshFolder } from "../support/folder.ts";
import { type HostProcess, spawnHost } from "../support/host-process.ts";
import { story } from "../support/story.ts";
import type { WireClient } from "../support/wire-client.ts";

let host: HostProcess;
let client: WireClient;
let witness: WireClient;
beforeAll(async () => {
  host = await spawnHost({ args: ["--listen", "ws://127.0.0.1:0"] });
  client = await host.join(undefined, { experimentalApi: true });
  witness = await host.join();
});

const read = async (threadId: string): Promise<Awaited<ReturnType<WireClient["call"]>>> =>
  (await client.call("thread/read", { threadId, includeTurns: true })).thread;

/** Runs the same on a thread that is loaded and on one that is not, which stays so. */
async function bothWays(work: (threadId: string, loaded: boolean) => Promise<void>): Promise<void> {
  for (const loaded of [true, false]) {
    const threadId = await client.startThread();
    await client.turn(threadId, "one");
    if (!loaded) await client.call("thread/unload", { threadId });
    await work(threadId, loaded);
    expect((await read(threadId)).status.type).toBe(loaded ? "idle" : "notLoaded");
  }
}

describe("thread/name/set", () => {
  it("[EDIT-1] names a thread, loaded or not, and notifies all clients after the reply", async () => {
    await bothWays(async (threadId) => {
      const from = client.frames.length;
      await client.request("thread/name/set", { threadId, name: "  padded  " }, "name");
      const { params } = await client.about(threadId, "thread/name/updated", from);
      expect(params).toEqual({ threadId, threadName: "padded" });
      const told = story(client.frames.slice(from), threadId);
      expect(told.slice(-2)).toEqual(["reply name", "thread/name/updated"]);
      await witness.about(threadId, "thread/name/updated");
      expect((await read(threadId)).name).toBe("padded");
    });
    const threadId = await client.startThread();
    for (const name of ["", "   "]) {
      expect((await client.refusal("thread/name/set", { threadId, name })).message).toBe(
        "thread name must not be empty",
      );
    }
  });
});

describe("thread/metadata/update", () => {
  it("[EDIT-2] changes named fields, clears fields that are null, keeps the rest", async () => {
    await bothWays(async (threadId) => {
      const update = async (gitInfo: object): Promise<object> =>
        (await client.call("thread/metadata/update", { threadId, gitInfo })).thread.gitInfo;
      const all = { sha: "abc", branch: "br", originUrl: "http://x" };
      expect(await update(all)).toEqual(all);
      expect(await update({ branch: null })).toEqual({ ...all, branch: null });
      expect((await read(threadId)).gitInfo).toEqual({ ...all, branch: null });
      expect(await update({ sha: null, originUrl: null })).toBeNull();
      expect((await client.refusal("thread/metadata/update", { threadId, gitInfo: {} })).message).toBe(
        "gitInfo must include at least one field",
      );
    });
  });
});

describe("thread/settings/update", () => {
  it("[EDIT-3] is replied to, then notified to subscribers, and only if it changes something", async () => {
    const threadId = await client.startThread();
    const update = async (params: object): Promise<string[]> => {
      const from = client.frames.length;
      await client.request("thread/settings/update", { threadId, ...params }, "set");
      await client.call("thread/loaded/list");
      return story(client.frames.slice(from, -1), threadId);
    };
    expect(await update({ model: "next" })).toEqual(["reply set", "thread/settings/updated"]);
    expect(client.told("thread/settings/updated").at(-1)!.params).toMatchObject({
      threadId,
      threadSettings: { model: "next", modelProvider: "offline", cwd: process.cwd() },
    });
    expect(await update({ model: "next" })).toEqual(["reply set"]);
    expect(await update({})).toEqual(["reply set"]);
    expect(await update({ effort: "low", approvalPolicy: "never" })).toHaveLength(2);
    await witness.call("thread/loaded/list");
    expect(witness.told("thread/settings/updated")).toEqual([]);
    const { thread, approvalPolicy } = await client.call("thread/resume", { threadId });
    expect([thread.model, thread.reasoningEffort, approvalPolicy]).toEqual(["next", "low", "never"]);
  });
});

describe("settings that are bound at load", () => {
  it("[EDIT-4] wait, visibly, for the thread's next load, whether it is loaded or not", async () => {
    await bothWays(async (threadId, loaded) => {
      expect((await read(threadId)).pendingLoadSettings).toBeUndefined();
      const first = await client.call("thread/loadSettings/update", {
        threadId,
        developerInstructions: "be kind",
      });
      expect(first).toEqual({ pending: { developerInstructions: "be kind" } });
      expect(await client.call("thread/memoryMode/set", { threadId, mode: "disabled" })).toEqual({});
      const pending = { developerInstructions: "be kind", memoryMode: "disabled" };
      expect((await read(threadId)).pendingLoadSettings).toEqual(pending);
      // A turn and a warm resume bind nothing.
      if (loaded) {
        await client.turn(threadId, "two");
        await client.call("thread/resume", { threadId });
        expect((await read(threadId)).pendingLoadSettings).toEqual(pending);
        await client.call("thread/unload", { threadId });
      }
      const { thread } = await client.call("thread/resume", { threadId });
      expect(thread.pendingLoadSettings).toBeUndefined();
      expect((await read(threadId)).pendingLoadSettings).toBeUndefined();
      if (!loaded) await client.call("thread/unload", { threadId });
    });
  });

  it("[EDIT-5] need the experimental capability, except the one that the peer has", async () => {
    const threadId = await client.startThread();
    const { message } = await witness.refusal("thread/loadSettings/update", { threadId });
    expect(message).toBe("thread/loadSettings/update requires experimentalApi capability");
  });

  it("[EDIT-6] change for the thread that is unloaded and resumed, and for no other", async () => {
    const cwd = await freshFolder("work");
    const [a, b, c] = await Promise.all([
      client.startThread({ cwd }),
      client.startThread({ cwd }),
      client.startThread({ cwd }),
    ]);
    for (const threadId of [a, b, c]) await client.turn(threadId, "hello");
    const running = await client.speaking(b);
    const others = (frames = client.frames) =>
      story(frames, b)
        .concat(story(frames, c))
        .filter((word) => !/^reply|delta$|goal\/cleared$/.test(word));
    await client.call("thread/loadSettings/update", { threadId: a, baseInstructions: "new" });
    await writeFile(join(cwd, "AGENTS.md"), "Be brief.");
    const from = client.frames.length;
    expect(await client.call("thread/unload", { threadId: a })).toEqual({ status: "unloaded" });
    const resumed = await client.call("thread/resume", { threadId: a, excludeTurns: true });
    expect(resumed.instructionSources).toEqual([join(cwd, "AGENTS.md")]);
    expect(resumed.thread.pendingLoadSettings).toBeUndefined();
    for (const threadId of [b, c]) {
      const warm = await client.call("thread/resume", { threadId, excludeTurns: true });
      expect(warm.instructionSources).toEqual([]);
    }
    expect(others(client.frames.slice(from))).toEqual([]);
    // The turn of B went on all the time.
    const before = client.count("item/agentMessage/delta");
    await client.until(() => client.count("item/agentMessage/delta") > before + 2, "more of the answer");
    await client.call("turn/interrupt", { threadId: b, turnId: running });
    await client.turnCompleted(running);
    const { params } = await client.turnCompleted(await client.say(c, "still there?"));
    expect(params.turn.status).toBe("completed");
    const journal = await readFile(resumed.thread.path, "utf8");
    expect(journal).toContain('"baseInstructions":"new"');
    expect(journal).toContain("Be brief.");
  });
});

describe("turns that are dropped", () => {
  it("[EDIT-7] by thread/rollback leave a marker, and the thread has the turns that are left", async () => {
    const threadId = await client.startThread();
    const turns: string[] = [];
    for (const text of ["one", "two", "three", "four"]) turns.push(await client.turn(threadId, text));
    const { thread } = await client.call("thread/rollback", { threadId, numTurns: 2 });
    expect(thread.turns.map(({ id }: { id: string }) => id)).toEqual(turns.slice(0, 2));
    const next = await client.turn(threadId, "five");
    expect((await read(threadId)).turns.map(({ id }: { id: string }) => id)).toEqual([
      ...turns.slice(0, 2),
      next,
    ]);
    // Nothing was erased, and the model no longer hears of it.
    expect(await readFile(thread.path, "utf8")).toContain("three");
    const { data } = await client.call("thread/items/list", { threadId, turnId: next });
    expect(data[1].item.text).toContain("message 3 of this thread");
    await client.call("thread/unload", { threadId });
    const resumed = (await client.call("thread/resume", { threadId })).thread;
    expect(resumed.turns.map(({ id }: { id: string }) => id)).toEqual([...turns.slice(0, 2), next]);
    expect((await client.call("thread/rollback", { threadId, numTurns: 100 })).thread.turns).toEqual([]);
    expect(resumed.preview).toBe("one");
  });

  it("[EDIT-8] by thread/revert are notified to all clients after the reply, and pages go on before them", async () => {
    const threadId = await client.startThread();
    const turns: string[] = [];
    for (const text of ["one", "two", "three"]) turns.push(await client.turn(threadId, text));
    const from = client.frames.length;
    const { result } = await client.request("thread/revert", { threadId, beforeTurnId: turns[1] }, "revert");
    await client.about(threadId, "thread/reverted", from);
    expect(story(client.frames.slice(from), threadId)).toEqual(["reply revert", "thread/reverted"]);
    expect(result.thread.turns).toEqual([]);
    const page = await client.call("thread/turns/list", { threadId, cursor: result.turnsBackwardsCursor });
    expect(page.data.map(({ id }: { id: string }) => id)).toEqual([turns[0]]);
    await witness.about(threadId, "thread/reverted");
    expect((await client.refusal("thread/revert", { threadId, beforeTurnId: turns[1] })).message).toBe(
      `turn not found: ${turns[1]}`,
    );
  });

  it("[EDIT-9] are not rolled back while a turn runs", async () => {
    const threadId = await client.startThread();
    await client.turn(threadId, "one");
    const running = await client.speaking(threadId);
    const { data } = await client.refusal("thread/rollback", { threadId, numTurns: 1 });
    expect(data.code).toBe("turnInProgress");
    expect((await read(threadId)).turns).toHaveLength(2);
    await client.call("turn/interrupt", { threadId, turnId: running });
  });

  it("[EDIT-13] are reverted while a turn runs, which is interrupted first", async () => {
    const threadId = await client.startThread();
    const first = await client.turn(threadId, "one");
    for (const beforeTurnId of [undefined, first]) {
      const running = await client.speaking(threadId);
      const from = client.frames.length;
      await client.request("thread/revert", { threadId, beforeTurnId: beforeTurnId ?? running }, "revert");
      await client.about(threadId, "thread/reverted", from);
      const told = story(client.frames.slice(from), threadId).filter((word) => !/^item/.test(word));
      expect(told).toEqual([
        "thread/status/changed idle",
        "turn/completed",
        "reply revert",
        // The first turn had an answer that nobody has marked as read.
        ...(beforeTurnId === first ? ["thread/readState/changed"] : []),
        "thread/reverted",
      ]);
      expect((await read(threadId)).turns).toHaveLength(beforeTurnId === undefined ? 1 : 0);
    }
    // What cannot be reverted disturbs nothing.
    const running = await client.speaking(threadId);
    const { data } = await client.refusal("thread/revert", { threadId, beforeTurnId: first });
    expect(data.code).toBe("turnNotFound");
    expect((await read(threadId)).status.type).toBe("active");
    await client.call("turn/interrupt", { threadId, turnId: running });
  });
});

describe("thread/inject_items", () => {
  it("[EDIT-10] accepts items, sends no notification, and refuses an empty list", async () => {
    const threadId = await client.startThread();
    const item = { type: "message", role: "user", content: [{ type: "input_text", text: "secret" }] };
    const from = client.frames.length;
    expect(await client.call("thread/inject_items", { threadId, items: [item] })).toEqual({});
    expect((await client.refusal("thread/inject_items", { threadId, items: [] })).message).toBe(
      "items must not be empty",
    );
    expect(story(client.frames.slice(from), threadId).filter((word) => !/^(reply|error)/.test(word))).toEqual(
      [],
    );
    expect((await read(threadId)).turns).toEqual([]);
    expect(await readFile((await read(threadId)).path, "utf8")).toContain("secret");
  });

  it("[EDIT-12] refuses invalid response items, and all items of the same request", async () => {
    const threadId = await client.startThread();
    const good = { type: "message", role: "user", content: [{ type: "input_text", text: "fine" }] };
    const bad = async (item: unknown) => {
      const { code, message, data } = await client.refusal("thread/inject_items", {
        threadId,
        items: [good, item],
      });
      expect([code, data.code]).toEqual([-32600, "invalidResponseItem"]);
      return message;
    };
    expect(await bad({ foo: 1 })).toBe("items[1] is not a valid response item: missing field `type`");
    expect(await bad({ type: "message", role: "user", content: "x" })).toBe(
      'items[1] is not a valid response item: invalid type: string "x", expected a sequence',
    );
    expect(await bad("str")).toContain("expected internally tagged enum ResponseItem");
    expect(await readFile((await read(threadId)).path, "utf8")).not.toContain("fine");
    await client.call("thread/inject_items", { threadId, items: [good, { type: "of another time" }] });
  });
});

describe("sections", () => {
  it("[EDIT-11] are made, renamed, listed and deleted, and hold threads in an order", async () => {
    const { section } = await client.call("threadSection/create", { name: "Later" });
    const renamed = await client.call("threadSection/update", { sectionId: section.id, name: "Much later" });
    expect(renamed.section).toMatchObject({ id: section.id, name: "Much later" });
    const sections = (await client.call("threadSection/list", {})).data;
    expect(sections.map(({ id }: { id: string }) => id)).toContain(section.id);
    const threads: string[] = [];
    for (const text of ["a", "b", "c"]) {
      const threadId = await client.startThread();
      await client.turn(threadId, text);
      threads.push(threadId);
    }
    const [a, b, c] = threads as [string, string, string];
    await client.call("thread/unload", { threadId: b });
    const move = (threadId: string, beforeThreadId?: string): Promise<object> =>
      client.call("thread/section/move", { threadId, sectionId: section.id, beforeThreadId });
    await move(a);
    await move(b);
    await move(c, a);
    const listed = async (): Promise<string[]> => {
      const params = { sectionId: section.id, sortKey: "section_position", sortDirection: "asc" };
      const { data } = await client.call("thread/list", params);
      return data.map(({ id }: { id: string }) => id);
    };
    expect(await listed()).toEqual([c, a, b]);
    await move(b, a);
    expect(await listed()).toEqual([c, b, a]);
    expect((await read(b)).section).toMatchObject({ id: section.id, name: "Much later" });
    expect((await read(b)).sectionEnteredAt).toEqual(expect.any(Number));
    await client.call("thread/section/move", { threadId: b, sectionId: null });
    expect(await listed()).toEqual([c, a]);
    expect(await client.call("threadSection/delete", { sectionId: section.id })).toEqual({});
    const nowhere = { section: null, sectionEnteredAt: null };
    expect(await read(c)).toMatchObject(nowhere);
    const { data } = await client.call("thread/list", { limit: 100 });
    expect(data.find(({ id }: { id: string }) => id === c)).toMatchObject(nowhere);
    const gone = await client.refusal("thread/section/move", { threadId: c, sectionId: section.id });
    expect(gone.data.code).toBe("sectionMissing");
  });

  it("[EDIT-16] notify clients that use the experimental API of each change and move, after the reply", async () => {
    const looker = await host.join(undefined, { experimentalApi: true });
    /** Performs a change, and returns what both clients were sent because of it. */
    const sent = async (method: string, params: object, notification: string): Promise<object> => {
      const from = { client: client.frames.length, looker: looker.frames.length };
      await client.request(method, params, method);
      const isIt = (frame: { method?: string }) => frame.method === notification;
      const { params: heard } = await client.waitFor(isIt, notification, from.client);
      expect((await looker.waitFor(isIt, notification, from.looker)).params).toEqual(heard);
      const order = client.frames.slice(from.client).map((frame) => frame.method ?? frame.id);
      expect(order.indexOf(method)).toBeLessThan(order.indexOf(notification));
      return heard;
    };
    const { section } = await client.call("threadSection/create", { name: "Watched" });
    const sectionId = section.id;
    await looker.waitFor(({ params }) => params?.sectionId === sectionId, "the section is new");
    const changed = { sectionId };
    const named = { sectionId, name: "Still watched" };
    expect(await sent("threadSection/update", named, "threadSection/changed")).toEqual(changed);
    await bothWays(async (threadId) => {
      const moved = (to: string | null) =>
        sent("thread/section/move", { threadId, sectionId: to }, "thread/section/changed");
      expect(await moved(sectionId)).toEqual({ threadId, sectionId });
      expect(await moved(null)).toEqual({ threadId, sectionId: null });
    });
    expect(await sent("threadSection/delete", { sectionId }, "threadSection/changed")).toEqual(changed);
    const refused = client.frames.length;
    await client.refusal("threadSection/delete", { sectionId });
    await client.call("threadSection/list", {});
    expect(client.frames.slice(refused).map(({ method }) => method)).toEqual([undefined, undefined]);
    // All that was sent to this client before is there with the reply.
    await witness.call("threadSection/list", {});
    const told = witness.frames.map(({ method }) => method).filter((method) => /section/i.test(method ?? ""));
    expect(new Set(told)).toEqual(new Set(["thread/section/changed"]));
  });
});

it("[EDIT-14] of ephemeral threads is refused, with the peer's texts", async () => {
  const threadId = await client.startThread({ ephemeral: true });
  const turnId = await client.turn(threadId, "hi");
  const metadata = `ephemeral thread does not support metadata updates: ${threadId}`;
  for (const [method, params, message] of [
    ["thread/name/set", { name: "n" }, metadata],
    ["thread/metadata/update", { gitInfo: { branch: "b" } }, metadata],
    ["thread/memoryMode/set", { mode: "enabled" }, metadata],
    [
      "thread/section/move",
      { sectionId: null },
      `ephemeral thread does not support section moves: ${threadId}`,
    ],
    ["thread/delete", {}, `thread is not persisted and cannot be deleted: ${threadId}`],
    ["thread/revert", { beforeTurnId: turnId }, "ephemeral threads do not support thread/revert"],
  ] as const) {
    expect(await client.refusal(method, { threadId, ...params })).toMatchObject({ code: -32600, message });
  }
  expect((await client.call("thread/read", { threadId })).thread.name).toBeNull();
});
