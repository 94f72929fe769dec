import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReadFile } from "../../platform/platform.ts";
import { DamageReport } from "./damage-report.ts";
import { findCommitBySeq } from "./find-commit-by-seq.ts";
import { JournalFileReader } from "./journal-file-reader.ts";

function commit(seq: number, length: number): string {
  const head = `{"seq":${seq},"epoch":1,"prev":${seq - 1},"records":[]`;
  return `${head}${" ".repeat(Math.max(0, length - head.length - 2))}}\n`;
}

function fileOf(bytes: Buffer): ReadFile {
  return {
    size: async () => bytes.length,
    read: async (position, length) => bytes.subarray(position, position + length),
    close: async () => {},
  };
}

/** Lines of a journal: commits, some of them long, and what is no commit. */
const lines = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ length: fc.constantFrom(60, 200, 5000) }) },
    { weight: 1, arbitrary: fc.record({ length: fc.integer({ min: 60, max: 300_000 }) }) },
    {
      weight: 1,
      arbitrary: fc.record({ junk: fc.constantFrom("", "x", "{", '{"seq":7,', "y".repeat(9000)) }),
    },
  ),
  { maxLength: 60 },
);

describe("the search for a commit", () => {
  it("finds the first one that is not older, whatever stands between commits", async () => {
    await fc.assert(
      fc.asyncProperty(lines, fc.integer({ min: 1, max: 3 }), async (given, step) => {
        const starts: { readonly seq: number; readonly start: number }[] = [];
        let text = "";
        let seq = 0;
        for (const one of given) {
          if ("junk" in one) text += `${one.junk}\n`;
          else {
            seq += step;
            starts.push({ seq, start: text.length });
            text += commit(seq, one.length);
          }
        }
        const bytes = Buffer.from(text);
        for (let wanted = 0; wanted <= seq + 1; wanted++) {
          const expected = starts.find((one) => one.seq >= wanted)?.start ?? bytes.length;
          expect(await findCommitBySeq(fileOf(bytes), bytes.length, wanted)).toBe(expected);
        }
      }),
      { numRuns: 40 },
    );
  });
});

describe("a search through long lines", () => {
  it("goes on behind what it has read, and seldom reads a byte twice", async () => {
    const bytes = Buffer.from(commit(1, 100) + commit(2, 4_000_000));
    const file = fileOf(bytes);
    let bytesRead = 0;
    const counting: ReadFile = {
      ...file,
      async read(position, length) {
        const found = await file.read(position, length);
        bytesRead += found.length;
        return found;
      },
    };
    expect(await findCommitBySeq(counting, bytes.length, 2)).toBe(100);
    expect(bytesRead).toBeLessThan(2 * bytes.length);
  });
});

describe("a page in the middle of 200 MB", () => {
  const LINE = 1000;
  const COMMITS = 200_000;
  const KiB = 1024;

  /** A file that is made as it is read, and counts what was. */
  class LargeFile implements ReadFile {
    bytesRead = 0;
    reads = 0;

    async size(): Promise<number> {
      return LINE * COMMITS;
    }

    async read(position: number, length: number): Promise<Uint8Array> {
      const end = Math.min(position + length, LINE * COMMITS);
      const first = Math.floor(position / LINE);
      const text: string[] = [];
      for (let at = first; at * LINE < end; at++) text.push(commit(at + 1, LINE));
      this.bytesRead += end - position;
      this.reads++;
      return Buffer.from(text.join("")).subarray(position - first * LINE, end - first * LINE);
    }

    async close(): Promise<void> {}
  }

  const silent = { debug() {}, info() {}, warn() {}, error() {} };

  async function page(
    direction: "forwards" | "backwards",
    seq: number,
    hint?: number,
  ): Promise<{ readonly seqs: number[]; readonly file: LargeFile }> {
    const file = new LargeFile();
    const ports = { leftOut: new DamageReport(silent), pause: async () => {} };
    const reader = new JournalFileReader(
      "t",
      { path: "/t", archived: false },
      file,
      ports,
      async () => undefined,
    );
    const seqs: number[] = [];
    for await (const placed of reader[direction]({ seq, hint }))
      if (seqs.push(placed.commit.seq) === 20) break;
    return { seqs, file };
  }

  const SEQ = 100_000;
  const START = (SEQ - 1) * LINE;
  const following = Array.from({ length: 20 }, (_, nth) => SEQ + nth);
  const preceding = Array.from({ length: 20 }, (_, nth) => SEQ - nth);

  it("costs a few reads with the hint that came with its commit", async () => {
    const forwards = await page("forwards", SEQ, START);
    expect(forwards.seqs).toEqual(following);
    // One look at the end of the file, and one at the page.
    expect(forwards.file.bytesRead).toBeLessThanOrEqual(2 * 64 * KiB + LINE);
    const backwards = await page("backwards", SEQ, START + LINE);
    expect(backwards.seqs).toEqual(preceding);
    expect(backwards.file.bytesRead).toBeLessThanOrEqual(2 * 64 * KiB + LINE);
  });

  it.each([
    ["no hint", undefined],
    ["a hint of another journal", 12_345],
    ["a hint in the middle of the line", START + 10],
    ["a hint of the commit before", START - LINE],
    ["a hint behind the end", LINE * COMMITS + 1],
  ])("costs a search with %s, and is the same page", async (_, hint) => {
    const forwards = await page("forwards", SEQ, hint);
    expect(forwards.seqs).toEqual(following);
    expect(forwards.file.bytesRead).toBeLessThan(512 * KiB);
    const backwards = await page("backwards", SEQ, hint);
    expect(backwards.seqs).toEqual(preceding);
    expect(backwards.file.bytesRead).toBeLessThan(512 * KiB);
    expect(backwards.file.reads).toBeLessThan(32);
  });

  it("is found from the end in less, the nearer it is to the end", async () => {
    const { seqs, file } = await page("forwards", COMMITS - 19);
    expect(seqs).toEqual(Array.from({ length: 20 }, (_, nth) => COMMITS - 19 + nth));
    expect(file.bytesRead).toBeLessThan(256 * KiB);
  });
});
