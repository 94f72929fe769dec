import { expect, it } from "vitest";
import type { ThreadRecord } from "../core/records.ts";
import { newThread } from "../core/test-thread.ts";
import type { ThreadJournal } from "../journal/journal.ts";
import { MemoryJournal } from "../journal/memory.ts";
import { nodePlatform } from "../platform/node.ts";
import { Stored, type StoredPorts } from "./stored.ts";

const { facts, settings, load, docs } = newThread();

function stored(more: Partial<StoredPorts> = {}, journal = new MemoryJournal()): Stored {
  const create = async (): Promise<ThreadJournal> => journal;
  const ports = { journal: { create }, journalSync: "always", broadcast() {}, committed() {}, ...more };
  return new Stored(
    { ...ports, mustTellClosed: () => false } as unknown as StoredPorts,
    nodePlatform().clock,
  );
}

/** Types of the records of each commit. */
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

it("a long history is written some commits at once, and each is told as one", async () => {
  const journal = new MemoryJournal();
  const appends: number[] = [];
  const { append } = journal;
  journal.append = (...commits) => {
    appends.push(commits.length);
    return append.apply(journal, commits);
  };
  const told: number[] = [];
  const threads = stored({ committed: ({ seq }) => void told.push(seq) }, journal);
  const long = async function* (): AsyncIterable<readonly ThreadRecord[]> {
    for (let at = 0; at < 200; at++) yield [{ type: "renamed", at, name: `name ${at}` }];
    // These are too large to wait for each other.
    for (let at = 0; at < 3; at++) yield [{ type: "renamed", at, name: "x".repeat(300_000) }];
  };
  const { head } = await threads.create({ facts, settings, load, docs, history: long() });
  expect(appends).toEqual([1, 64, 64, 64, 9, 1, 1, 1]);
  const seqs = Array.from({ length: 205 }, (_, nth) => nth + 1);
  expect(told).toEqual(seqs);
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
