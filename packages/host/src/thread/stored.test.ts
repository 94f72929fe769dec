import { expect, it } from "vitest";
import type { ThreadRecord } from "../core/records.ts";
import { newThread } from "../core/test-thread.ts";
import type { ThreadJournal } from "../journal/journal.ts";
import { MemoryJournal } from "../journal/memory.ts";
import { nodePlatform } from "../platform/node.ts";
import { Stored, type StoredPorts } from "./stored.ts";

const { facts, settings, load, docs } = newThread();

function stored(): Stored {
  const create = async (): Promise<ThreadJournal> => new MemoryJournal();
  const ports = { journal: { create }, journalSync: "always", broadcast() {}, committed() {} };
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

it("a load that its host did not end is closed with a checkpoint, as any other", async () => {
  const threads = stored();
  const held = await threads.create({ facts, settings, load, docs });
  const { head } = await threads.end(held);
  expect(head.state.status).toEqual({ type: "notLoaded" });
  expect(await written(held.journal)).toEqual(["created", "closed,checkpoint"]);
});
