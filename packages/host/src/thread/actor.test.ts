import { describe, expect, it } from "vitest";
import { fold } from "../core/fold.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { Fault } from "../errors.ts";
import type { ThreadJournal } from "../journal/journal.ts";
import { MemoryJournal } from "../journal/memory.ts";
import { nodePlatform } from "../platform/node.ts";
import { Slices } from "../platform/slices.ts";
import { Actor, type ActorPorts } from "./actor.ts";
import { allTurns } from "./history.ts";

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
    mustSync: () => false,
    reconcile() {},
    committed() {},
    woken() {},
    visited() {},
    failed() {},
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
  const asked: string[] = [];
  const actor = await loaded(journal, { reconcile: (_, state) => asked.push(state.status.type) });
  await actor.submit({ ...start, turnId: "a" });
  await actor.park();
  expect(asked).toEqual(["active", "notLoaded"]);
  await expect(actor.submit({ ...start, turnId: "b" })).rejects.toMatchObject({ code: "shuttingDown" });
  // Nothing is written: the next host finds it as it is.
  expect((await commits(journal)).map(({ seq }) => seq)).toEqual([1, 2]);
});

describe("a thread whose journal fails", () => {
  /** The first sync fails, when something else waits already. */
  async function failing() {
    const journal = new MemoryJournal();
    let fail!: (cause: Error) => void;
    journal.sync = () => new Promise((_, reject) => (fail = reject));
    const failures: unknown[] = [];
    const asked: string[] = [];
    const actor = await loaded(journal, {
      mustSync: () => true,
      failed: (_, cause) => failures.push(cause),
      reconcile: (_, state) => asked.push(state.status.type),
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
    return { actor, journal, failures, asked, outcomes: await Promise.all([first, second, look]), rename };
  }

  it("takes nothing of what waits, nor of what comes later", async () => {
    const { actor, journal, outcomes, rename, failures } = await failing();
    expect(outcomes).toEqual(["storageFailed", "storageFailed", "storageFailed"]);
    expect(await rename("three")).toBe("storageFailed");
    expect((await commits(journal)).map(({ seq }) => seq)).toEqual([1, 2]);
    expect([actor.broken, actor.status.type, failures.length]).toEqual([true, "systemError", 1]);
  });

  it("stops what it does", async () => {
    const { asked } = await failing();
    expect(asked).toEqual(["notLoaded"]);
  });
});

it("does not blame the disk for a fault of ours", async () => {
  const actor = await loaded(new MemoryJournal(), {
    committed: () => {
      throw new TypeError("a bug");
    },
  });
  await actor.submit({ kind: "rename", at: 2, name: "one" });
  await expect(actor.submit({ kind: "rename", at: 2, name: "two" })).rejects.toMatchObject({
    code: "threadBroken",
  });
});

describe("a thread whose work fails for a reason that nobody thought of", () => {
  const bug = (): never => {
    throw new TypeError("a bug");
  };

  async function failing(ports: Partial<ActorPorts>) {
    const reported: string[] = [];
    const actor = await loaded(new MemoryJournal(), {
      // What is wrong with the thread is wrong for everyone who hears of it.
      failed: bug,
      supervise: (what, work) =>
        void work.catch((cause: Error) => reported.push(`${what}: ${cause.message}`)),
      ...ports,
    });
    return { actor, reported };
  }

  it("[DAMAGE-3] fails alone, whatever the news of it leads to", async () => {
    const { actor, reported } = await failing({ reconcile: bug });
    // It was written and told before.
    await actor.submit({ kind: "rename", at: 2, name: "one" });
    await expect(actor.submit({ kind: "rename", at: 2, name: "two" })).rejects.toMatchObject({
      code: "threadBroken",
    });
    expect(actor.broken).toBe(true);
    expect(reported).toEqual([
      "reporting a thread that failed: a bug",
      "stopping a thread that failed: a bug",
    ]);
  });

  it("[DAMAGE-3] fails alone when it is to go on after a load", async () => {
    const { actor, reported } = await failing({ reconcile: bug });
    actor.goOn();
    await expect(actor.submit({ kind: "rename", at: 2, name: "one" })).rejects.toMatchObject({
      code: "threadBroken",
    });
    expect(reported).toHaveLength(2);
  });

  it("[DAMAGE-3] fails alone when it cannot get its next turn among the threads", async () => {
    const { actor } = await failing({ commits: { turn: bug } as unknown as ActorPorts["commits"] });
    // No two turns begin in one commit: the second one is left for the next step.
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
    // It fails once, whatever else goes wrong with it.
    actor.fail(new TypeError("another one"));
    expect(causes).toEqual([why]);
  });
});
