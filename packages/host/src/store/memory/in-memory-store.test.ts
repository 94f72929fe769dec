import { expect, it } from "vitest";
import { IndexFile } from "../../../../../test/simulation/memory-index.ts";
import { newThread } from "../../../../../test/support/test-thread.ts";
import { fold } from "../../core/fold.ts";
import type { Commit, ThreadRecord } from "../../core/records.ts";
import { SharedMemory } from "./in-memory-store.ts";

const ID = "00000000-0000-7000-8000-000000000001";
const { facts, settings, load, docs } = newThread();
const created: ThreadRecord = { type: "created", at: 1, facts: { ...facts, id: ID }, settings, load, docs };
const renamed: ThreadRecord = { type: "renamed", at: 2, name: "named" };
const COMMITS: readonly Commit[] = [
  { seq: 1, epoch: 1, prev: 0, records: [created] },
  { seq: 2, epoch: 1, prev: 1, records: [renamed] },
];
const state = fold(fold(undefined, created), renamed);

function twoHosts() {
  const shared = new SharedMemory();
  const index = new IndexFile();
  return { shared, one: shared.open("one", index.open()), two: shared.open("two", index.open()) };
}
async function* all() {
  yield* COMMITS;
}

it("brings a whole thread with its row, once, and none that is not wanted", async () => {
  const { one, two } = twoHosts();
  const how = (wanted: boolean) => ({ archived: true, state: () => (wanted ? state : undefined) });
  expect(await one.journal.bring(ID, all(), how(false))).toBeUndefined();
  expect(await two.journal.has(ID)).toBe(false);
  expect(await one.journal.bring(ID, all(), how(true))).toEqual({ path: null, archived: true });
  expect(await two.journal.bring(ID, all(), how(true))).toBeUndefined();
  expect(await one.index.get(ID)).toMatchObject({ seq: 2, archived: true, thread: { name: "named" } });
  const threads: unknown[] = [];
  for await (const thread of two.journal.threads()) threads.push(thread);
  expect(threads).toEqual([{ id: ID, archived: true }]);
});

it("gives a thread to one host, and to another after the first has died, which must recover it", async () => {
  const { shared, one, two } = twoHosts();
  await one.journal.bring(ID, all(), { archived: false, state: () => state });
  const mine = await one.journal.open(ID);
  expect(mine?.kind).toBe("mine");
  expect(mine?.kind === "mine" && mine.journal.needsRecovery).toBe(false);
  expect(await two.journal.open(ID)).toEqual({ kind: "held", by: "one" });
  expect(await two.claims.holder(ID)).toBe("one");
  expect(await one.claims.holder(ID)).toBeUndefined();
  expect(await two.claims.holders([ID, "unknown"])).toEqual(new Map([[ID, "one"]]));
  expect(await two.claims.abandoned()).toEqual([]);
  await expect(two.claims.disown(ID)).rejects.toMatchObject({ code: "heldElsewhere" });
  shared.died("one");
  expect(await two.claims.holder(ID)).toBeUndefined();
  expect(await two.claims.abandoned()).toEqual([ID]);
  const taken = await two.journal.open(ID);
  expect(taken?.kind === "mine" && taken.journal.needsRecovery).toBe(true);
  await two.claims.disown(ID);
  expect(await two.claims.held()).toEqual([]);
  expect(await two.journal.open("unknown")).toBeUndefined();
});

it("reserves a start key for one thread, until it is released or its host dies without the thread", async () => {
  const { shared, one, two } = twoHosts();
  expect(await one.startKeys.reserve("key", ID)).toBe(ID);
  expect(await one.startKeys.reserve("key", "other")).toBe(ID);
  await expect(two.startKeys.reserve("key", "other")).rejects.toMatchObject({ code: "heldElsewhere" });
  await one.journal.bring(ID, all(), { archived: false, state: () => state });
  expect(await two.startKeys.reserve("key", "other")).toBe(ID);
  expect(await one.startKeys.reserve("unmade", "a")).toBe("a");
  shared.died("one");
  expect(await two.startKeys.reserve("unmade", "b")).toBe("b");
  await two.startKeys.release("key");
  expect(await two.startKeys.reserve("key", "new")).toBe("new");
});

it("shares documents, credentials and secrets", async () => {
  const { one, two } = twoHosts();
  expect(await one.documents.replace("rules/a", "x", undefined)).toBe(true);
  expect(await two.documents.replace("rules/a", "y", undefined)).toBe(false);
  const version = (await two.documents.read("rules/a"))?.version;
  expect(await two.documents.replace("rules/a", "y", version)).toBe(true);
  expect(await one.documents.replace("rules/a", "z", version)).toBe(false);
  await one.documents.replace("mcp", "{}", undefined);
  expect(await one.documents.list("rules")).toEqual(["rules/a"]);
  await one.documents.setAside("rules/a");
  expect(await two.documents.read("rules/a")).toBeUndefined();
  await one.credentials.write("key", "text");
  expect(await two.credentials.read("key")).toBe("text");
  await two.credentials.delete("key");
  expect(await one.credentials.read("key")).toBeUndefined();
  await one.secrets.save("t", 7, "secret");
  expect(await two.secrets.list()).toEqual([{ threadId: "t", requestId: 7 }]);
  expect(await two.secrets.read("t", 7)).toBe("secret");
  await two.secrets.remove("t", 7);
  expect(await one.secrets.list()).toEqual([]);
});

it("has the commits of a thread that was brought, and says whether a journal is empty", async () => {
  const { one, two } = twoHosts();
  await one.journal.bring(ID, all(), { archived: false, state: () => state });
  const reader = (await two.journal.read(ID))!;
  const seqs: number[] = [];
  for await (const { commit } of reader.forwards()) seqs.push(commit.seq);
  expect(seqs).toEqual([1, 2]);
  expect(await reader.isEmpty()).toBe(false);
  const fresh = await one.journal.create("new");
  expect(await fresh.isEmpty()).toBe(true);
  expect([fresh.place, fresh.needsRecovery]).toEqual([{ path: null, archived: false }, false]);
  expect(await fresh.append([], "written", state)).toMatchObject({ kind: "committed" });
});

it("needs no full recovery, and catches up its index", async () => {
  const { one } = twoHosts();
  const { index } = one;
  const journal = await one.journal.create(ID);
  await journal.append(COMMITS, "written");
  expect(await index.get(ID)).toBeUndefined();
  await one.catchUp(ID);
  expect(await index.get(ID)).toMatchObject({ seq: 2 });
  expect(await one.claims.needsFullRecovery()).toBe(false);
});

it("writes the waiting rows of its index when it closes, so that another host has them", async () => {
  const { one, two } = twoHosts();
  await one.journal.bring(ID, all(), { archived: false, state: () => state });
  expect(await two.index.get(ID)).toBeUndefined();
  await one.close();
  expect(await two.index.get(ID)).toMatchObject({ seq: 2 });
});
