import { expect, it } from "vitest";
import type { Commit, ThreadRecord } from "../core/records.ts";
import { CheckpointPolicy } from "./checkpoint-policy.ts";

const record = (type: string): ThreadRecord => ({ type }) as unknown as ThreadRecord;
const TEXT = [record("textSaved")];
const END = [record("turnEnded")];
const MiB = 1024 * 1024;

/** Writes commits until a checkpoint is due. Returns their number. */
function until(
  checkpoints: CheckpointPolicy,
  records: readonly ThreadRecord[],
  bytes = 100,
  own = bytes,
): number {
  for (let commits = 1; ; commits++) {
    const due = checkpoints.isDue(records);
    const written = due ? [...records, record("checkpoint")] : records;
    checkpoints.written({ records: written } as unknown as Commit, due ? own : bytes);
    if (due) return commits;
  }
}

it("are written with a turn's end when many commits have come, and in a turn that has no end", () => {
  const checkpoints = new CheckpointPolicy();
  expect([until(checkpoints, END), until(checkpoints, END), until(checkpoints, TEXT)]).toEqual([64, 64, 256]);
});

it("are always written with a closing and with a compaction", () => {
  const checkpoints = new CheckpointPolicy();
  for (const type of ["closed", "compacted"]) expect(until(checkpoints, [record(type)])).toBe(1);
});

it("are written when much was, and not so often that they are the most of it", () => {
  const checkpoints = new CheckpointPolicy();
  expect(until(checkpoints, TEXT, MiB, 10 * MiB)).toBe(5);
  expect(until(checkpoints, TEXT, MiB)).toBe(11);
});
