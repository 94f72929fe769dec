import { describe, expect, it } from "vitest";
import { fold } from "../core/fold.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { Fault } from "../errors.ts";
import { allTurns } from "../history/stored-turns.ts";
import { Supervisor } from "../observe/supervise.ts";
import { Slices } from "../platform/event-loop-slices.ts";
import { nodePlatform } from "../platform/node.ts";
import type { ThreadJournal } from "../store/journal.ts";
import { MemoryJournal } from "../store/memory/in-memory-journal.ts";
import { Actor, type ActorPorts } from "./actor.ts";
import { Observers, type ThreadObserver } from "./observers.ts";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

const created: ThreadRecord = {
  type: "created",
  at: 1,
  facts: {
    id: "t",
    owner: "o",
    ephemeral: true,
    source: "vscode",
    originator: null,
    cliVersion: "0",
    serviceName: null,
    threadSource: null,
    forkedFromId: null,
    parentThreadId: null,
  },
  settings: {
    model: "m",
    modelProvider: "p",
    serviceTier: null,
    cwd: "/",
    approvalPolicy: "never",
    approvalsReviewer: "user",
    sandbox: { type: "dangerFullAccess" },
    effort: null,
    summary: null,
    personality: null,
  },
  load: {},
  docs: [],
};

const start = {
  kind: "startTurn",
  at: 2,
  userItemId: "u",
  clientUserMessageId: null,
  input: [],
  outputSchema: null,
  changes: {},
} as const;

async function loaded(journal: ThreadJournal, ports: Partial<ActorPorts> = {}): Promise<Actor> {
  await journal.append({ seq: 1, epoch: 1, prev: 0, records: [created] });
  return new Actor({ state: fold(undefined, created), seq: 1 }, journal, {
    platform: nodePlatform(),
    commits: new Slices(nodePlatform()),
    broadcast() {},
    durability: () => "written",
    observers: { committed() {}, failed() {} },
    recovering: async () => {},
    driver: { goOn() {}, stop() {} },
    woken() {},
    visited() {},
    supervise() {},
    secretOf: () => undefined,
    ...ports,
  });
}

async function commits(journal: ThreadJournal): Promise<readonly Commit[]> {
  const all: Commit[] = [];
  for await (const { commit } of journal.forwards()) all.push(commit);
  return all;
}

it("gives every turn a commit of its own to begin with, also if several come at once", async () => {
  const journal = new MemoryJournal();
  const actor = await loaded(journal);
  await Promise.all([
    actor.submit({ ...start, turnId: "a" }),
    actor.submit({ kind: "compact", at: 2, turnId: "b" }),
    actor.submit({ kind: "interrupt", at: 2, turnId: "b" }),
    actor.submit({ ...start, turnId: "c" }),
  ]);
  const starts = (await commits(journal)).map(
    ({ records }) => records.filter(({ type }) => type === "turnStarted").length,
  );
  expect(starts).toEqual([0, 1, 1, 1]);
  expect((await allTurns(journal)).map(({ id, status }) => `${id} ${status}`)).toEqual([
    "a interrupted",
    "b interrupted",
    "c inProgress",
  ]);
});

it("writes large commands that come at once in commits of their own, in order", async () => {
  const journal = new MemoryJournal();
  const actor = await loaded(journal);
  const MEBIBYTE = 1024 * 1024;
  const inject = (name: string, mebibytes: number) => {
    const content = [{ type: "input_text", text: name.repeat(mebibytes * MEBIBYTE) }];
    return actor.submit({ kind: "injectItems", at: 2, items: [{ type: "message", content }] });
  };
  const sizes = [3, 1, 0, 6, 0, 2, 6];
  await Promise.all(sizes.map((mebibytes, nth) => inject("abcdefg"[nth]!, mebibytes)));
  const injected = (await commits(journal)).slice(1).map(({ records }) =>
    records.flatMap((record) => {
      if (record.type !== "itemsInjected") return [];
      const [{ content }] = record.items as [{ content: [{ text: string }] }];
      return content[0].text.length / MEBIBYTE;
    }),
  );
  expect(injected).toEqual([[3], [1, 0], [6], [0, 2], [6]]);
  expect(injected.flat()).toEqual(sizes);
});

it("records the first of two answers that come at once, and sends that it was resolved once", async () => {
  const journal = new MemoryJournal();
  const actor = await loaded(journal);
  const turnId = "a";
  const call = { callId: "c", name: "act", namespace: null, arguments: "{}", kind: "function" } as const;
  const ask = { method: "item/tool/call", params: {} as never } as const;
  await actor.submit({ ...start, turnId });
  await actor.submit({ kind: "toolCalled", at: 2, turnId, attempt: 1, call });
  const step = { kind: "ask", requestId: 7, reviewId: "r", fingerprint: "f", ask } as const;
  await actor.submit({ kind: "stepCall", at: 2, turnId, callId: "c", from: "proposed", step });
  expect(actor.requests.map(({ id }) => id)).toEqual([7]);
  const answer = (result: string) =>
    actor.submit({ kind: "answer", at: 3, requestId: 7, answer: { kind: "result", result } });
  await Promise.all([answer("first"), answer("second")]);
  const last = (await commits(journal)).at(-1)!.records;
  expect(last.filter(({ type }) => type === "requestResolved")).toEqual([
    { type: "requestResolved", at: 3, requestId: 7, answer: { kind: "result", result: "first" } },
  ]);
  expect(actor.requests).toEqual([]);
});

it("stops its work when it is parked, and takes nothing more", async () => {
  const journal = new MemoryJournal();
  const stopped: Actor[] = [];
  const driver = { goOn() {}, stop: (one: Actor) => void stopped.push(one) };
  const actor = await loaded(journal, { driver });
  await actor.submit({ ...start, turnId: "a" });
  expect(stopped).toEqual([]);
  await actor.park();
  expect(stopped).toEqual([actor]);
  await expect(actor.submit({ ...start, turnId: "b" })).rejects.toMatchObject({ code: "shuttingDown" });
  // Nothing is written: the next host finds the thread unchanged.
  expect((await commits(journal)).map(({ seq }) => seq)).toEqual([1, 2]);
});

it("is left to another host when the commit under way is written, and takes nothing that waits", async () => {
  const journal = new MemoryJournal();
  const actor = await loaded(journal);
  const { append } = journal;
  const order: string[] = [];
  let write!: () => void;
  const writing = new Promise<void>((resolve) => {
    write = resolve;
  });
  const begun = new Promise<void>((resolve) => {
    journal.append = async (given) => {
      resolve();
      await writing;
      order.push("written");
      return append.call(journal, given);
    };
  });
  const underWay = actor.submit({ ...start, turnId: "a" });
  await begun;
  const waiting = expect(actor.submit({ ...start, turnId: "b" })).rejects.toMatchObject({
    code: "threadNotFound",
  });
  const moved = actor.moved().then(() => order.push("moved"));
  await waiting;
  write();
  await Promise.all([underWay, moved]);
  expect(order).toEqual(["written", "moved"]);
  expect(await commits(journal)).toHaveLength(2);
});

describe("who has a thread loaded", () => {
  /** A thread with a log of the events. */
  async function noted() {
    const notes: string[] = [];
    const driver = { goOn: () => void notes.push("goes on"), stop() {} };
    const observers = { committed: () => void notes.push("commits"), failed() {} };
    return { actor: await loaded(new MemoryJournal(), { driver, observers }), notes };
  }

  it("joins it, and has it begin what is due, before anything else happens in it", async () => {
    const { actor, notes } = await noted();
    const joined = actor.join(async () => {
      notes.push("replies");
      await new Promise((resolve) => setImmediate(resolve));
      notes.push("follows");
    });
    const renamed = actor.submit({ kind: "rename", at: 2, name: "one" });
    await Promise.all([joined, renamed]);
    expect(notes).toEqual(["replies", "follows", "goes on", "commits"]);
  });

  it.each([
    ["goes on with a turn that runs", true],
    ["begins nothing", false],
  ])("%s if it cannot be joined", async (_, runs) => {
    const { actor, notes } = await noted();
    if (runs) await actor.submit({ ...start, turnId: "a" });
    notes.splice(0);
    const refused = actor.join(async () => {
      throw new Error("no such cursor");
    });
    await expect(refused).rejects.toThrow("no such cursor");
    expect(notes).toEqual(runs ? ["goes on"] : []);
    await actor.submit({ kind: "rename", at: 3, name: "one" });
  });
});

describe("a thread whose journal fails", () => {
  /** The first sync fails while another command waits. */
  async function failing() {
    const journal = new MemoryJournal();
    let fail!: (cause: Error) => void;
    let hasFailed = false;
    const { append } = journal;
    journal.append = async (commits, durability) => {
      const outcome = await append.call(journal, commits);
      if (durability !== "synced" || hasFailed) return outcome;
      hasFailed = true;
      const cause = await new Promise<Error>((failed) => (fail = failed));
      return { kind: "unknown", of: "sync", cause };
    };
    const failures: unknown[] = [];
    const actor = await loaded(journal, {
      durability: () => "synced",
      observers: { committed() {}, failed: (_, cause) => void failures.push(cause) },
    });
    const outcome = (done: Promise<void>) =>
      done.then(
        () => "done",
        (why: Fault) => why.code,
      );
    const rename = (name: string) => outcome(actor.submit({ kind: "rename", at: 2, name }));
    const first = rename("one");
    await new Promise((resolve) => setImmediate(resolve));
    const second = rename("two");
    const look = outcome(actor.look(() => {}));
    fail(new Error("EIO"));
    return { actor, journal, failures, outcomes: await Promise.all([first, second, look]), rename };
  }

  it("takes nothing of what waits, and reads the journal again before what comes later", async () => {
    const { actor, journal, outcomes, rename, failures } = await failing();
    expect(outcomes).toEqual(["storageFailed", "storageFailed", "storageFailed"]);
    expect([actor.broken, actor.status.type, failures.length]).toEqual([true, "systemError", 1]);
    expect((await commits(journal)).map(({ seq }) => seq)).toEqual([1, 2]);
    const before = actor.peek();
    expect(await rename("three")).toBe("done");
    // The commit is there, although its sync has failed.
    expect((await before).name).toBe("one");
    expect((await commits(journal)).map(({ seq }) => seq)).toEqual([1, 2, 3]);
    expect([actor.broken, actor.status.type, failures.length]).toEqual([false, "idle", 1]);
  });
});

it("does not blame the disk for a fault of ours", async () => {
  const bug = () => {
    throw new TypeError("a bug");
  };
  const actor = await loaded(new MemoryJournal(), { observers: { committed: bug, failed() {} } });
  await actor.submit({ kind: "rename", at: 2, name: "one" });
  await expect(actor.submit({ kind: "rename", at: 2, name: "two" })).rejects.toMatchObject({
    code: "threadBroken",
  });
});

describe("a thread whose work fails for a reason that nobody thought of", () => {
  const bug = (): never => {
    throw new TypeError("a bug");
  };

  async function failing(observer: ThreadObserver, ports: Partial<ActorPorts> = {}) {
    const reported: string[] = [];
    const log = { ...SILENT, error: (message: string) => void reported.push(message) };
    // These observers throw in `failed`, too.
    const observers = new Observers([observer, { failed: bug }, { failed: bug }], new Supervisor(log));
    const actor = await loaded(new MemoryJournal(), { observers, ...ports });
    return { actor, reported };
  }

  it("[DAMAGE-3] fails alone, whatever the news of it leads to", async () => {
    const { actor, reported } = await failing({ committed: bug });
    // The commit was written, and clients were notified, before the failure.
    await actor.submit({ kind: "rename", at: 2, name: "one" });
    await expect(actor.submit({ kind: "rename", at: 2, name: "two" })).rejects.toMatchObject({
      code: "threadBroken",
    });
    expect(actor.broken).toBe(true);
    expect(reported).toHaveLength(2);
  });

  it("[DAMAGE-3] fails alone when it is to go on after a load", async () => {
    const { actor, reported } = await failing({}, { driver: { goOn: bug, stop() {} } });
    actor.goOn();
    await expect(actor.submit({ kind: "rename", at: 2, name: "one" })).rejects.toMatchObject({
      code: "threadBroken",
    });
    expect(reported).toHaveLength(2);
  });

  it("[DAMAGE-3] fails alone when it cannot get its next turn among the threads", async () => {
    const { actor } = await failing({}, { commits: { turn: bug } as unknown as ActorPorts["commits"] });
    // No two turns start in one commit: the second one waits for the next step.
    const first = actor.submit({ ...start, turnId: "a" });
    const second = actor.submit({ kind: "compact", at: 2, turnId: "b" });
    await first;
    await expect(second).rejects.toMatchObject({ code: "threadBroken" });
    expect(actor.broken).toBe(true);
  });

  it("[DAMAGE-3] is as it was when whoever asked fails over the reply", async () => {
    const { actor, reported } = await failing({});
    await expect(actor.submit({ kind: "rename", at: 2, name: "one" }, bug)).rejects.toThrow("a bug");
    await actor.submit({ kind: "rename", at: 2, name: "two" });
    expect((await actor.peek()).name).toBe("two");
    expect([actor.broken, reported]).toEqual([false, []]);
  });

  it("[DAMAGE-3] refuses what waits when it is made to fail", async () => {
    const causes: unknown[] = [];
    const { actor } = await failing({ failed: (_, cause) => void causes.push(cause) });
    const waiting = actor.submit({ kind: "rename", at: 2, name: "one" });
    const why = new TypeError("a bug");
    actor.fail(why);
    await expect(waiting).rejects.toMatchObject({ code: "threadBroken" });
    expect(actor.status.type).toBe("systemError");
    // `failed` is called once, even if more errors follow.
    actor.fail(new TypeError("another one"));
    expect(causes).toEqual([why]);
  });
});
