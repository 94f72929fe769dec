import { expect, it } from "vitest";
import { newThread } from "../../../../test/support/test-thread.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import type { JournalReader } from "./journal.ts";
import { MemoryJournal } from "./memory/in-memory-journal.ts";
import { isStart, readHead, wholeHead } from "./thread-head.ts";

const { facts, settings, load, docs } = newThread();
const created: ThreadRecord = { type: "created", at: 1, facts, settings, load, docs };
const named = (name: string): ThreadRecord => ({ type: "renamed", at: 2, name });
const commit = (seq: number, ...records: readonly ThreadRecord[]): Commit => {
  return { seq, epoch: 1, prev: seq - 1, records };
};

/** A reader of these commits, whatever their order. `read` names those that were read. */
function reader(commits: readonly Commit[], isEmpty = commits.length === 0) {
  const read: number[] = [];
  const journal: JournalReader = Object.assign(new MemoryJournal(), {
    isEmpty: async () => isEmpty,
    async *backwards() {
      for (const commit of commits.toReversed()) {
        read.push(commit.seq);
        yield { commit, start: 0, end: 0 };
      }
    },
  });
  return { journal, read };
}
const headOf = async (...commits: readonly Commit[]) => {
  const head = await readHead(reader(commits).journal);
  return head && [head.seq, head.state.name];
};

it("is the state after all commits, and the number of the last one", async () => {
  expect(await headOf(commit(1, created))).toEqual([1, null]);
  expect(await headOf(commit(1, created, named("a")), commit(2, named("b")), commit(3))).toEqual([3, "b"]);
});

it("begins within a commit, with the record that starts a state", async () => {
  expect(await headOf(commit(4, named("before"), created))).toEqual([4, null]);
  expect(isStart(commit(4, named("before"), created))).toBe(true);
  expect(isStart(commit(4, named("before")))).toBe(false);
  expect(isStart(commit(4))).toBe(false);
});

it("is read back to the start of a state alone", async () => {
  const { journal, read } = reader([
    commit(1, created),
    commit(2, created, named("a")),
    commit(3, named("b")),
  ]);
  expect(await readHead(journal)).toMatchObject({ seq: 3, state: { name: "b" } });
  expect(read).toEqual([3, 2]);
});

it("leaves out commits that are there twice, or behind ones with a higher number", async () => {
  const all = [commit(1, created), commit(2, named("two")), commit(3, named("three"))];
  expect(await headOf(...all, commit(3, named("repeated")))).toEqual([3, "three"]);
  expect(await headOf(...all, commit(2, named("repeated")))).toEqual([3, "three"]);
  expect(await headOf(...all, commit(2, named("x")), commit(3, named("y")), commit(4, named("z")))).toEqual([
    4,
    "z",
  ]);
});

it("is none of an empty journal, and refused where no commit starts a state", async () => {
  expect(await headOf()).toBeUndefined();
  const damaged = reader([commit(2, named("a"))], false).journal;
  await expect(readHead(damaged)).rejects.toMatchObject({ code: "journalDamaged" });
  expect(await wholeHead(reader([], true).journal, [])).toBeUndefined();
  await expect(wholeHead(reader([], false).journal, [])).rejects.toMatchObject({ code: "journalDamaged" });
  expect(await wholeHead(damaged, [commit(1, created)])).toMatchObject({ seq: 1 });
});
