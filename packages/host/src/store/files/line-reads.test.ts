// Exactly which lines and which reads there are, for short and for long lines.
import { describe, expect, it } from "vitest";
import type { ReadFile } from "../../platform/platform.ts";
import { Line, linesBackwards, linesForwards, seqOf } from "./read-lines.ts";

const KiB = 1024;

function fileOf(text: string): ReadFile & { readonly reads: [number, number][] } {
  const bytes = Buffer.from(text);
  const reads: [number, number][] = [];
  return {
    reads,
    size: async () => bytes.length,
    async read(position, length) {
      reads.push([position, length]);
      if (position < 0 || length <= 0) throw new RangeError(`no read of ${length} at ${position}`);
      return bytes.subarray(position, position + length);
    },
    close: async () => {},
  };
}

/** The lines as `[start, end, text]`, each batch checked to be not empty. */
async function linesOf(
  batches: AsyncGenerator<readonly Line[]>,
): Promise<(readonly [number, number, string])[]> {
  const found: (readonly [number, number, string])[] = [];
  for await (const batch of batches) {
    expect(batch.length).toBeGreaterThan(0);
    for (const line of batch) {
      const { start, end, tooLong, text } = line;
      if (!tooLong) expect(Buffer.from(line.bytes).toString()).toBe(text);
      found.push([start, end, tooLong ? "too long" : text.trimEnd()]);
    }
  }
  return found;
}

const both = async (text: string, maxLine?: number) => {
  const size = Buffer.byteLength(text);
  return {
    forwards: await linesOf(linesForwards(fileOf(text), 0, size, maxLine)),
    backwards: (await linesOf(linesBackwards(fileOf(text), size, maxLine))).toReversed(),
  };
};

describe("the lines of a file", () => {
  it.each<[string, (readonly [number, number, string])[]]>([
    ["", []],
    ["a\n", [[0, 2, "a"]]],
    [
      "a\nbc\nd\n",
      [
        [0, 2, "a"],
        [2, 5, "bc"],
        [5, 7, "d"],
      ],
    ],
    [
      "ab\n\n\ncde\n",
      [
        [0, 3, "ab"],
        [5, 9, "cde"],
      ],
    ],
    ["abc\n\n\n\n", [[0, 4, "abc"]]],
    [
      "ä\nö\n",
      [
        [0, 3, "ä"],
        [3, 6, "ö"],
      ],
    ],
  ])("have their positions, from either end: %j", async (text, lines) => {
    expect(await both(text)).toEqual({ forwards: lines, backwards: lines });
  });

  it("are none of a file with empty lines only, forwards; backwards the first one is left", async () => {
    expect(await both("\n\n\n")).toEqual({ forwards: [], backwards: [[0, 1, ""]] });
    const { forwards, backwards } = await both("\n\nabc\n");
    expect(forwards).toEqual([[2, 6, "abc"]]);
    expect(backwards).toEqual([
      [0, 1, ""],
      [2, 6, "abc"],
    ]);
  });

  it("may begin and end within the file", async () => {
    const text = "one\ntwo\nthree\n";
    expect(await linesOf(linesForwards(fileOf(text), 4, 8))).toEqual([[4, 8, "two"]]);
    expect(await linesOf(linesForwards(fileOf(text), 3, 14))).toEqual([
      [4, 8, "two"],
      [8, 14, "three"],
    ]);
    expect(await linesOf(linesForwards(fileOf(text), 4, 7))).toEqual([]);
    expect(await linesOf(linesForwards(fileOf(text), 14, 14))).toEqual([]);
    expect(await linesOf(linesBackwards(fileOf(text), 8))).toEqual([
      [4, 8, "two"],
      [0, 4, "one"],
    ]);
    expect(await linesOf(linesBackwards(fileOf(text), 0))).toEqual([]);
  });

  it("end where the file ends, if it has become shorter", async () => {
    expect(await linesOf(linesForwards(fileOf("one\ntw"), 0, 1000))).toEqual([[0, 4, "one"]]);
  });

  it.each([64 * KiB - 2, 64 * KiB - 1, 64 * KiB, 64 * KiB + 1, 192 * KiB, 500 * KiB])(
    "may be longer than a read, with any neighbours (%i bytes)",
    async (length) => {
      const long = "y".repeat(length - 1);
      const lines = [
        [0, 2, "a"],
        [2, 2 + length, long],
        [2 + length, 5 + length, "bc"],
        [5 + length, 5 + 2 * length, long],
      ];
      expect(await both(`a\n${long}\nbc\n${long}\n`)).toEqual({ forwards: lines, backwards: lines });
    },
  );
});

describe("empty lines", () => {
  const MANY = 5_000_000;

  it.each([
    ["empty lines only", "\n".repeat(MANY), [1, 0]],
    ["empty lines around a line", `a\n${"\n".repeat(MANY)}b\n${"\n".repeat(MANY)}`, [2, 2]],
  ])("cost work in proportion to their number: %s", async (_what, text, found) => {
    const lines = [linesBackwards, (file: ReadFile, end: number) => linesForwards(file, 0, end)];
    for (const [nth, read] of lines.entries()) {
      const file = fileOf(text);
      const { result, searched, copied } = await counted(() => linesOf(read(file, text.length)));
      expect(result).toHaveLength(found[nth]!);
      expect(file.reads.reduce((sum, [, length]) => sum + length, 0)).toBe(text.length);
      expect(file.reads.length).toBeLessThan(50);
      // Each byte is searched and copied once; in between, a few bytes are again.
      expect(searched).toBeLessThan(1.1 * text.length);
      expect(copied).toBeLessThan(1.1 * text.length);
    }
  });

  /** Counts the bytes that searches for a line end pass over, and the bytes that are copied. */
  async function counted<Result>(run: () => Promise<Result>) {
    const { indexOf, lastIndexOf } = Buffer.prototype;
    const { concat } = Buffer;
    let searched = 0;
    let copied = 0;
    Buffer.prototype.indexOf = function (this: Buffer, value: number, from = 0) {
      const at = indexOf.call(this, value, from);
      searched += (at < 0 ? this.length : at + 1) - from;
      return at;
    } as typeof indexOf;
    Buffer.prototype.lastIndexOf = function (this: Buffer, value: number, from = this.length - 1) {
      const at = lastIndexOf.call(this, value, from);
      searched += from - at;
      return at;
    } as typeof lastIndexOf;
    Buffer.concat = (parts) => {
      const all = concat(parts);
      copied += all.length;
      return all;
    };
    try {
      return { result: await run(), searched, copied };
    } finally {
      Object.assign(Buffer.prototype, { indexOf, lastIndexOf });
      Buffer.concat = concat;
    }
  }
});

describe("lines beyond the limit", () => {
  const long = (length: number): string => `${"y".repeat(length - 1)}\n`;
  const BIG = 300 * KiB;

  it.each<[string, string, (readonly [number, number, string])[]]>([
    ["alone", long(BIG), [[0, BIG, "too long"]]],
    [
      "first",
      `${long(BIG)}a\n`,
      [
        [0, BIG, "too long"],
        [BIG, BIG + 2, "a"],
      ],
    ],
    [
      "last",
      `a\n${long(BIG)}`,
      [
        [0, 2, "a"],
        [2, BIG + 2, "too long"],
      ],
    ],
    [
      "twice, with an empty line between them",
      `${long(BIG)}\n${long(BIG)}`,
      [
        [0, BIG, "too long"],
        [BIG + 1, 2 * BIG + 1, "too long"],
      ],
    ],
  ])("have positions and no text: %s", async (_, text, lines) => {
    expect(await both(text, 100 * KiB)).toEqual({ forwards: lines, backwards: lines });
  });

  it("may end with the first byte of a read", async () => {
    const lines = [
      [0, 64 * KiB + 1, "too long"],
      [64 * KiB + 1, 64 * KiB + 3, "a"],
    ];
    expect(await both(`${long(64 * KiB + 1)}a\n`, 60 * KiB)).toEqual({ forwards: lines, backwards: lines });
  });

  it.each([
    [64 * KiB, false],
    [64 * KiB - 1, true],
  ])(
    "are those of which more than the limit is at the end of a read (limit %i)",
    async (limit, isTooLong) => {
      const text = `a\n${long(128 * KiB)}`;
      const wanted = [
        [0, 2, false],
        [2, 2 + 128 * KiB, isTooLong],
      ];
      const backwards = await linesOf(linesBackwards(fileOf(text), text.length, limit));
      expect(backwards.toReversed().map(([start, end, what]) => [start, end, what === "too long"])).toEqual(
        wanted,
      );
      const forwards = await linesOf(linesForwards(fileOf(text), 2, text.length, limit));
      expect(forwards.map(([start, end, what]) => [start, end, what === "too long"])).toEqual(
        wanted.slice(1),
      );
    },
  );
});

describe("the reads", () => {
  const y = (count: number): string => "y".repeat(count);
  const SHAPES: Record<string, string> = {
    "one short line": `${y(99)}\n`,
    "many lines": `${y(999)}\n`.repeat(1000),
    "a long line": `a\n${y(400_000)}\nz\n`,
    "a very long line": `a\n${y(1_500_000)}\nz\n`,
  };

  it.each<[string, [number, number][]]>([
    ["one short line", [[0, 100]]],
    [
      "many lines",
      [
        [934_464, 65_536],
        [803_392, 131_072],
        [541_248, 262_144],
        [279_104, 262_144],
        [16_960, 262_144],
        [0, 16_960],
      ],
    ],
    [
      "a long line",
      [
        [334_469, 65_536],
        [203_397, 131_072],
        [0, 203_397],
      ],
    ],
    [
      "a very long line",
      [
        [1_434_469, 65_536],
        [1_303_397, 131_072],
        [1_041_253, 262_144],
        [582_503, 458_750],
        [0, 582_503],
      ],
    ],
  ])("grow backwards, and take each byte once: %s", async (name, reads) => {
    const file = fileOf(SHAPES[name]!);
    await linesOf(linesBackwards(file, SHAPES[name]!.length));
    expect(file.reads).toEqual(reads);
  });

  it.each<[string, [number, number][]]>([
    ["one short line", [[0, 100]]],
    [
      "many lines",
      [
        [0, 65_536],
        [65_536, 131_072],
        [196_608, 262_144],
        [458_752, 262_144],
        [720_896, 262_144],
        [983_040, 16_960],
      ],
    ],
    [
      "a very long line",
      [
        [0, 65_536],
        [65_536, 131_072],
        [196_608, 262_144],
        [458_752, 458_750],
        [917_502, 582_503],
      ],
    ],
  ])("grow forwards, and take each byte once: %s", async (name, reads) => {
    const file = fileOf(SHAPES[name]!);
    await linesOf(linesForwards(file, 0, SHAPES[name]!.length));
    expect(file.reads).toEqual(reads);
  });

  it("ahead fail where their lines are wanted, and nowhere else", async () => {
    const text = SHAPES["many lines"]!;
    const file = fileOf(text);
    let reads = 0;
    const failing: ReadFile = {
      ...file,
      read: (position, length) =>
        ++reads > 2 ? Promise.reject(new Error("EIO")) : file.read(position, length),
    };
    const batches = linesBackwards(failing, text.length);
    await batches.next();
    expect(reads).toBe(1);
    await batches.next();
    await new Promise((resolve) => setImmediate(resolve));
    expect(reads).toBe(3);
    await expect(batches.next()).rejects.toThrow("EIO");
  });
});

describe("a line", () => {
  it("is a part of a chunk, with its place in the file", () => {
    const chunk = Buffer.from("xxab cd\nyy");
    for (const ascii of [undefined, chunk.toString("latin1")]) {
      const line = new Line(chunk, ascii, 2, 8, 1000);
      expect([line.start, line.end, line.text, line.tooLong]).toEqual([1002, 1008, "ab cd\n", false]);
      expect(Buffer.from(line.bytes).toString()).toBe("ab cd\n");
      expect(["ab", "cd\n", "xx", "y", "xa"].map((text) => line.has(text))).toEqual([
        true,
        true,
        false,
        false,
        false,
      ]);
    }
    expect(new Line(chunk, undefined, 0, 10, 0).tooLong).toBe(false);
    expect(new Line(chunk, undefined, 0, 11, 0).tooLong).toBe(true);
    const umlauts = Buffer.from("äöü\n");
    expect(new Line(umlauts, undefined, 2, 7, 0).text).toBe("öü\n");
  });
});

describe("the number at the start of a line", () => {
  it.each<[string, number | undefined]>([
    ['{"seq":1,"epoch":1,"prev":0,"records":[]}\n', 1],
    ['\ufeff{"seq":12,"epoch":3,"prev":11,"records":[]}\n', 12],
    ['{"seq":2,"epoch":1,"prev":0,"records":[]}\n', undefined],
    ['{"seq":2,"epoch":1,"prev":2,"records":[]}\n', undefined],
    ['{"seq":2,"epoch":1,"prev":1}\n', undefined],
    [' {"seq":2,"epoch":1,"prev":1,', undefined],
    ['{"epoch":1,"seq":2,"prev":1,', undefined],
    ["", undefined],
    ["junk\n", undefined],
    // Longer than any head.
    [`{"seq":2,"epoch":${"1".repeat(80)},"prev":1,"records":[]}\n`, undefined],
  ])("is that of a commit: %j", (text, seq) => {
    const bytes = Buffer.from(`xx${text}`).subarray(2);
    expect(seqOf(bytes)).toBe(seq);
    expect(seqOf(Buffer.from(`\ufeff\n${text}`), 4)).toBe(seq);
  });
});
