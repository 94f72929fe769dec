import { afterEach, describe, expect, it, vi } from "vitest";
import { eventually } from "../../../../../../test/support/eventually.ts";
import { countedFiles, FileCounts } from "../../../../../../test/support/file-call-counter.ts";
import { failing, indexStage, listedIds, sqliteError } from "../../../../../../test/support/index-stage.ts";
import { sampleRow, sampleText } from "../../../../../../test/support/sample-rows.ts";
import { nodeFiles } from "../../../platform/node-files.ts";
import { IndexFile } from "./index-file.ts";

const broken = sqliteError("database disk image is malformed");
const full = new Error("disk is full");

afterEach(() => {
  vi.restoreAllMocks();
});

describe("all rows", () => {
  const page = (count: number, first: number, name: string) =>
    Array.from({ length: count }, (_, nth) => {
      return { key: first + nth, id: `${name}${first + nth}`, seq: first + nth, archived: nth % 2 === 0 };
    });

  it("are read in steps of a thousand", async () => {
    const { index, events } = await indexStage();
    const known = vi.spyOn(IndexFile.prototype, "known");
    for (const rows of [page(1000, 1, "t"), page(1000, 1001, "t"), []]) known.mockReturnValueOnce(rows);
    expect((await index.known()).size).toBe(2000);
    expect(known.mock.calls).toEqual([
      [0, 1000],
      [1000, 1000],
      [2000, 1000],
    ]);
    // One of them is the end of the rebuild.
    expect(events).toEqual(["soon", "soon", "soon"]);
    await index.close();
  });

  it("are read from the beginning if another file takes the place of the first", async () => {
    const { index } = await indexStage();
    const known = vi.spyOn(IndexFile.prototype, "known");
    known.mockReturnValueOnce(page(1000, 1, "old"));
    known.mockImplementationOnce(() => {
      throw broken;
    });
    known.mockReturnValueOnce(page(1000, 1, "new"));
    known.mockReturnValueOnce(page(1, 1001, "new"));
    const found = await index.known();
    expect(known.mock.calls.map(([after]) => after)).toEqual([0, 1000, 0, 1000]);
    expect(found.size).toBe(1001);
    expect([found.get("new1"), found.get("new1001"), found.has("old1")]).toEqual([
      { seq: 1, archived: true },
      { seq: 1001, archived: true },
      false,
    ]);
    await index.close();
  });
});

describe("rows that cannot be written", () => {
  it("are tried again later, logged once, and written when that is possible", async () => {
    const { index, delays, fire, warnings } = await indexStage();
    const warning = "the index cannot be written; lists may be behind";
    expect(await listedIds(index)).toEqual([]);
    for (let round = 1; round <= 2; round++) {
      const write = failing("write", full);
      index.record(sampleRow(`a${round}`), []);
      expect(delays()).toEqual([200]);
      fire();
      await eventually(() => delays().length > 0, "the next try is planned");
      expect(delays()).toEqual([5000]);
      // However much waits, the next try is not sooner.
      index.record(sampleRow(`b${round}`), [sampleText("i", "x".repeat(1_000_000))]);
      expect(delays()).toEqual([5000]);
      await listedIds(index);
      expect(delays()).toEqual([5000]);
      expect(warnings()).toEqual(Array.from({ length: round }, () => warning));
      write.mockRestore();
      fire();
      await index.flush();
      expect((await index.known()).size).toBe(round * 2);
      expect(delays()).toEqual([]);
    }
    await index.close();
  });

  it("are logged also if they are the first ones", async () => {
    const { index, delays, fire, warnings } = await indexStage();
    const write = failing("write", full);
    index.record(sampleRow("a"), []);
    fire();
    await eventually(() => delays().length > 0, "the next try is planned");
    expect(warnings()).toEqual(["the index cannot be written; lists may be behind"]);
    write.mockRestore();
    await index.close();
  });

  it("are named in the log when the index closes without them, and no try is planned", async () => {
    const { index, delays, warnings } = await indexStage();
    expect(await listedIds(index)).toEqual([]);
    failing("write", full);
    index.record(sampleRow("a"), []);
    await index.close();
    expect(warnings()).toEqual([
      "the index was closed with unwritten rows; they are read from the journals later",
    ]);
    expect(delays()).toEqual([]);
    await expect(index.flush()).rejects.toBe(full);
  });
});

it("stays complete when rows are written to it", async () => {
  const { index, rebuilds } = await indexStage({ hasRecordedAll: async () => true });
  index.record(sampleRow("a"), []);
  await index.flush();
  expect(await listedIds(index)).toEqual(["a"]);
  expect(rebuilds()).toBe(0);
  await index.close();
});

describe("the row of a thread", () => {
  it("is the one that waits, unless a newer one is written", async () => {
    const { index } = await indexStage();
    const named = (seq: number, name: string) => sampleRow("t", { seq, thread: { name } });
    const name = async () => (await index.get("t"))?.thread.name;
    index.record(named(2, "waits"), []);
    expect(await name()).toBe("waits");
    await index.flush();
    expect(await name()).toBe("waits");
    index.record(named(2, "same number"), []);
    expect(await name()).toBe("same number");
    await index.restate(named(5, "written"), []);
    index.record(named(4, "older"), []);
    expect(await name()).toBe("written");
    await index.close();
  });

  it("is forgotten without a look for older files, as long as the first file is in use", async () => {
    const counts = new FileCounts();
    const { index } = await indexStage({ files: countedFiles(nodeFiles(), counts) });
    expect(await listedIds(index)).toEqual([]);
    counts.reset();
    await index.forget("a");
    expect(counts.all).toBe(0);
    await index.close();
  });

  it("does not come back after it was forgotten, although it waited to be written", async () => {
    const { index } = await indexStage();
    expect(await listedIds(index)).toEqual([]);
    index.record(sampleRow("a"), []);
    await index.forget("a");
    expect(await listedIds(index)).toEqual([]);
    await index.close();
  });
});
