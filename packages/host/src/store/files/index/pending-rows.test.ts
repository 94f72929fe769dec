import { expect, it } from "vitest";
import { sampleRow, sampleText } from "../../../../../../test/support/sample-rows.ts";
import type { Entry } from "./index-writes.ts";
import { BATCH_CHARS, BATCH_ROWS, PendingRows } from "./pending-rows.ts";

/** Writes batches until nothing waits, and returns the ids in each. */
function batchesOf(rows: PendingRows): readonly (readonly string[])[] {
  const batches: string[][] = [];
  while (rows.size > 0) rows.writeSome((entries) => void batches.push(entries.map(({ row }) => row.id)));
  return batches;
}

it("has the newest row of each thread, with all that was said since the last write", () => {
  const rows = new PendingRows();
  rows.add(sampleRow("a", { seq: 2 }), [sampleText("i1", "one")], ["t1"]);
  rows.add(sampleRow("a", { seq: 1 }), [sampleText("i2", "three")], []);
  expect(rows.get("a")?.seq).toBe(2);
  rows.add(sampleRow("a", { seq: 3 }), [], ["t2"]);
  expect([rows.size, rows.chars, rows.get("a")?.seq]).toEqual([1, 8, 3]);
  let written: readonly Entry[] = [];
  rows.writeSome((entries) => {
    written = structuredClone([...entries]);
  });
  expect(written).toMatchObject([
    { row: { id: "a", seq: 3 }, texts: [{ text: "one" }, { text: "three" }], goneTurns: ["t1", "t2"] },
  ]);
  expect([rows.size, rows.chars, rows.get("a")]).toEqual([0, 0, undefined]);
});

it("writes no more at once than a transaction may hold", () => {
  const many = new PendingRows();
  for (let nth = 0; nth <= BATCH_ROWS; nth++) many.add(sampleRow(`t${nth}`), [], []);
  expect(batchesOf(many).map(({ length }) => length)).toEqual([BATCH_ROWS, 1]);
  const long = new PendingRows();
  const half = sampleText("i", "x".repeat(BATCH_CHARS / 2));
  for (const id of ["a", "b", "c"]) long.add(sampleRow(id), [half], []);
  expect(batchesOf(long)).toEqual([["a", "b"], ["c"]]);
});

it("keeps what could not be written, and drops what is no longer wanted", () => {
  const rows = new PendingRows();
  for (const id of ["a", "b", "c"]) rows.add(sampleRow(id), [sampleText("i", "12345")], []);
  const refuse = () => {
    throw new Error("the disk is full");
  };
  expect(() => rows.writeSome(refuse)).toThrow("full");
  expect([rows.size, rows.chars]).toEqual([3, 15]);
  rows.drop("b");
  rows.drop("unknown");
  expect([rows.size, rows.chars]).toEqual([2, 10]);
  rows.dropTexts();
  expect([rows.size, rows.chars]).toEqual([2, 0]);
  const texts: unknown[] = [];
  expect(() =>
    rows.writeSome((entries) => {
      texts.push(...entries.map((entry) => [...entry.texts]));
      refuse();
    }),
  ).toThrow("full");
  expect(texts).toEqual([[], []]);
  expect(batchesOf(rows)).toEqual([["a", "c"]]);
});

it("numbers threads as they come, and says which has waited longest", () => {
  const rows = new PendingRows();
  expect([rows.firstTicket, rows.lastTicket]).toEqual([1, 0]);
  for (const id of ["a", "b", "a"]) rows.add(sampleRow(id), [], []);
  expect([rows.firstTicket, rows.lastTicket]).toEqual([1, 2]);
  rows.drop("a");
  expect(rows.firstTicket).toBe(2);
  rows.drop("b");
  expect(rows.firstTicket).toBe(3);
});
