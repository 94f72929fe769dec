import { MAX_MESSAGE_BYTES } from "@bobbin/rpc";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReadFile } from "../../platform/platform.ts";
import { iterateBatches } from "./batch-iterator.ts";
import { commitOf } from "./commit-format.ts";
import { type Line, linesBackwards, linesForwards, MAX_LINE } from "./read-lines.ts";

function fileOf(bytes: Buffer): ReadFile & { readonly reads: number[]; readonly under: Set<number> } {
  const reads: number[] = [];
  const under = new Set<number>();
  return {
    reads,
    under,
    size: async () => bytes.length,
    async read(position, length) {
      reads.push(length);
      under.add(position);
      await new Promise(setImmediate);
      under.delete(position);
      return bytes.subarray(position, position + length);
    },
    close: async () => {},
  };
}

async function all(lines: AsyncGenerator<readonly Line[]>): Promise<[string, number, number][]> {
  const found: [string, number, number][] = [];
  for await (const batch of lines) for (const { text, start, end } of batch) found.push([text, start, end]);
  return found;
}

const noPause = async () => {};

const line = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 40 }),
  fc.integer({ min: 0, max: 400_000 }).map((length) => "x".repeat(length)),
  fc.integer({ min: 0, max: 100_000 }).map((length) => "ü".repeat(length)),
);
const text = fc
  .array(line, { maxLength: 30 })
  .map((lines) => lines.map((one) => `${one.replaceAll("\n", " ")}\n`).join(""));

describe("the lines of a journal", () => {
  it("are the same from either end, wherever the chunks are cut", async () => {
    await fc.assert(
      fc.asyncProperty(text, async (content) => {
        const bytes = Buffer.from(content);
        const wanted: [string, number, number][] = [];
        let at = 0;
        for (const one of content.split(/(?<=\n)/)) {
          if (one === "") continue;
          const length = Buffer.byteLength(one);
          wanted.push([one, at, at + length]);
          at += length;
        }
        const whole = wanted.filter(([one]) => one !== "\n");
        expect(await all(linesForwards(fileOf(bytes), 0, bytes.length))).toEqual(whole);
        const backwards = await all(linesBackwards(fileOf(bytes), bytes.length));
        // An empty line at the very start is the rest of what was read.
        expect(backwards.filter(([one]) => one !== "\n")).toEqual(whole.toReversed());
      }),
      { numRuns: 60 },
    );
  });

  it("are passed over where they are too long, from either end, and not held", async () => {
    const long = { text: "", tooLong: true };
    const one = { text: "one\n", tooLong: false };
    const two = { text: "two\n", tooLong: false };
    const bytes = Buffer.from(`one\n${"x".repeat(900_000)}\ntwo\n${"y".repeat(700_000)}\n`);
    const read = async (lines: AsyncGenerator<readonly Line[]>) => {
      const found: unknown[] = [];
      for await (const batch of lines) {
        for (const { tooLong, text, start, end } of batch) found.push({ text, tooLong, start, end });
      }
      return found;
    };
    const wanted = [
      { ...one, start: 0, end: 4 },
      { ...long, start: 4, end: 900_005 },
      { ...two, start: 900_005, end: 900_009 },
      { ...long, start: 900_009, end: bytes.length },
    ];
    expect(await read(linesForwards(fileOf(bytes), 0, bytes.length, 300_000))).toEqual(wanted);
    expect(await read(linesBackwards(fileOf(bytes), bytes.length, 300_000))).toEqual(wanted.toReversed());
    // What is read at once does not grow with them.
    const longer = Buffer.from(`one\n${"x".repeat(4_000_000)}\n`);
    const file = fileOf(longer);
    await read(linesBackwards(file, longer.length, 300_000));
    await read(linesForwards(file, 0, longer.length, 300_000));
    expect(Math.max(...file.reads)).toBeLessThan(600_000);
  });

  it("are not too long at exactly the limit, where a chunk begins with the line", async () => {
    const limit = 64 * 1024;
    const line = `${"x".repeat(limit - 1)}\n`;
    const bytes = Buffer.from(`one\n${line}`);
    expect(await all(linesBackwards(fileOf(bytes), bytes.length, limit))).toEqual([
      [line, 4, bytes.length],
      ["one\n", 0, 4],
    ]);
  });

  it("are read a little at first, and more at once by those who read on", async () => {
    const bytes = Buffer.from(`${"x".repeat(999)}\n`.repeat(1000));
    const file = fileOf(bytes);
    const lines = linesBackwards(file, bytes.length);
    await lines.next();
    expect(file.reads).toEqual([64 * 1024]);
    await lines.next();
    // The next one is on its way before anyone asks for it.
    expect(file.reads).toEqual([64 * 1024, 128 * 1024, 256 * 1024]);
    expect(file.under.size).toBe(1);
    await lines.return(undefined);
    const whole = fileOf(bytes);
    await all(linesBackwards(whole, bytes.length));
    expect(whole.reads.reduce((sum, length) => sum + length)).toBe(bytes.length);
  });
});

describe("going through batches one by one", () => {
  it("makes nothing of what nobody comes to, and ends what it went through", async () => {
    const made: number[] = [];
    let ended = false;
    const batches = async function* () {
      try {
        yield [1, 2, 3];
        yield [4];
      } finally {
        ended = true;
      }
    };
    const even = (one: number) => {
      made.push(one);
      return one % 2 === 0 ? one : undefined;
    };
    for await (const one of iterateBatches(batches(), even, noPause)) {
      expect(one).toBe(2);
      break;
    }
    expect(made).toEqual([1, 2]);
    expect(ended).toBe(true);
    const seen: number[] = [];
    for await (const one of iterateBatches(batches(), even, noPause)) seen.push(one);
    expect(seen).toEqual([2, 4]);
  });

  it("ends what it went through when a line cannot be read", async () => {
    let ended = 0;
    const lines = async function* () {
      try {
        yield* linesForwards(
          fileOf(Buffer.from('{"seq":1,"epoch":1,"prev":0,"records":[{"type":"later"}]}\n')),
          0,
          59,
        );
      } finally {
        ended++;
      }
    };
    const read = async () => {
      for await (const _ of iterateBatches(lines(), (one) => commitOf(one, "t", () => {}), noPause))
        expect.unreachable();
    };
    await expect(read()).rejects.toMatchObject({ code: "newerJournal" });
    expect(ended).toBe(1);
  });
});

describe("the limit of a line", () => {
  it("has room for a commit with all that the largest message may contain", () => {
    // Texts are as long in a commit as in a message. Numbers may become longer: exponents are written out.
    const growth = Array.from({ length: 801 }, (_, nth) => `1e${nth - 400},`).map(
      (number) => `${JSON.stringify(Number.parseFloat(number))},`.length / number.length,
    );
    expect(Math.max(...growth)).toBeGreaterThan(4);
    expect(MAX_LINE).toBeGreaterThan(Math.max(...growth) * MAX_MESSAGE_BYTES);
  });
});
