import { expect, it } from "vitest";
import { sampleRow } from "../../../../../../test/support/sample-rows.ts";
import { BATCH_ROWS, PendingRows } from "./pending-rows.ts";
import { WriteBehind } from "./write-behind.ts";

/** Rows that are written to a list; `beforeBatch` runs before each write. */
function stage(beforeBatch: (rows: PendingRows, batch: number) => void = () => {}) {
  const rows = new PendingRows();
  const written: string[] = [];
  let batches = 0;
  let pauses = 0;
  const behind = new WriteBehind(
    rows,
    async () => {
      beforeBatch(rows, ++batches);
      rows.writeSome((entries) => written.push(...entries.map(({ row }) => row.id)));
    },
    async () => {
      pauses++;
    },
  );
  const add = (id: string) => rows.add(sampleRow(id), [], []);
  return { rows, written, behind, add, counts: () => ({ batches, pauses }) };
}

it("writes as many batches for a thousand callers as for one", async () => {
  const { behind, add, written, counts } = stage();
  const callers: Promise<void>[] = [];
  for (let at = 0; at < 1000; at++) {
    add(`t${at}`);
    callers.push(behind.written());
  }
  await Promise.all(callers);
  expect(written).toHaveLength(1000);
  const batches = Math.ceil(1000 / BATCH_ROWS);
  // The first batch holds the one row that was there when the first caller asked.
  expect(counts()).toEqual({ batches: batches + 1, pauses: batches });
});

it("does not wait for rows that come after the caller asked", async () => {
  // As on a host where turns never stop ending: with every batch another one is there.
  const { behind, add, written, counts, rows } = stage((waiting, batch) => {
    if (batch > 50) throw new Error("a caller waited for rows that came after it had asked");
    for (let at = 0; at < BATCH_ROWS; at++) waiting.add(sampleRow(`later ${batch} ${at}`), [], []);
  });
  for (let at = 0; at < 150; at++) add(`t${at}`);
  await behind.written();
  expect(written.filter((id) => id.startsWith("t"))).toHaveLength(150);
  expect(counts().batches).toBe(2);
  expect(rows.size).toBeGreaterThan(0);
});

it("waits for a row that was already waiting when it changed", async () => {
  const { behind, add, written, rows } = stage();
  add("old");
  add("other");
  rows.add(sampleRow("old", { seq: 9 }), [], []);
  await behind.written();
  expect(written).toEqual(["old", "other"]);
});

it("rejects every caller when a batch cannot be written, and writes the rows for the next one", async () => {
  let full = true;
  const { behind, add, written } = stage(() => {
    if (full) throw new Error("disk full");
  });
  add("t1");
  const callers = [behind.written(), behind.written()];
  expect(await Promise.allSettled(callers)).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
  full = false;
  await behind.written();
  expect(written).toEqual(["t1"]);
});
