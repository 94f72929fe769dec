// What the search for a commit finds and reads in files of known shapes.
import { describe, expect, it, vi } from "vitest";
import type { ReadFile } from "../../platform/platform.ts";
import { findCommitBySeq } from "./find-commit-by-seq.ts";

const KiB = 1024;

function commit(seq: number, length: number): string {
  const head = `{"seq":${seq},"epoch":1,"prev":${seq - 1},"records":[]`;
  return `${head}${" ".repeat(length - head.length - 2)}}\n`;
}

function fileOf(text: string): ReadFile & { readonly reads: [number, number][] } {
  const bytes = Buffer.from(text);
  const reads: [number, number][] = [];
  return {
    reads,
    size: async () => bytes.length,
    async read(position, length) {
      if (position < 0 || length < 0) throw new RangeError(`no read of ${length} at ${position}`);
      reads.push([position, length]);
      return bytes.subarray(position, position + length);
    },
    close: async () => {},
  };
}

/** Searches for each number, and compares with the starts of the lines. */
async function expectAll(lines: readonly string[], seqs: Iterable<number>): Promise<void> {
  const text = lines.join("");
  const starts: [number, number][] = [];
  let at = 0;
  for (const line of lines) {
    const seq = /^\{"seq":(\d+),"epoch"/.exec(line)?.[1];
    if (seq !== undefined) starts.push([Number(seq), at]);
    at += line.length;
  }
  for (const seq of seqs) {
    const expected = starts.find(([other]) => other >= seq)?.[1] ?? text.length;
    expect(await findCommitBySeq(fileOf(text), text.length, seq), `commit ${seq}`).toBe(expected);
  }
}

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, n) => from + n);

describe("the search for a commit", () => {
  it("finds each commit of a small file by one read", async () => {
    const lines = range(1, 20).map((seq) => commit(seq, 100));
    await expectAll(lines, range(0, 21));
    const file = fileOf(lines.join(""));
    expect(await findCommitBySeq(file, 2000, 7)).toBe(600);
    expect(file.reads).toEqual([[0, 2000]]);
    expect(await findCommitBySeq(fileOf(""), 0, 1)).toBe(0);
  });

  it.each([
    ["64 KiB", 64 * KiB],
    ["a byte more", 64 * KiB + 1],
    ["some hundred KiB", 500_000],
    ["more than a MiB", 1_200_000],
  ])("finds commits in a file of %s, whatever their number", async (_, size) => {
    const count = Math.floor(size / 500);
    const lines = range(1, count - 1).map((seq) => commit(seq, 500));
    lines.push(commit(count, size - 500 * (count - 1)));
    const some = range(0, count + 1).filter((seq) => seq < 3 || seq > count - 3 || seq % 97 === 0);
    await expectAll(lines, some);
  });

  it.each([
    ["only long lines", [200_000, 300_000, 250_000, 100_000]],
    ["a long line first", [700_000, 100, 100, 100]],
    ["a long line last", [100, 100, 100, 700_000]],
    ["a long line in the middle", [100, 100, 700_000, 100, 100]],
    ["lines as long as a probe", [4096, 4096, 100_000, 4096, 4096 + 96, 4096 - 96, 100_000, 4095, 4097]],
    ["a line that ends where the last 64 KiB begin", [100_000, 64 * KiB]],
    ["a line that ends a byte before", [100_000, 64 * KiB + 1]],
    ["a line that ends a byte after", [100_000, 64 * KiB - 1]],
  ])("finds commits among long lines: %s", async (_, lengths) => {
    await expectAll(
      lengths.map((length, nth) => commit(nth + 1, length)),
      range(0, lengths.length + 1),
    );
  });

  it("passes over lines that are no commits, and over numbers that are missing", async () => {
    const junk = ["\n", "junk\n", `${"y".repeat(9000)}\n`, '{"seq":3,\n', `${"z".repeat(200_000)}\n`];
    const lines = range(1, 40).flatMap((nth) => [commit(nth * 3, 3000), junk[nth % junk.length]!]);
    await expectAll(lines, range(0, 125));
    await expectAll([`${"z".repeat(200_000)}\n`], [1]);
    await expectAll([commit(1, 100), `${"z".repeat(200_000)}\n`], [1, 2]);
    await expectAll([`${"z".repeat(200_000)}\n`, commit(1, 100)], [1, 2]);
  });

  it("does not look beyond the end that it is given", async () => {
    const text = range(1, 3000)
      .map((seq) => commit(seq, 100))
      .join("");
    for (const end of [100, 70_000, 200_000]) {
      expect(await findCommitBySeq(fileOf(text), end, end / 100)).toBe(end - 100);
      expect(await findCommitBySeq(fileOf(text), end, end / 100 + 1)).toBe(end);
      expect(await findCommitBySeq(fileOf(text), end, 3000)).toBe(end);
    }
  });

  it("reads little, the less the nearer the commit is to the end", async () => {
    const text = range(1, 20_000)
      .map((seq) => commit(seq, 100))
      .join("");
    const readsFor = async (seq: number): Promise<[number, number]> => {
      const file = fileOf(text);
      expect(await findCommitBySeq(file, text.length, seq)).toBe((seq - 1) * 100);
      return [file.reads.length, file.reads.reduce((sum, [, length]) => sum + length, 0)];
    };
    // The number of reads, and their bytes: some probes of 4 KiB, and at most 64 KiB at last.
    expect(await readsFor(19_990)).toEqual([2, 69_692]);
    expect(await readsFor(19_000)).toEqual([6, 78_320]);
    expect(await readsFor(10_000)).toEqual([8, 75_443]);
    expect(await readsFor(1)).toEqual([8, 75_556]);
  });

  it("[DAMAGE-4] passes over 5 MB of empty lines in small reads, and decodes none of them", async () => {
    const text = commit(1, 100) + commit(2, 100) + "\n".repeat(5_000_000) + commit(3, 100);
    for (const [seq, start] of [
      [1, 0],
      [2, 100],
      [3, 5_000_200],
      [4, text.length],
    ] as const) {
      const file = fileOf(text);
      const decoded = vi.spyOn(Buffer, "from");
      expect(await findCommitBySeq(file, text.length, seq)).toBe(start);
      expect(decoded.mock.calls.length).toBeLessThan(100);
      decoded.mockRestore();
      const lengths = file.reads.map(([, length]) => length);
      expect(Math.max(...lengths)).toBeLessThan(300 * KiB);
      expect(lengths.reduce((sum, length) => sum + length)).toBeLessThan(1.5 * text.length);
    }
  });
});
