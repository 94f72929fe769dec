import { type Commit, RECORD_VERSIONS, type ThreadRecord } from "../core/records.ts";
import { fault } from "../errors.ts";
import type { ReadFile } from "../platform/platform.ts";
import type { Placed } from "./journal.ts";

const CHUNK = 64 * 1024;
const LF = 0x0a;

/** Told about what is in a journal and is no commit. Never fatal: the rest of the thread is still there. */
export type BadLine = (start: number, end: number) => void;

/** Whole lines of a file before `end`, last first. What is behind the last LF is not a line. */
export async function* linesBackwards(file: ReadFile, end: number): AsyncIterable<Line> {
  /** Bytes from `start` on that belong to lines which begin further left. */
  let rest: Uint8Array = new Uint8Array(0);
  let start = end;
  while (start > 0) {
    // A line longer than a chunk is read in steps that grow with it, so that its bytes are not copied over and over.
    const want = Math.min(start, Math.max(CHUNK, rest.length));
    start -= want;
    const chunk = Buffer.concat([await file.read(start, want), rest]);
    let right = chunk.length;
    let left = chunk.lastIndexOf(LF, right - 1);
    while (left >= 0) {
      if (left + 1 < right)
        yield { bytes: chunk.subarray(left + 1, right), start: start + left + 1, end: start + right };
      right = left + 1;
      left = right - 2 < 0 ? -1 : chunk.lastIndexOf(LF, right - 2);
    }
    rest = chunk.subarray(0, right);
  }
  if (rest.length > 0) yield { bytes: rest, start: 0, end: rest.length };
}

/** Whole lines of a file from `start` to `end`, first first. */
export async function* linesForwards(file: ReadFile, start: number, end: number): AsyncIterable<Line> {
  let rest: Buffer = Buffer.alloc(0);
  let at = start;
  while (at < end) {
    const chunk = await file.read(at, Math.min(end - at, Math.max(CHUNK, rest.length)));
    if (chunk.length === 0) return;
    at += chunk.length;
    const bytes =
      rest.length === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
        : Buffer.concat([rest, chunk]);
    const base = at - bytes.length;
    let left = 0;
    for (let right = bytes.indexOf(LF); right >= 0; right = bytes.indexOf(LF, left)) {
      yield { bytes: bytes.subarray(left, right + 1), start: base + left, end: base + right + 1 };
      left = right + 1;
    }
    rest = bytes.subarray(left);
  }
}

export interface Line {
  /** With its LF. */
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

/** Commits among lines; lines that are none are told and left out. */
export async function* commitsOf(
  lines: AsyncIterable<Line> | Iterable<Line>,
  bad: BadLine,
): AsyncIterable<Placed> {
  for await (const line of lines) {
    const commit = parseCommit(line.bytes);
    if (commit === "blank") continue;
    if (commit !== undefined && !commit.records.every(isKnown)) throw fault("newerJournal");
    if (commit === undefined) bad(line.start, line.end);
    else yield { commit, start: line.start, end: line.end };
  }
}

/** Where the commits after `seq` begin, looking back from `end`; only the head of each line is read. */
export async function locate(file: ReadFile, end: number, seq: number): Promise<number> {
  let found = end;
  for await (const line of linesBackwards(file, end)) {
    const at = seqOf(line.bytes);
    if (at !== undefined && at <= seq) break;
    if (at !== undefined) found = line.start;
  }
  return found;
}

function seqOf(bytes: Uint8Array): number | undefined {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 32)).toString("latin1");
  const found = /^\{"seq":(\d+),/.exec(head);
  return found === null ? undefined : Number(found[1]);
}

/** Of a type and a version that we can fold; others were written by a later program, and must not be guessed at. */
function isKnown(record: ThreadRecord & { readonly v?: number }): boolean {
  const version = Object.hasOwn(RECORD_VERSIONS, record.type) ? RECORD_VERSIONS[record.type] : 0;
  return (record.v ?? 1) <= version;
}

function parseCommit(bytes: Uint8Array): Commit | "blank" | undefined {
  let text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
  if (text.charCodeAt(0) === 0xfeff) text = text.slice(1);
  if (text.trim() === "") return "blank";
  try {
    const value = JSON.parse(text) as Commit;
    const sound =
      Number.isSafeInteger(value.seq) && Number.isSafeInteger(value.epoch) && Array.isArray(value.records);
    return sound ? value : undefined;
  } catch {
    return undefined;
  }
}

/** One commit, one line. The seq comes first: `locate` looks for it there. */
export function commitLine({ seq, epoch, prev, records }: Commit): Buffer {
  return Buffer.from(`{"seq":${seq},"epoch":${epoch},"prev":${prev},"records":${JSON.stringify(records)}}\n`);
}
