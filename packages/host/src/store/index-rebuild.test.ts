import type { ThreadItem } from "@bobbin/protocol";
import { describe, expect, it } from "vitest";
import { IndexFile } from "../../../../test/simulation/memory-index.ts";
import { eventually } from "../../../../test/support/eventually.ts";
import { newThread } from "../../../../test/support/test-thread.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { Log } from "../observe/log.ts";
import { catchUpIndex, isCaughtUp, rebuildRows } from "./index-rebuild.ts";
import type { Journal } from "./journal.ts";
import { SharedMemory } from "./memory/in-memory-store.ts";
import type { Store } from "./store.ts";
import type { IndexedText, KnownThread, ThreadIndex, ThreadRow } from "./thread-index.ts";

const said: string[] = [];
const say = (message: string) => void said.push(message);
const log: Log = { debug: say, info: say, warn: say, error: say };

const idOf = (nth: number): string => `00000000-0000-7000-8000-${String(nth).padStart(12, "0")}`;

/** Starts a thread, and gives it names, of which the index hears nothing. */
async function thread(store: Store, nth: number, ...names: readonly string[]): Promise<string> {
  const id = idOf(nth);
  const { facts, settings, load, docs } = newThread();
  const created: ThreadRecord = { type: "created", at: 1, facts: { ...facts, id }, settings, load, docs };
  const commits: Commit[] = [{ seq: 1, epoch: 1, prev: 0, records: [created] }];
  for (const name of names) {
    const prev = commits.length;
    commits.push({ seq: prev + 1, epoch: 1, prev, records: [{ type: "renamed", at: prev + 1, name }] });
  }
  const journal = await store.journal.create(id);
  expect(await journal.append(commits, "written")).toMatchObject({ kind: "committed" });
  await journal.close();
  return id;
}

const opened = () => new SharedMemory().open("host", new IndexFile().open());

async function rowsOf(journal: Journal): Promise<Map<string, string | null>> {
  const rows = new Map<string, string | null>();
  for await (const { row } of rebuildRows(journal, log)) rows.set(row.id, row.thread.name ?? null);
  return rows;
}

it("builds the row of every thread, however many there are", async () => {
  const store = opened();
  const wanted = new Map<string, string>();
  for (let nth = 1; nth <= 40; nth++)
    wanted.set(await thread(store, nth, "old", `name ${nth}`), `name ${nth}`);
  // A thread that was started and not used is not in the index.
  await thread(store, 99);
  expect(await rowsOf(store.journal)).toEqual(wanted);
});

it("leaves out a thread that cannot be read, or is gone meanwhile, and no other", async () => {
  const store = opened();
  for (let nth = 1; nth <= 20; nth++) await thread(store, nth, "named");
  const { journal } = store;
  const some: Journal = {
    create: (id) => journal.create(id),
    bring: (id, commits, how) => journal.bring(id, commits, how),
    has: (id) => journal.has(id),
    open: (id) => journal.open(id),
    flush: (id) => journal.flush(id),
    threads: () => journal.threads(),
    resolvePath: (path) => journal.resolvePath(path),
    read: async (id) => {
      if (id === idOf(3)) throw new Error("damaged");
      return id === idOf(4) || id === idOf(19) ? undefined : journal.read(id);
    },
  };
  const rows = await rowsOf(some);
  expect(rows.size).toBe(17);
  for (const nth of [3, 4, 19]) expect(rows.has(idOf(nth))).toBe(false);
  expect(said).toEqual(["a thread cannot be read and is not listed"]);
});

it("adds the texts of the commits that the index lacks, and of no others", async () => {
  const store = opened();
  const id = await thread(store, 1, "named");
  await catchUpIndex(store.index, store.journal, id);
  const taken = await store.journal.open(id);
  if (taken?.kind !== "mine") throw new Error("the thread is not free");
  const content = [{ type: "text", text: "a needle", text_elements: [] }];
  const item = { type: "userMessage", id: "i", content } as unknown as ThreadItem;
  const said: ThreadRecord = { type: "itemCompleted", turnId: "turn-1", at: 5, item };
  await taken.journal.append({ seq: 3, epoch: 1, prev: 2, records: [said] }, "written");
  const seen: (readonly [number, readonly string[]])[] = [];
  const index: ThreadIndex = Object.assign(Object.create(store.index) as ThreadIndex, {
    get: (threadId: string) => store.index.get(threadId),
    record: (row: ThreadRow, texts: readonly IndexedText[]) =>
      void seen.push([row.seq, texts.map(({ text }) => text)]),
  });
  await catchUpIndex(index, store.journal, id);
  expect(seen).toEqual([[3, ["a needle"]]]);
});

it("reads sixteen journals at a time, and closes each of them", async () => {
  const store = opened();
  for (let nth = 1; nth <= 40; nth++) await thread(store, nth, "named");
  let [begun, closed] = [0, 0];
  let go = (): void => {};
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  const journal: Journal = Object.assign(Object.create(store.journal) as Journal, {
    threads: () => store.journal.threads(),
    read: async (id: string) => {
      begun++;
      await gate;
      const reader = (await store.journal.read(id))!;
      const close = async () => {
        closed++;
        await reader.close();
      };
      // The last one cannot be read.
      const forwards = () => {
        if (id === idOf(40)) throw new Error("damaged");
        return reader.forwards();
      };
      return { place: reader.place, isEmpty: () => reader.isEmpty(), forwards, close };
    },
  });
  const rows = rowsOf(journal);
  await eventually(() => begun >= 16, "sixteen are being read");
  for (let turn = 0; turn < 10; turn++) await new Promise((next) => setImmediate(next));
  expect(begun).toBe(16);
  go();
  expect((await rows).size).toBe(39);
  expect([begun, closed]).toEqual([40, 40]);
});

/** A journal that has these commits alone, in any order and number. */
function journalOf(commits: readonly Commit[], archived = false): Journal {
  const reader = {
    place: { path: null, archived },
    isEmpty: async () => commits.length === 0,
    async *forwards(from?: { readonly seq: number }) {
      for (const commit of commits) if (commit.seq >= (from?.seq ?? 0)) yield { commit, start: 0, end: 0 };
    },
    async *backwards() {
      for (const commit of commits.toReversed()) yield { commit, start: 0, end: 0 };
    },
    close: async () => void closed.push("closed"),
  };
  return {
    read: async () => reader,
    async *threads() {
      yield { id: idOf(1), archived };
    },
  } as unknown as Journal;
}
const closed: string[] = [];
const { facts, settings, load, docs } = newThread();
const created: ThreadRecord = {
  type: "created",
  at: 1,
  facts: { ...facts, id: idOf(1) },
  settings,
  load,
  docs,
};
const spoken = (text: string, turnId: string): ThreadRecord => {
  const item = { type: "userMessage", id: text, content: [{ type: "text", text, text_elements: [] }] };
  return { type: "itemCompleted", turnId, at: 5, item: item as unknown as ThreadItem };
};
const dropped = (...turns: readonly string[]): ThreadRecord => {
  return { type: "turnsDropped", at: 6, dropped: turns } as unknown as ThreadRecord;
};
const commit = (seq: number, ...records: readonly ThreadRecord[]): Commit => ({
  seq,
  epoch: 1,
  prev: seq - 1,
  records,
});
const COMMITS = [
  commit(1, created),
  commit(2, { type: "renamed", at: 2, name: "two" }, spoken("one", "turn-1")),
  commit(3, spoken("two", "turn-2")),
  commit(4, dropped("turn-1")),
];

it("gives the texts of a thread without those of turns that were dropped, and each commit once", async () => {
  const repeated = [...COMMITS, commit(3, spoken("repeated", "turn-3")), commit(4, spoken("too", "turn-4"))];
  for (const commits of [COMMITS, repeated]) {
    const found: unknown[] = [];
    for await (const { row, texts, goneTurns } of rebuildRows(journalOf(commits, true), log))
      found.push([row.seq, row.thread.name, row.archived, texts.map(({ text }) => text), goneTurns]);
    expect(found).toEqual([[4, "two", true, ["two"], ["turn-1"]]]);
  }
});

it("folds the state from the last commit that starts one", async () => {
  const again = [commit(1, created), commit(2, { type: "renamed", at: 2, name: "old" }), commit(3, created)];
  expect(await rowsOf(journalOf(again))).toEqual(new Map([[idOf(1), null]]));
});

describe("an index that has a row of the thread", () => {
  /** What the index is called with, if it has a row with this number. */
  async function callsFor(seq: number | undefined, archived: boolean, commits: readonly Commit[] = COMMITS) {
    const calls: unknown[] = [];
    const short = (row: ThreadRow, texts: readonly IndexedText[]) => [row.seq, texts.map(({ text }) => text)];
    const index = {
      get: async () => (seq === undefined ? undefined : { seq, archived }),
      record: (row: ThreadRow, texts: readonly IndexedText[], gone: readonly string[]) =>
        void calls.push(["record", ...short(row, texts), gone]),
      restate: async (row: ThreadRow, texts: readonly IndexedText[]) =>
        void calls.push(["restate", ...short(row, texts)]),
      forget: async (id: string) => void calls.push(["forget", id]),
    };
    closed.length = 0;
    await catchUpIndex(index as unknown as ThreadIndex, journalOf(commits), idOf(1));
    expect(closed).toEqual(["closed"]);
    return calls;
  }

  it.each([
    ["none", undefined, false, [["record", 4, ["one", "two"], ["turn-1"]]]],
    ["an old one", 2, false, [["record", 4, ["two"], ["turn-1"]]]],
    ["the one before", 3, false, [["record", 4, [], ["turn-1"]]]],
    ["the same", 4, false, []],
    ["the same, archived", 4, true, [["record", 4, [], []]]],
    ["an old one, archived", 3, true, [["record", 4, [], ["turn-1"]]]],
    ["a newer one", 5, false, [["restate", 4, ["two"]]]],
  ])("%s", async (_, seq, archived, calls) => {
    expect(await callsFor(seq, archived)).toEqual(calls);
  });

  it("forgets it if the thread is not to be listed, and does nothing if there is none", async () => {
    for (const commits of [[], [commit(1, created)]]) {
      expect(await callsFor(3, false, commits)).toEqual([["forget", idOf(1)]]);
      expect(await callsFor(undefined, false, commits)).toEqual([]);
    }
  });

  it("is up to date if number and archive are the same, or the thread is not to be listed", () => {
    const state = { ...newThread() };
    const place = { path: null, archived: true };
    const upToDate = (seq: number, known: KnownThread | undefined) =>
      isCaughtUp({ state, seq }, place, known);
    expect(upToDate(2, { seq: 2, archived: true })).toBe(true);
    expect(upToDate(2, { seq: 2, archived: false })).toBe(false);
    expect(upToDate(2, { seq: 1, archived: true })).toBe(false);
    expect(upToDate(2, { seq: 3, archived: true })).toBe(false);
    expect(upToDate(2, undefined)).toBe(false);
    expect(upToDate(1, undefined)).toBe(true);
    expect(upToDate(1, { seq: 1, archived: true })).toBe(false);
  });
});

it("catches up with what the index lacks, takes back what the journal lacks, and forgets what is gone", async () => {
  const store = opened();
  const id = await thread(store, 1, "one", "two");
  expect(await store.index.get(id)).toBeUndefined();
  await catchUpIndex(store.index, store.journal, id);
  const row = (await store.index.get(id))!;
  expect([row.seq, row.thread.name]).toEqual([3, "two"]);
  // A power cut took commits from the journal that the index had already.
  store.index.record({ ...row, seq: 9, thread: { ...row.thread, name: "later" } }, []);
  await catchUpIndex(store.index, store.journal, id);
  expect(await store.index.get(id)).toMatchObject({ seq: 3, thread: { name: "two" } });
  const unused = await thread(store, 2);
  for (const gone of [unused, idOf(77)]) {
    store.index.record({ ...row, id: gone }, []);
    await catchUpIndex(store.index, store.journal, gone);
    expect(await store.index.get(gone)).toBeUndefined();
  }
});
