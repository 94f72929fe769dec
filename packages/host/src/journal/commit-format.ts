import type { ThreadFacts } from "../core/life/records.ts";
import { problemOf } from "../core/record-problem.ts";
import type { Commit, ThreadRecord } from "../core/records.ts";
import { fault } from "../errors.ts";
import type { Line } from "./commit-lines.ts";
import type { Placed, WantedRecords } from "./journal.ts";

/** Called for what is in a journal and cannot be read. Never fatal: the rest of the thread is still there. */
export type LeaveOut = (start: number, end: number, why: string) => void;

/** One commit, one line, always in this order: a reader knows a commit by its beginning. */
export function commitLine({ seq, epoch, prev, records }: Commit): Buffer {
  return Buffer.from(`{"seq":${seq},"epoch":${epoch},"prev":${prev},"records":${JSON.stringify(records)}}\n`);
}

/**
 * The commit of a line, without the records that are damaged; undefined for an empty line, and for one that is no commit.
 * `threadId`: whose journal it is in, unless it is nobody's. `wanted`: what of which records is used, if not all.
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

/** How a commit begins. `\s` stands for a BOM, too. */
const BEGINNING =
  /^\s*\{\s*"seq"\s*:\s*\d+\s*,\s*"epoch"\s*:\s*\d+\s*,\s*"prev"\s*:\s*\d+\s*,\s*"records"\s*:\s*\[/;

/** The value of a line; undefined for what is not JSON. */
function parse(line: string): unknown {
  // A failed parse is expensive, and there may be a million of them: most of what is no commit is known by its beginning.
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
 * The numbers of a commit vouch for each other, so that one that is damaged cannot become the place where the next commit
 * goes: `prev` is the seq before, there are no more loads than commits, and no more commits than bytes.
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

/** The records that are not damaged, as far as they are wanted. The same list where that is all of them, as nearly always. */
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

/** Why a record cannot have been written in this place. */
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
