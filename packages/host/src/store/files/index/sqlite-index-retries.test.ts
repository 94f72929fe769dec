import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "@photostructure/sqlite";
import { afterEach, describe, expect, it, vi } from "vitest";
import { eventually } from "../../../../../../test/support/eventually.ts";
import { failing, indexStage, listedIds, sqliteError } from "../../../../../../test/support/index-stage.ts";
import { sampleRow, sampleText } from "../../../../../../test/support/sample-rows.ts";
import { IndexFile } from "./index-file.ts";
import { BATCH_CHARS } from "./pending-rows.ts";

const locked = sqliteError("database is locked");
const broken = sqliteError("database disk image is malformed");
const full = new Error("disk is full");

afterEach(() => {
  vi.restoreAllMocks();
});

describe("a query", () => {
  it("is tried again after a pause while the file is locked", async () => {
    const { index, pauses, addThreads } = await indexStage();
    addThreads("a");
    const list = failing("list", locked, 2);
    expect(await listedIds(index)).toEqual(["a"]);
    expect([list.mock.calls.length, pauses.length]).toEqual([3, 2]);
    await index.close();
  });

  it("fails after a hundred tries, and at once for another reason", async () => {
    const { index, pauses, home, warnings } = await indexStage();
    const list = failing("list", locked);
    await expect(listedIds(index)).rejects.toBe(locked);
    expect([list.mock.calls.length, pauses.length]).toEqual([100, 99]);
    vi.restoreAllMocks();
    const refused = failing("list", full);
    await expect(listedIds(index)).rejects.toBe(full);
    expect([refused.mock.calls.length, pauses.length, warnings()]).toEqual([1, 99, []]);
    await index.close();
    // In memory, where a new index is made quickly.
    vi.restoreAllMocks();
    await writeFile(join(home, "file"), "");
    const other = await indexStage({ path: join(home, "file", "threads.sqlite") });
    const damaged = failing("list", broken);
    await expect(listedIds(other.index)).rejects.toBe(broken);
    expect([damaged.mock.calls.length, other.pauses.length, other.rebuilds()]).toEqual([100, 0, 100]);
    await other.index.close();
  });

  it("goes on in a new file, made from the journals, if the file is broken", async () => {
    const { index, home, addThreads, rebuilds, warnings } = await indexStage();
    addThreads("a");
    expect(await listedIds(index)).toEqual(["a"]);
    addThreads("b");
    failing("list", broken, 1);
    expect((await listedIds(index)).toSorted()).toEqual(["a", "b"]);
    expect(rebuilds()).toBe(2);
    expect(warnings()).toEqual(["the index is made anew from the journals"]);
    await index.close();
    expect(isComplete(join(home, "threads.v5.1.sqlite"))).toBe(true);
  });
});

function isComplete(path: string): boolean {
  const store = new IndexFile(DatabaseSync, path);
  try {
    return store.complete;
  } finally {
    store.close();
  }
}

describe("a rebuild", () => {
  /** The sizes of the batches, and the pauses between them. */
  async function batches(texts: readonly string[]): Promise<readonly string[]> {
    const { index, events, journals, said } = await indexStage();
    for (const [nth, text] of texts.entries())
      journals.push({ row: sampleRow(`t${nth}`), texts: text === "" ? [] : [sampleText("i", text)] });
    const real = Object.getOwnPropertyDescriptor(IndexFile.prototype, "write")!.value as IndexFile["write"];
    vi.spyOn(IndexFile.prototype, "write").mockImplementation(function (this: IndexFile, entries) {
      if (entries.length > 0) events.push(`write ${entries.length}`);
      return real.call(this, entries);
    });
    await index.known();
    vi.restoreAllMocks();
    const threads = texts.length;
    expect(said).toMatchObject([{ level: "info", fields: { threads } }]);
    const done = [...events];
    await index.close();
    return done;
  }

  it("writes at most 100 rows at once, and lets others have their turn in between", async () => {
    const rows = Array.from({ length: 250 }, () => "");
    expect(await batches(rows)).toEqual(["write 100", "soon", "write 100", "soon", "write 50", "soon"]);
    expect(await batches(rows.slice(0, 100))).toEqual(["write 100", "soon", "soon"]);
  });

  it("writes at most a number of characters at once", async () => {
    const half = "x".repeat(BATCH_CHARS / 2);
    expect(await batches([half, half, half])).toEqual(["write 2", "soon", "write 1", "soon"]);
    const less = half.slice(1);
    expect(await batches([half, less, less, less])).toEqual(["write 3", "soon", "write 1", "soon"]);
  });

  it("waits while the file is locked", async () => {
    const { index, pauses, addThreads } = await indexStage();
    addThreads("a", "b");
    failing("write", locked, 3);
    failing("finish", locked, 2);
    expect((await listedIds(index)).toSorted()).toEqual(["a", "b"]);
    expect(pauses).toHaveLength(5);
    await index.close();
  });

  it("fails after a hundred tries, and is done again for the next query", async () => {
    const { index, home, pauses, addThreads, rebuilds } = await indexStage();
    addThreads("a");
    const write = failing("write", locked, 100);
    await expect(listedIds(index)).rejects.toBe(locked);
    expect([write.mock.calls.length, pauses.length]).toEqual([100, 99]);
    expect(await listedIds(index)).toEqual(["a"]);
    vi.restoreAllMocks();
    await index.close();
    expect(rebuilds()).toBe(2);
    expect(isComplete(join(home, "threads.v5.sqlite"))).toBe(true);
  });

  it("fails at once for another reason, and goes on in a new file if this one is broken", async () => {
    const { index, pauses, addThreads, rebuilds, warnings } = await indexStage();
    addThreads("a");
    failing("write", full, 1);
    await expect(listedIds(index)).rejects.toBe(full);
    expect([pauses, warnings()]).toEqual([[], []]);
    failing("finish", broken, 1);
    expect(await listedIds(index)).toEqual(["a"]);
    expect(rebuilds()).toBe(3);
    expect(warnings()).toEqual(["the index is made anew from the journals"]);
    await index.close();
  });

  it("ends when another file takes the place of its own, which stays incomplete", async () => {
    let now = 0;
    let rebuilds = 0;
    const stage = await indexStage({
      clock: { now: () => 0, monotonic: () => now },
      async *rebuild() {
        rebuilds++;
        yield { row: sampleRow("a"), texts: [] };
        if (rebuilds > 1) return;
        // Another host has found the file broken.
        await writeFile(join(stage.home, "threads.v5.1.sqlite"), "");
        now += 1000;
        await stage.index.get("a");
        yield { row: sampleRow("b"), texts: [] };
      },
    });
    expect(await listedIds(stage.index)).toEqual(["a"]);
    expect(rebuilds).toBe(2);
    await stage.index.close();
    expect(isComplete(join(stage.home, "threads.v5.sqlite"))).toBe(false);
    expect(isComplete(join(stage.home, "threads.v5.1.sqlite"))).toBe(true);
  });

  it("fails if the index is closed, which waits for its end", async () => {
    const events: string[] = [];
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const { index, home } = await indexStage({
      searcher: {
        ask: () => Promise.reject(new Error("unused")),
        close: async () => void events.push("closed"),
      },
      async *rebuild() {
        try {
          events.push("begun");
          yield { row: sampleRow("a"), texts: [] };
          await gate;
          yield { row: sampleRow("b"), texts: [] };
        } finally {
          events.push("ended");
        }
      },
    });
    const listed = listedIds(index);
    const refused = expect(listed).rejects.toThrow("the index was closed while it was made");
    await eventually(() => events.length > 0, "the rebuild has begun");
    const closing = index.close();
    for (let turn = 0; turn < 20; turn++) await new Promise((next) => setImmediate(next));
    expect(events).toEqual(["begun"]);
    go();
    await Promise.all([refused, closing]);
    expect(events).toEqual(["begun", "ended", "closed"]);
    expect(isComplete(join(home, "threads.v5.sqlite"))).toBe(false);
  });
});
