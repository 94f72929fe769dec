import { describe, expect, it } from "vitest";
import { iterateBatches } from "./batch-iterator.ts";

/** Batches, and whether their source was closed. */
function source(...batches: (readonly number[] | Error)[]) {
  const seen = { taken: 0, closed: 0 };
  const each = async function* (): AsyncGenerator<readonly number[]> {
    try {
      for (const batch of batches) {
        seen.taken++;
        if (batch instanceof Error) throw batch;
        yield batch;
      }
    } finally {
      seen.closed++;
    }
  };
  return { seen, batches: each() };
}

const none = async (): Promise<void> => {};

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe("iterating over batches", () => {
  it.each<[string, number[][], number[]]>([
    ["no batch", [], []],
    ["an empty batch", [[]], []],
    ["one item", [[1]], [10]],
    ["skipped items", [[-1, 2, -3, 4], [-5]], [20, 40]],
    ["empty batches between others", [[], [1], [], [], [2, 3], []], [10, 20, 30]],
  ])("gives the mapped items of all batches in their order: %s", async (_, batches, expected) => {
    const { batches: given, seen } = source(...batches);
    const items = iterateBatches(given, (one) => (one < 0 ? undefined : one * 10), none);
    expect(await all(items)).toEqual(expected);
    expect(seen).toEqual({ taken: batches.length, closed: 1 });
  });

  it("maps an item when it is wanted, and takes a batch when the one before is used up", async () => {
    const { batches, seen } = source([1, 2], [3]);
    const mapped: number[] = [];
    const make = (one: number): number => {
      mapped.push(one);
      return one;
    };
    const items = iterateBatches(batches, make, none)[Symbol.asyncIterator]();
    expect(await items.next()).toEqual({ done: false, value: 1 });
    expect([mapped, seen.taken]).toEqual([[1], 1]);
    await items.next();
    expect([mapped, seen.taken]).toEqual([[1, 2], 1]);
    expect(await items.next()).toEqual({ done: false, value: 3 });
    expect(seen.taken).toBe(2);
    expect(await items.next()).toEqual({ done: true, value: undefined });
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });

  it("closes the source when the reader stops", async () => {
    const { batches, seen } = source([1, 2], [3]);
    const items = iterateBatches(batches, (one) => one, none)[Symbol.asyncIterator]();
    await items.next();
    expect(await items.return!()).toEqual({ done: true, value: undefined });
    expect(seen).toEqual({ taken: 1, closed: 1 });
    expect(await items.next()).toEqual({ done: false, value: 2 });
    expect(await items.next()).toEqual({ done: true, value: undefined });
  });

  it.each([
    ["the first item of a batch", 3],
    ["a further item", 2],
  ])("closes the source and passes the failure on if an item cannot be mapped: %s", async (_, bad) => {
    const { batches, seen } = source([1, 2], [3, 4]);
    const make = (one: number): number => {
      if (one === bad) throw new Error(`cannot map ${one}`);
      return one;
    };
    await expect(all(iterateBatches(batches, make, none))).rejects.toThrow(`cannot map ${bad}`);
    expect(seen.closed).toBe(1);
  });

  it("passes a failure of the source on", async () => {
    const { batches } = source([1], new Error("EIO"));
    await expect(all(iterateBatches(batches, (one) => one, none))).rejects.toThrow("EIO");
  });

  it.each([
    [999, 0],
    [1000, 1],
    [1001, 1],
    [2000, 2],
    [2500, 2],
  ])("pauses after each thousand skipped items: %i skipped, %i pauses", async (skipped, pauses) => {
    for (const size of [1, 700, 1000, 5000]) {
      const items = Array.from({ length: skipped }, () => -1);
      const batches: number[][] = [];
      for (let at = 0; at < items.length; at += size) batches.push(items.slice(at, at + size));
      let count = 0;
      const make = (one: number): number | undefined => (one < 0 ? undefined : one);
      const pause = async (): Promise<void> => void count++;
      const found = await all(iterateBatches(source(...batches, [7]).batches, make, pause));
      expect([found, count]).toEqual([[7], pauses]);
    }
  });

  it("counts skipped items anew after each result", async () => {
    const skipped = Array.from({ length: 900 }, () => -1);
    let pauses = 0;
    const make = (one: number): number | undefined => (one < 0 ? undefined : one);
    const given = source([...skipped, 1, ...skipped, 2], [...skipped, 3]).batches;
    expect(await all(iterateBatches(given, make, async () => void pauses++))).toEqual([1, 2, 3]);
    expect(pauses).toBe(0);
  });
});
