import { expect, it } from "vitest";
import { newThread } from "../../../../test/support/test-thread.ts";
import type { ThreadRecord } from "../core/records.ts";
import { nodePlatform } from "../platform/node.ts";
import { listOf, type ThreadJournal } from "../store/journal.ts";
import { MemoryJournal } from "../store/memory/in-memory-journal.ts";
import { StoredThreads, type StoredThreadsPorts } from "./stored-threads.ts";

const { facts, settings, load, docs } = newThread();

function stored(more: Partial<StoredThreadsPorts> = {}, journal = new MemoryJournal()): StoredThreads {
  const observers = { committed() {} };
  const create = async (): Promise<ThreadJournal> => journal;
  const ports = { journal: { create }, journalSync: "always", broadcast() {}, observers, ...more };
  return new StoredThreads(
    { ...ports, mustNotify: () => false } as unknown as StoredThreadsPorts,
    nodePlatform(),
  );
}

/** The types of the records of each commit. */
async function written(journal: ThreadJournal): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const { commit } of journal.forwards()) all.push(commit.records.map(({ type }) => type).join());
  return all;
}

async function* history(): AsyncIterable<readonly ThreadRecord[]> {
  yield [{ type: "itemsInjected", at: 1, items: [] }];
}

it("a thread with a history need not be read from its beginning", async () => {
  const { journal } = await stored().create({ facts, settings, load, docs, history: history() });
  expect(await written(journal)).toEqual(["created", "itemsInjected", "checkpoint"]);
});

it("a long history is written some commits at once, and is not observed as if it happened now", async () => {
  const journal = new MemoryJournal();
  const appends: number[] = [];
  const { append } = journal;
  journal.append = (commits) => {
    appends.push(listOf(commits).length);
    return append.call(journal, commits);
  };
  const observed: number[] = [];
  const threads = stored({ observers: { committed: ({ seq }) => void observed.push(seq) } }, journal);
  const long = async function* (): AsyncIterable<readonly ThreadRecord[]> {
    for (let at = 0; at < 200; at++) yield [{ type: "renamed", at, name: `name ${at}` }];
    // These commits are too large for one batch.
    for (let at = 0; at < 3; at++) yield [{ type: "renamed", at, name: "x".repeat(300_000) }];
  };
  const { head } = await threads.create({ facts, settings, load, docs, history: long() });
  expect(appends).toEqual([1, 64, 64, 64, 9, 1, 1, 1]);
  const seqs = Array.from({ length: 205 }, (_, nth) => nth + 1);
  expect(observed).toEqual([]);
  const chain: number[][] = [];
  for await (const { commit } of journal.forwards()) chain.push([commit.prev, commit.seq]);
  expect(chain).toEqual(seqs.map((seq) => [seq - 1, seq]));
  expect([head.seq, head.state.name]).toEqual([205, "x".repeat(300_000)]);
});

it("a load that its host did not end is closed with a checkpoint, as any other", async () => {
  const threads = stored();
  const held = await threads.create({ facts, settings, load, docs });
  const { head } = await threads.end(held);
  expect(head.state.status).toEqual({ type: "notLoaded" });
  expect(await written(held.journal)).toEqual(["created", "closed,checkpoint"]);
});
