// What the index of every adapter of the store promises.
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Commit, ThreadRecord } from "../../packages/host/src/core/records.ts";
import { BadCursor } from "../../packages/host/src/store/list-cursor.ts";
import type { Store } from "../../packages/host/src/store/store.ts";
import type { IndexedText, ThreadIndex, ThreadQuery } from "../../packages/host/src/store/thread-index.ts";
import { fewFilters, listQuery, listRow } from "../support/list-arbitraries.ts";
import { referenceList } from "../support/reference-list.ts";
import { sampleQuery, sampleRow, sampleSearch, sampleText } from "../support/sample-rows.ts";
import { type Hosts, started, type Thread } from "./hosts.ts";

/** All pages from a cursor on: the threads, and the cursor back from each page. */
async function walk(index: ThreadIndex, query: ThreadQuery): Promise<{ ids: string[]; back: string[] }> {
  const ids: string[] = [];
  const back: string[] = [];
  for (let { cursor } = query; ; ) {
    const page = await index.list({ ...query, cursor });
    assert(page.rows.length <= query.limit);
    ids.push(...page.rows.map(({ id }) => id));
    if (page.backwardsCursor !== null) back.push(page.backwardsCursor);
    if (page.nextCursor === null) return { ids, back };
    cursor = page.nextCursor;
  }
}

/** The threads that a search finds, page by page. */
async function searched(index: ThreadIndex, term: string, fields: Partial<ThreadQuery> = {}) {
  const ids: string[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await index.search(sampleSearch(term, { limit: 2, ...fields, cursor }));
    assert(page.hits.length <= 2);
    ids.push(...page.hits.map(({ row }) => row.id));
    if (page.nextCursor === null) return ids;
    cursor = page.nextCursor;
  }
}

/** The items of a thread that contain a term. */
async function itemsWith(index: ThreadIndex, threadId: string, searchTerm: string): Promise<string[]> {
  const query = { threadId, searchTerm, from: { place: 0, nth: 0 }, limit: 50, runningTurn: null };
  return (await index.occurrences(query)).occurrences.map(({ itemId }) => itemId);
}

async function nameOf(host: Store, id: string): Promise<string | null | undefined> {
  return (await host.index.get(id))?.thread.name;
}

/** Appends a commit that the index does not get. */
async function appendUnindexed(thread: Thread, ...records: readonly ThreadRecord[]): Promise<void> {
  thread.seq++;
  const commit: Commit = { seq: thread.seq, epoch: 1, prev: thread.seq - 1, records };
  assert.equal((await thread.journal.append(commit, "synced")).kind, "committed");
}

function message(id: string, text: string): ThreadRecord {
  const rest = { phase: null, memoryCitation: null, delivery: null, questions: null };
  return { type: "itemCompleted", at: 3, turnId: "turn", item: { type: "agentMessage", id, text, ...rest } };
}

/** Promises by name; each is run on hosts of its own. */
export const INDEX_CONTRACT: Readonly<Record<string, (hosts: Hosts) => Promise<void>>> = {
  "lists threads as the reference does, page by page, there and back": async (hosts) => {
    const { index } = await hosts.start();
    const written = fc.sample(listRow, { seed: 14, numRuns: 60 });
    const rows = [...new Map(written.map((row) => [row.id, row])).values()];
    for (const row of written) index.record(row, []);
    let found = 0;
    for (const query of fc.sample(fc.oneof(listQuery, fewFilters, fewFilters), { seed: 14, numRuns: 80 })) {
      const expected = referenceList(rows, query).map(({ id }) => id);
      const { ids, back } = await walk(index, query);
      assert.deepEqual(ids, expected, JSON.stringify(query));
      found += ids.length;
      const other = query.sortDirection === "asc" ? ("desc" as const) : ("asc" as const);
      for (const [page, cursor] of back.entries()) {
        const before = expected.slice(0, page * query.limit + 1).toReversed();
        assert.deepEqual((await walk(index, { ...query, sortDirection: other, cursor })).ids, before);
      }
    }
    assert(found > 80, "most queries found nothing");
  },

  "refuses a cursor of another order": async (hosts) => {
    const { index } = await hosts.start();
    for (const id of [hosts.newId(), hosts.newId()])
      index.record(sampleRow(id), [sampleText("item", "needle")]);
    const { nextCursor } = await index.list(sampleQuery({ limit: 1 }));
    assert(nextCursor !== null);
    for (const cursor of [nextCursor, "none"]) {
      const wrong = { sortKey: "updated_at", cursor } as const;
      await assert.rejects(index.list(sampleQuery(wrong)), BadCursor);
      await assert.rejects(index.search(sampleSearch("needle", wrong)), BadCursor);
    }
  },

  "finds the threads with a text that has all words, page by page": async (hosts) => {
    const { index } = await hosts.start();
    const ids = Array.from({ length: 5 }, () => hosts.newId());
    const [first, second, third, archived, without] = ids as [string, string, string, string, string];
    const at = (createdAt: number) => ({ createdAt, thread: { cwd: createdAt === 2 ? "/b" : "/a" } });
    index.record(sampleRow(first, at(1)), [
      sampleText("one", "no word of it"),
      sampleText("two", "The Red\nneedle"),
    ]);
    index.record(sampleRow(second, at(2)), [sampleText("item", "needles, all of them R\u00c9D")]);
    index.record(sampleRow(third, at(3)), [sampleText("item", "a needle 100% red")]);
    index.record(sampleRow(archived, { ...at(4), archived: true }), [sampleText("item", "red needle")]);
    index.record(sampleRow(without, at(5)), [sampleText("one", "red"), sampleText("two", "needle")]);
    assert.deepEqual(await searched(index, "needle red"), [third, second, first]);
    assert.deepEqual(await searched(index, "RED  needle", { sortDirection: "asc" }), [first, second, third]);
    assert.deepEqual(await searched(index, "needle"), [without, third, second, first]);
    assert.deepEqual(await searched(index, "needle", { archived: true }), [archived]);
    assert.deepEqual(await searched(index, "needle", { cwds: ["/b"] }), [second]);
    assert.deepEqual(await searched(index, "0%"), [third]);
    assert.deepEqual(await searched(index, "n_edle"), []);
    assert.deepEqual(await searched(index, " "), []);
    const { hits, backwardsCursor } = await index.search(
      sampleSearch("red needle", { limit: 1, cwds: ["/a"] }),
    );
    assert.deepEqual(
      hits.map(({ snippet }) => snippet),
      ["a needle 100% red"],
    );
    const back = { cwds: ["/a"], sortDirection: "asc", cursor: backwardsCursor! } as const;
    const again = await index.search(sampleSearch("red needle", back));
    assert.deepEqual(
      again.hits.map(({ row }) => row.id),
      [third],
    );
  },

  "finds every occurrence in a thread, in order, page by page": async (hosts) => {
    const { index } = await hosts.start();
    const [id, other] = [hosts.newId(), hosts.newId()];
    const text = (place: number, said: string): IndexedText => ({ ...sampleText(`i${place}`, said), place });
    index.record(sampleRow(id), [text(3, "Needle and needle"), text(1, "a needle"), text(2, "hay")]);
    index.record(sampleRow(other), [text(1, "needle")]);
    const found: string[] = [];
    for (let from: { place: number; nth: number } | null = { place: 0, nth: 0 }; from !== null; ) {
      const query = { threadId: id, searchTerm: "needle", from, limit: 2, runningTurn: null };
      const { occurrences, next } = await index.occurrences(query);
      assert(occurrences.length <= 2);
      for (const { itemId, nth, snippet, start, end } of occurrences)
        found.push(`${itemId} ${nth} ${snippet.slice(start, end)}`);
      from = next;
    }
    assert.deepEqual(found, ["i1 0 needle", "i3 0 Needle", "i3 1 needle"]);
  },

  "keeps the newest row of a thread, and the texts that are still said": async (hosts) => {
    const { index } = await hosts.start();
    const id = hosts.newId();
    const row = (seq: number, name: string) => sampleRow(id, { seq, thread: { name } });
    index.record(row(5, "new"), [sampleText("a", "needle"), sampleText("b", "needle", "gone")]);
    index.record(row(4, "old"), []);
    assert.equal((await index.get(id))?.thread.name, "new");
    assert.deepEqual(await itemsWith(index, id, "needle"), ["a", "b"]);
    index.record(row(6, "newer"), [sampleText("a", "another word")], ["gone"]);
    assert.deepEqual(await itemsWith(index, id, "needle"), []);
    assert.deepEqual(await itemsWith(index, id, "word"), ["a"]);
    assert.deepEqual(await searched(index, "needle"), []);
    // Also if the index has commits that the journal lost.
    await index.restate(row(2, "restated"), [sampleText("c", "hay")]);
    const known = await index.get(id);
    assert.deepEqual([known?.seq, known?.thread.name], [2, "restated"]);
    assert.deepEqual(await itemsWith(index, id, "word"), []);
    assert.deepEqual(await searched(index, "hay"), [id]);
  },

  "forgets a thread completely": async (hosts) => {
    const { index } = await hosts.start();
    const [id, other] = [hosts.newId(), hosts.newId()];
    for (const one of [id, other]) index.record(sampleRow(one), [sampleText("item", "needle")]);
    await index.flush();
    index.record(sampleRow(id, { seq: 2 }), [sampleText("more", "needle")]);
    await index.forget(id);
    await index.forget(hosts.newId());
    assert.equal(await index.get(id), undefined);
    assert.deepEqual((await walk(index, sampleQuery())).ids, [other]);
    assert.deepEqual(await searched(index, "needle"), [other]);
    assert.deepEqual(await itemsWith(index, id, "needle"), []);
    assert.deepEqual([...(await index.known()).keys()], [other]);
  },

  "says how far it knows each thread": async (hosts) => {
    const { index } = await hosts.start();
    const [id, archived] = [hosts.newId(), hosts.newId()];
    assert.equal((await index.known()).size, 0);
    index.record(sampleRow(id, { seq: 3 }), []);
    index.record(sampleRow(archived, { seq: 7, archived: true, listed: false }), []);
    const known = await index.known();
    assert.equal(known.size, 2);
    for (const [one, seq, isArchived] of [
      [id, 3, false],
      [archived, 7, true],
    ] as const)
      assert.deepEqual([known.get(one)?.seq, known.get(one)?.archived], [seq, isArchived]);
  },

  "shows every host what one has flushed, and keeps it when that one dies": async (hosts) => {
    const [one, other] = [await hosts.start(), await hosts.start()];
    const id = hosts.newId();
    await one.index.mustBeOnDisk();
    one.index.record(sampleRow(id, { seq: 2, thread: { name: "one" } }), [sampleText("item", "needle")]);
    await one.index.flush();
    assert.equal(await nameOf(other, id), "one");
    assert.deepEqual((await walk(other.index, sampleQuery())).ids, [id]);
    assert.deepEqual(await searched(other.index, "needle"), [id]);
    other.index.record(sampleRow(id, { seq: 3, thread: { name: "other" } }), []);
    await other.index.flush();
    assert.equal(await nameOf(one, id), "other");
    await hosts.kill(one);
    assert.deepEqual(await itemsWith((await hosts.start()).index, id, "needle"), ["item"]);
  },

  "adds to the index what the journal has more, and removes what it has not": async (hosts) => {
    const host = await hosts.start();
    const thread = await started(hosts, host, "indexed");
    const renamed: ThreadRecord = { type: "renamed", at: 3, name: "not indexed" };
    await appendUnindexed(thread, renamed, message("item", "a needle"));
    assert.equal(await nameOf(host, thread.id), "indexed");
    await host.catchUp(thread.id);
    const row = await host.index.get(thread.id);
    assert.deepEqual([row?.seq, row?.thread.name], [3, "not indexed"]);
    assert.deepEqual(await itemsWith(host.index, thread.id, "needle"), ["item"]);
    // The index is ahead of a journal that lost its end.
    host.index.record({ ...row!, seq: 9 }, [sampleText("lost", "a lost needle")]);
    await host.catchUp(thread.id);
    assert.equal((await host.index.get(thread.id))?.seq, 3);
    assert.deepEqual(await itemsWith(host.index, thread.id, "needle"), ["item"]);
    const missing = hosts.newId();
    host.index.record(sampleRow(missing, { seq: 2 }), []);
    await host.catchUp(missing);
    assert.equal(await host.index.get(missing), undefined);
  },
};
