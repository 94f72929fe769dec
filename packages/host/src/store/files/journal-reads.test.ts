// Which parts of a journal a reader reads, and where it starts and ends.
import { beforeEach, describe, expect, it } from "vitest";
import { seqsOf } from "../../../../../test/support/memory-journal.ts";
import { firstCommit } from "../../../../../test/support/test-thread.ts";
import type { AppendFile, Files, ReadFile } from "../../platform/platform.ts";
import { encodeCommit } from "./commit-format.ts";
import { DamageReport } from "./damage-report.ts";
import { JournalFileReader, tornBytes } from "./journal-file-reader.ts";

const KiB = 1024;
const commit = (seq: number, length = 100): string => {
  const head = `{"seq":${seq},"epoch":1,"prev":${seq - 1},"records":[]`;
  return `${head}${" ".repeat(Math.max(0, length - head.length - 2))}}\n`;
};
const journalOf = (count: number, length = 100): string =>
  Array.from({ length: count }, (_, nth) => commit(nth + 1, length)).join("");

/** A file that notes the reads, and refuses those that no file system allows. */
class NotedFile implements ReadFile {
  readonly reads: (readonly [number, number])[] = [];
  readonly bytes: Buffer;
  isOpen = true;

  constructor(text: string) {
    this.bytes = Buffer.from(text);
  }

  async size(): Promise<number> {
    return this.bytes.length;
  }

  async read(position: number, length: number): Promise<Uint8Array> {
    if (position < 0 || length < 0) throw new RangeError(`no read of ${length} at ${position}`);
    this.reads.push([position, length]);
    return this.bytes.subarray(position, position + length);
  }

  async close(): Promise<void> {
    this.isOpen = false;
  }
}

let damage: string[];
beforeEach(() => {
  damage = [];
});

function readerOf(file: ReadFile, end?: number): JournalFileReader {
  const leftOut = new DamageReport({
    debug() {},
    info() {},
    warn: (_, fields) => void damage.push(String(fields?.["why"])),
    error() {},
  });
  const ports = { leftOut, pause: async () => {} };
  return new JournalFileReader("t", { path: "/t", archived: false }, file, ports, async () => undefined, end);
}

describe("a reader", () => {
  it("reads a small journal once, whatever it is asked for", async () => {
    const file = new NotedFile(journalOf(5));
    const reader = readerOf(file);
    expect(await reader.isEmpty()).toBe(false);
    expect(await seqsOf(reader.backwards())).toEqual([5, 4, 3, 2, 1]);
    expect(await seqsOf(reader.forwards())).toEqual([1, 2, 3, 4, 5]);
    expect(await seqsOf(reader.forwards({ seq: 3 }))).toEqual([3, 4, 5]);
    expect(await seqsOf(reader.backwards({ seq: 3 }))).toEqual([3, 2, 1]);
    expect(await seqsOf(reader.naming('"seq":4'))).toEqual([4]);
    expect(file.reads).toEqual([[0, 500]]);
    await reader.close();
    expect(file.isOpen).toBe(false);
  });

  it("reads the last 64 KiB of a long journal for its last commits", async () => {
    const file = new NotedFile(journalOf(2000));
    for await (const placed of readerOf(file).backwards()) {
      expect(placed).toMatchObject({ commit: { seq: 2000 }, start: 199_900, end: 200_000 });
      break;
    }
    expect(file.reads).toEqual([[200_000 - 64 * KiB, 64 * KiB]]);
  });

  it("needs no search for the last commit with its hint", async () => {
    const file = new NotedFile(journalOf(2000));
    for await (const { commit: found } of readerOf(file).backwards({ seq: 2000, hint: 200_000 })) {
      expect(found.seq).toBe(2000);
      break;
    }
    expect(file.reads).toHaveLength(1);
  });

  it("reads an empty file as that, and ends before a torn line", async () => {
    const empty = readerOf(new NotedFile(""));
    expect([await empty.isEmpty(), await seqsOf(empty.forwards()), await seqsOf(empty.backwards())]).toEqual([
      true,
      [],
      [],
    ]);
    const torn = readerOf(new NotedFile(`${journalOf(2)}${commit(3).slice(0, -1)}`));
    expect([await seqsOf(torn.forwards()), await seqsOf(torn.backwards())]).toEqual([
      [1, 2],
      [2, 1],
    ]);
    expect(await readerOf(new NotedFile("torn")).isEmpty()).toBe(true);
  });

  it("does not read beyond the end that it was given or has seen, whatever the hint is", async () => {
    for (const hint of [undefined, 0, 100, 200, 250, 300, 400, 500, 501]) {
      const given = readerOf(new NotedFile(journalOf(5)), 300);
      expect(await seqsOf(given.backwards({ seq: 5, hint }))).toEqual([3, 2, 1]);
      expect(await seqsOf(given.backwards({ seq: 4, hint }))).toEqual([3, 2, 1]);
      expect(await seqsOf(given.forwards({ seq: 3, hint }))).toEqual([3]);
      expect(await seqsOf(given.forwards({ seq: 4, hint }))).toEqual([]);
      expect(await seqsOf(given.forwards({ seq: 1, hint }))).toEqual([1, 2, 3]);
    }
    const growing = new NotedFile(journalOf(2));
    const reader = readerOf(growing);
    await reader.isEmpty();
    const grown = readerOf(new NotedFile(journalOf(3)), 200);
    expect([await seqsOf(reader.forwards()), await seqsOf(grown.forwards())]).toEqual([
      [1, 2],
      [1, 2],
    ]);
  });

  it("leaves out records of another thread, and reports a pass at its end", async () => {
    const reader = readerOf(new NotedFile(`${encodeCommit(firstCommit("other"))}junk\n`));
    for await (const placed of reader.forwards()) {
      expect(placed.commit.records).toEqual([]);
      expect(damage).toEqual([]);
    }
    expect(damage).toEqual(["created: it is of another thread"]);
    const own = readerOf(new NotedFile(encodeCommit(firstCommit("t")).toString()));
    for await (const placed of own.backwards()) expect(placed.commit.records).toHaveLength(1);
    expect(damage).toHaveLength(1);
  });

  it("reads only wanted records of commits, in both directions", async () => {
    const bad = encodeCommit({
      seq: 1,
      epoch: 1,
      prev: 0,
      records: [{ type: "renamed", at: 1, name: 7 as never }],
    });
    for (const direction of ["forwards", "backwards"] as const) {
      damage = [];
      await seqsOf(readerOf(new NotedFile(bad.toString()))[direction](undefined, new Map()));
      expect(damage).toEqual([]);
      await seqsOf(readerOf(new NotedFile(bad.toString()))[direction]());
      expect(damage).toHaveLength(1);
    }
  });
});

describe("the bytes after the last line", () => {
  const torn = (text: string, size = text.length): Promise<number> => {
    const file = new NotedFile(text);
    const files = { openRead: async () => file } as unknown as Files;
    return tornBytes(files, { size } as AppendFile, "/t").finally(() => {
      expect(file.isOpen).toBe(size === 0);
    });
  };
  const x = (count: number): string => "x".repeat(count);

  it.each([
    ["", 0],
    ["\n", 0],
    ["x", 1],
    ["\nabc", 3],
    ["line\n", 0],
    ["line\nab", 2],
    [`line\n${x(64 * KiB - 1)}`, 64 * KiB - 1],
    [`line\n${x(64 * KiB)}`, 64 * KiB],
    [`line\n${x(64 * KiB + 1)}`, 64 * KiB + 1],
    [`line\n${x(200 * KiB)}`, 200 * KiB],
    [x(150 * KiB), 150 * KiB],
  ])("are counted (case %#)", async (text, bytes) => {
    expect(await torn(text)).toBe(bytes);
  });

  it("are counted up to the size that the writer knows", async () => {
    for (const length of [1, 64 * KiB, 70 * KiB, 200 * KiB])
      expect(await torn(`line\n${x(length)}\nmore\n`, 5 + length)).toBe(length);
  });

  it("are none in a file that is gone", async () => {
    const files = { openRead: async () => undefined } as unknown as Files;
    expect(await tornBytes(files, { size: 9 } as AppendFile, "/t")).toBe(0);
  });
});
