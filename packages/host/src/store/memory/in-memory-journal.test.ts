import { expect, it } from "vitest";
import type { Commit } from "../../core/records.ts";
import type { Placed } from "../journal.ts";
import { MemoryJournal } from "./in-memory-journal.ts";

const named = (seq: number, name = `n${seq}`): Commit => ({
  seq,
  epoch: 1,
  prev: seq - 1,
  records: [{ type: "renamed", at: seq, name }],
});

async function seqs(placed: AsyncIterable<Placed>): Promise<number[]> {
  const found: number[] = [];
  for await (const { commit } of placed) found.push(commit.seq);
  return found;
}

async function journalWith(...numbers: readonly number[]): Promise<MemoryJournal> {
  const journal = new MemoryJournal();
  // A thread that is forked may begin with a later number.
  if (numbers.length > 0) await journal.append({ ...named(numbers[0]!), prev: 0 });
  for (const seq of numbers.slice(1))
    expect(await journal.append(named(seq))).toMatchObject({ kind: "committed" });
  return journal;
}

it("reads from any commit in either direction, also beyond both ends", async () => {
  for (const [first, journal] of [
    [1, await journalWith(1, 2, 3, 4)],
    [5, await journalWith(5, 6, 7, 8)],
  ] as const) {
    const at = (...nth: readonly number[]) => nth.map((one) => first + one);
    expect(await seqs(journal.forwards())).toEqual(at(0, 1, 2, 3));
    expect(await seqs(journal.backwards())).toEqual(at(3, 2, 1, 0));
    expect(await seqs(journal.forwards({ seq: first + 2 }))).toEqual(at(2, 3));
    expect(await seqs(journal.backwards({ seq: first + 1 }))).toEqual(at(1, 0));
    expect(await seqs(journal.forwards({ seq: 0 }))).toEqual(at(0, 1, 2, 3));
    expect(await seqs(journal.forwards({ seq: 99 }))).toEqual([]);
    expect(await seqs(journal.backwards({ seq: 99 }))).toEqual(at(3, 2, 1, 0));
    expect(await seqs(journal.backwards({ seq: first - 1 }))).toEqual([]);
    expect(await seqs(journal.naming(`n${first + 1}`))).toEqual(at(1));
    expect(await seqs(journal.naming(`n${first + 1}`, { seq: first + 2 }))).toEqual([]);
  }
});

it("takes the next commit alone, and says how many of some commits it has", async () => {
  const journal = await journalWith();
  expect(await journal.isEmpty()).toBe(true);
  expect(await journal.append([])).toMatchObject({ kind: "committed" });
  await journal.append([named(1), named(2)]);
  expect(await journal.isEmpty()).toBe(false);
  for (const seq of [1, 2, 4]) expect(await journal.append(named(seq))).toEqual({ kind: "conflict" });
  expect(await journal.settle([named(2), named(3), named(4)])).toBe(1);
  expect(await journal.settle([named(3)])).toBe(0);
});

it("has no place, no folder and no archive, needs no recovery, and is this host's own", async () => {
  const journal = await journalWith(1);
  expect(journal).toMatchObject({
    place: { path: null, archived: false },
    folder: null,
    needsRecovery: false,
  });
  expect(await journal.isHeld()).toBe(true);
  await expect(journal.archive()).rejects.toThrow("has no archive");
});

it("holds blobs up to a limit, and lets go of those that were used longest ago", async () => {
  const journal = await journalWith();
  const eight = new Uint8Array(8 * 1024 * 1024);
  await journal.keep("a1", eight);
  await journal.keep("b", eight);
  await journal.keep("a1", eight);
  expect(await journal.blobs("")).toHaveLength(2);
  await journal.keep("a2", new Uint8Array(1));
  expect(await journal.blob("b")).toBeUndefined();
  expect(await journal.blobs("a")).toEqual([
    { name: "a1", bytes: eight.length },
    { name: "a2", bytes: 1 },
  ]);
  await journal.removeBlob("a1");
  expect(await journal.blobs("")).toEqual([{ name: "a2", bytes: 1 }]);
  // One that is larger than the limit is not kept at all.
  await journal.keep("c", new Uint8Array(16 * 1024 * 1024 + 1));
  expect(await journal.blobs("")).toEqual([]);
});
