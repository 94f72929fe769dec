import { describe, expect, it } from "vitest";
import { newThread } from "../../../../../test/support/test-thread.ts";
import { checkpointOf } from "../../core/life/make-checkpoint.ts";
import type { Commit, ThreadRecord } from "../../core/records.ts";
import type { WantedRecords } from "../journal.ts";
import { commitOf, encodeCommit } from "./commit-format.ts";
import { Line } from "./read-lines.ts";

const renamed: ThreadRecord = { type: "renamed", at: 2, name: "n" };
const lineOf = (text: string): Line => {
  const bytes = Buffer.from(text);
  return new Line(bytes, undefined, 0, bytes.length, 0);
};
/** What is read of a line, and why something of it is left out. */
function read(text: string, threadId: string | undefined = "t") {
  const why: string[] = [];
  const placed = commitOf(lineOf(text), threadId, (_start, _end, reason) => void why.push(reason));
  return { commit: placed?.commit, why };
}
const written = (commit: Partial<Commit>): string =>
  encodeCommit({ seq: 2, epoch: 1, prev: 1, records: [renamed], ...commit }).toString();
const NO_COMMIT = { commit: undefined, why: ["the line is not a commit"] };

it("reads back what was written, also after a byte order mark or with other spaces", () => {
  const commit: Commit = { seq: 2, epoch: 1, prev: 1, records: [renamed] };
  const line = encodeCommit(commit).toString();
  expect(read(line)).toEqual({ commit, why: [] });
  expect(read(`\ufeff${line}`).commit).toEqual(commit);
  expect(read(line.replaceAll(",", " , ").replaceAll(":", " : ")).commit).toEqual(commit);
  expect(commitOf(lineOf(line), "t", () => {})).toMatchObject({ start: 0, end: line.length });
});

it("takes no line for a commit whose numbers cannot be right", () => {
  const wrong: readonly Partial<Commit>[] = [
    { seq: 0, prev: -1 },
    { prev: 0 },
    { prev: 2 },
    { epoch: 0 },
    { epoch: 3 },
    { seq: 1.5, prev: 0.5 },
    { seq: 2 ** 53, prev: 2 ** 53 - 1 },
    // More commits than bytes.
    { seq: 5000, prev: 4999 },
  ];
  for (const numbers of wrong) expect(read(written(numbers)), JSON.stringify(numbers)).toEqual(NO_COMMIT);
  expect(read(written({ epoch: 2 })).commit).toBeDefined();
  for (const text of ["rubbish\n", '{"seq":2,\n', "null\n", '{"seq":2,"epoch":1,"prev":1,"records":{}}\n'])
    expect(read(text)).toEqual(NO_COMMIT);
  expect(read(" \n")).toEqual({ commit: undefined, why: [] });
});

it("leaves out records that are damaged, or of another thread or load, and keeps the others", () => {
  const { facts, settings, load, docs } = newThread();
  const created: ThreadRecord = { type: "created", at: 1, facts, settings, load, docs };
  const damaged = { type: "renamed", at: "never", name: 3 } as unknown as ThreadRecord;
  const adopted = (epoch: number): ThreadRecord => ({
    type: "adopted",
    at: 2,
    epoch,
    status: { type: "idle" },
  });
  const kept = (records: readonly ThreadRecord[], threadId?: string) => {
    const { commit, why } = read(written({ records }), threadId);
    return [commit?.records.map(({ type }) => type), why.length];
  };
  expect(kept([renamed, damaged, renamed])).toEqual([["renamed", "renamed"], 1]);
  expect(kept([damaged])).toEqual([[], 1]);
  expect(kept([created])).toEqual([["created"], 0]);
  expect(kept([created, renamed], "another")).toEqual([["renamed"], 1]);
  expect(kept([adopted(1), adopted(2)])).toEqual([["adopted"], 1]);
});

describe("the parts of a line", () => {
  const NUMBERS = { seq: 2, epoch: 1, prev: 1 };
  const text = (records: unknown, numbers: object = NUMBERS): string =>
    `${JSON.stringify({ ...numbers, records })}\n`;

  /** Reads a line that starts at an offset. */
  function readAt(base: number, line: string, wanted?: WantedRecords) {
    const bytes = Buffer.from(line);
    const left: unknown[] = [];
    const placed = commitOf(
      new Line(bytes, undefined, 0, bytes.length, base),
      "t",
      (...part) => void left.push(part),
      wanted,
    );
    return { placed, left };
  }

  it("have their offsets in the file, readable or not", () => {
    const line = text([renamed]);
    const end = 500 + line.length;
    expect(readAt(500, line)).toEqual({
      placed: { commit: { ...NUMBERS, records: [renamed] }, start: 500, end },
      left: [],
    });
    expect(readAt(500, "junk\n")).toEqual({
      placed: undefined,
      left: [[500, 505, "the line is not a commit"]],
    });
    const { placed, left } = readAt(500, text([renamed, null, renamed, 7, renamed]));
    expect(placed?.commit).toEqual({ ...NUMBERS, records: [renamed, renamed, renamed] });
    expect(left).toMatchObject([
      [500, expect.any(Number), "it is not an object"],
      [500, expect.any(Number), "it is not an object"],
    ]);
  });

  it("of a line that is too long are left out as that", () => {
    const left: unknown[] = [];
    const line = new Line(Buffer.alloc(0), undefined, 0, 300, 100);
    expect(commitOf(line, "t", (...part) => void left.push(part))).toBeUndefined();
    expect(left).toEqual([[100, 400, "the line is too long for a commit"]]);
  });

  it("of an empty line are none, without a report", () => {
    for (const blank of ["\n", "   \n", "\t\r\n", "\ufeff\n"])
      expect(readAt(0, blank), JSON.stringify(blank)).toEqual({ placed: undefined, left: [] });
  });

  it("have numbers that fit: as many commits as bytes at most, as many loads as commits at most", () => {
    const line = (seq: number, epoch = 1): string => text([], { seq, epoch, prev: seq - 1 });
    const ends = (seq: number, end: number): boolean =>
      readAt(end - line(seq).length, line(seq)).placed !== undefined;
    expect([ends(900, 899), ends(900, 900), ends(900, 901)]).toEqual([false, true, true]);
    const loads = (epoch: number): boolean => readAt(0, line(3, epoch)).placed !== undefined;
    expect([loads(0), loads(1), loads(2), loads(3), loads(4)]).toEqual([false, true, true, true, false]);
    expect(readAt(0, line(1)).placed).toBeDefined();
    expect(readAt(0, text({})).placed).toBeUndefined();
  });

  it("are validated if they are wanted, and kept unread if not", () => {
    const damaged = { type: "renamed", at: "never" };
    const { placed, left } = readAt(0, text([damaged, renamed]), new Map());
    expect([placed?.commit.records, left]).toEqual([[damaged, renamed], []]);
    expect(readAt(0, text([damaged, renamed])).placed?.commit.records).toEqual([renamed]);
    expect(readAt(0, text([null, damaged]), new Map()).placed?.commit.records).toEqual([damaged]);
  });

  it("of a newer version end the reading", () => {
    expect(() => readAt(0, text([renamed, { type: "somethingNewer" }]))).toThrow(
      expect.objectContaining({ code: "newerJournal" }),
    );
  });
});

describe("a record at the wrong place", () => {
  const thread = newThread();
  const { facts, settings, load, docs } = thread;
  const created: ThreadRecord = { type: "created", at: 1, facts, settings, load, docs };
  const opened = (epoch: number): ThreadRecord => ({ type: "opened", at: 2, epoch, load, docs: null });
  const adopted = (epoch: number): ThreadRecord => {
    return { type: "adopted", at: 2, epoch, status: { type: "idle" } };
  };
  const checkpoint = (epoch: number): ThreadRecord => checkpointOf({ ...thread, epoch });

  it.each<[ThreadRecord, string, readonly string[]]>([
    [created, "t", []],
    [created, "other", ["created: it is of another thread"]],
    [checkpoint(2), "t", []],
    [checkpoint(2), "other", ["checkpoint: it is of another thread"]],
    [checkpoint(1), "t", ["checkpoint: it is of another load"]],
    [opened(2), "t", []],
    [opened(1), "t", ["opened: it is of another load"]],
    [adopted(2), "t", []],
    [adopted(3), "t", ["adopted: it is of another load"]],
    [renamed, "other", []],
  ])("is left out, with the reason (case %#)", (record, threadId, why) => {
    const found = read(written({ epoch: 2, records: [record] }), threadId);
    expect(found.why).toEqual(why);
    expect(found.commit?.records).toHaveLength(1 - why.length);
  });

  it("may be of any thread while the thread is unknown", () => {
    const line = lineOf(written({ records: [created] }));
    expect(commitOf(line, undefined, () => expect.unreachable())?.commit.records).toHaveLength(1);
  });
});
