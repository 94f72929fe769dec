import type { ThreadFacts } from "../../core/life/records.ts";
import { problemOf } from "../../core/record-problem.ts";
import type { Commit, ThreadRecord } from "../../core/records.ts";
import { fault } from "../../errors.ts";
import type { Placed, WantedRecords } from "../journal.ts";
import type { Line } from "./read-lines.ts";

/** Called for an unreadable part of a journal. The rest of the thread stays readable. */
export type LeaveOut = (start: number, end: number, why: string) => void;

/** Formats a commit as one line. The fields have a fixed order, by which a reader recognizes a commit. */
export function encodeCommit({ seq, epoch, prev, records }: Commit): Buffer {
  return Buffer.from(`{"seq":${seq},"epoch":${epoch},"prev":${prev},"records":${JSON.stringify(records)}}\n`);
}

/** Formats commits as consecutive lines. */
export function encodeBatch(commits: readonly Commit[]): Buffer {
  return commits.length === 1 ? encodeCommit(commits[0]!) : Buffer.concat(commits.map(encodeCommit));
}

/**
 * Parses a line, and leaves out its damaged records. Undefined for an empty line and for a line that is no commit.
 * `threadId`: the thread of the journal, if known. `wanted`: the records and fields to validate.
 */
export function commitOf(
  line: Line,
  threadId: string | undefined,
  leaveOut: LeaveOut,
  wanted?: WantedRecords,
): Placed | undefined {
  const { start, end } = line;
  const value = line.tooLong ? undefined : parse(line.text);
  if (value === BLANK) return undefined;
  if (!isCommit(value, end)) {
    leaveOut(start, end, line.tooLong ? "the line is too long for a commit" : "the line is not a commit");
    return undefined;
  }
  const records = recordsOf(value, threadId, wanted, (why) => leaveOut(start, end, why));
  return { commit: records === value.records ? value : { ...value, records }, start, end };
}

const BLANK = Symbol("blank");

const USUAL_BEGINNING = '{"seq":';

/** Start of a commit line. `\s*` also matches a BOM, which `parse` removes. */
const BEGINNING =
  /^\s*\{\s*"seq"\s*:\s*\d+\s*,\s*"epoch"\s*:\s*\d+\s*,\s*"prev"\s*:\s*\d+\s*,\s*"records"\s*:\s*\[/;

/** Returns undefined if the line is not JSON. */
function parse(line: string): unknown {
  // A failed parse is expensive, and there may be a million bad lines. Most of them are recognized by their start.
  if (!line.startsWith(USUAL_BEGINNING) && !BEGINNING.test(line))
    return line.trimStart() === "" ? BLANK : undefined;
  try {
    return JSON.parse(line.charCodeAt(0) === BOM ? line.slice(1) : line);
  } catch {
    return undefined;
  }
}

const BOM = 0xfeff;

/**
 * Checks that the numbers of a commit are consistent, so that a damaged commit is not taken for the journal's end:
 * `prev` is the previous `seq`, there are at most as many loads as commits, and at most as many commits as bytes.
 */
function isCommit(value: unknown, end: number): value is Commit {
  if (typeof value !== "object" || value === null) return false;
  const { seq, epoch, prev, records } = value as { [K in keyof Commit]?: unknown };
  return (
    isCount(seq) && seq <= end && prev === seq - 1 && isCount(epoch) && epoch <= seq && Array.isArray(records)
  );
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** Returns the intact wanted records. If these are all records, as almost always, returns the same array. */
function recordsOf(
  commit: Commit,
  threadId: string | undefined,
  wanted: WantedRecords | undefined,
  leaveOut: (why: string) => void,
): readonly ThreadRecord[] {
  const { records } = commit;
  let whole: ThreadRecord[] | undefined;
  for (let nth = 0; nth < records.length; nth++) {
    const record = records[nth]!;
    const why = problemOf(record, wanted) ?? misplaced(record, commit, threadId);
    if (why === undefined || why === "unwanted") {
      whole?.push(record);
    } else {
      if (why === "newer") throw fault("newerJournal");
      leaveOut(why);
      whole ??= records.slice(0, nth);
    }
  }
  return whole ?? records;
}

/** Returns why a record must not be at this position. */
function misplaced(
  record: ThreadRecord,
  { epoch }: Commit,
  threadId: string | undefined,
): string | undefined {
  switch (record.type) {
    case "created":
      return isOf(record, threadId) ? undefined : "created: it is of another thread";
    case "checkpoint":
      if (!isOf(record.state, threadId)) return "checkpoint: it is of another thread";
      return record.state.epoch === epoch ? undefined : "checkpoint: it is of another load";
    case "opened":
    case "adopted":
      return record.epoch === epoch ? undefined : `${record.type}: it is of another load`;
    default:
      return undefined;
  }
}

function isOf({ facts }: { readonly facts: ThreadFacts }, threadId: string | undefined): boolean {
  return threadId === undefined || facts.id === threadId;
}
