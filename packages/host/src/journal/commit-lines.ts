import { isAscii } from "node:buffer";
import { type Commit, RECORDS, type ThreadRecord } from "../core/records.ts";
import { fault } from "../errors.ts";
import type { ReadFile } from "../platform/platform.ts";
import type { Placed } from "./journal.ts";

const CHUNK = 64 * 1024;
/** Whoever reads on and on reads more at once, but never so much that others would notice. */
const MAX_CHUNK = 256 * 1024;
const LF = 0x0a;

/** Told about what is in a journal and is no commit. Never fatal: the rest of the thread is still there. */
export type BadLine = (start: number, end: number) => void;

/** Whole lines of a file before `end`, last first, a chunk at a time. What is behind the last LF is not a line. */
export async function* linesBackwards(file: ReadFile, end: number): AsyncGenerator<readonly Line[]> {
  /** Bytes from `start` on that belong to lines which begin further left. */
  let rest: Uint8Array = new Uint8Array(0);
  let start = end;
  let step = CHUNK;
  let ahead: Promise<Uint8Array> | undefined;
  // A line longer than a chunk is read in steps that grow with it, so that its bytes are not copied over and over.
  const wanted = (): number => Math.min(start, Math.max(step, rest.length));
  while (start > 0) {
    const want = wanted();
    start -= want;
    const chunk = Buffer.concat([await (ahead ?? file.read(start, want)), rest]);
    const text = asciiOf(chunk);
    const lines: Line[] = [];
    let right = chunk.length;
    let left = chunk.lastIndexOf(LF, right - 1);
    while (left >= 0) {
      if (left + 1 < right) lines.push(new Line(chunk, text, left + 1, right, start));
      right = left + 1;
      left = right - 2 < 0 ? -1 : chunk.lastIndexOf(LF, right - 2);
    }
    rest = chunk.subarray(0, right);
    // Whoever came for more than one chunk will want the next one, too: it is read while this one is worked on.
    const further = step > CHUNK && start > 0;
    step = Math.min(MAX_CHUNK, step * 2);
    ahead = further ? readAhead(file, start - wanted(), wanted()) : undefined;
    if (lines.length > 0) yield lines;
  }
  if (rest.length > 0) yield [new Line(rest, undefined, 0, rest.length, 0)];
}

/** Whole lines of a file from `start` to `end`, first first, a chunk at a time. */
export async function* linesForwards(
  file: ReadFile,
  start: number,
  end: number,
): AsyncGenerator<readonly Line[]> {
  let rest: Buffer = Buffer.alloc(0);
  let at = start;
  for (let step = CHUNK; at < end; step = Math.min(MAX_CHUNK, step * 2)) {
    const chunk = await file.read(at, Math.min(end - at, Math.max(step, rest.length)));
    if (chunk.length === 0) return;
    at += chunk.length;
    const bytes =
      rest.length === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
        : Buffer.concat([rest, chunk]);
    const base = at - bytes.length;
    const text = asciiOf(bytes);
    const lines: Line[] = [];
    let left = 0;
    for (let right = bytes.indexOf(LF); right >= 0; right = bytes.indexOf(LF, left)) {
      lines.push(new Line(bytes, text, left, right + 1, base));
      left = right + 1;
    }
    rest = bytes.subarray(left);
    if (lines.length > 0) yield lines;
  }
}

/** A line with its LF, and where it is. What nobody asks for is not made of it. */
export class Line {
  readonly #chunk: Uint8Array;
  /** The chunk as text, if a character of it is a byte. */
  readonly #ascii: string | undefined;
  readonly #left: number;
  readonly #right: number;
  readonly #base: number;

  /** `base`: where the chunk is. */
  constructor(chunk: Uint8Array, ascii: string | undefined, left: number, right: number, base: number) {
    this.#chunk = chunk;
    this.#ascii = ascii;
    this.#left = left;
    this.#right = right;
    this.#base = base;
  }

  get start(): number {
    return this.#base + this.#left;
  }

  get end(): number {
    return this.#base + this.#right;
  }

  get bytes(): Uint8Array {
    return this.#chunk.subarray(this.#left, this.#right);
  }

  get text(): string {
    if (this.#ascii !== undefined) return this.#ascii.slice(this.#left, this.#right);
    const { buffer, byteOffset, length } = this.bytes;
    return Buffer.from(buffer, byteOffset, length).toString("utf8");
  }
}

function asciiOf(chunk: Buffer): string | undefined {
  return isAscii(chunk) ? chunk.toString("latin1") : undefined;
}

/** Should it fail, whoever comes for it is told. */
function readAhead(file: ReadFile, start: number, length: number): Promise<Uint8Array> {
  const read = file.read(start, length);
  read.catch(() => {});
  return read;
}

/** The commit of a line; undefined for an empty one, and for one that is none, which is told. */
export function commitOf(line: Line, bad: BadLine): Placed | undefined {
  const commit = parseCommit(line.text);
  if (commit === "blank") return undefined;
  if (commit === undefined) {
    bad(line.start, line.end);
    return undefined;
  }
  if (!commit.records.every(isKnown)) throw fault("newerJournal");
  return { commit, start: line.start, end: line.end };
}

/** Where the commits after `seq` begin, looking back from `end`; only the head of each line is read. */
export async function locate(file: ReadFile, end: number, seq: number): Promise<number> {
  let found = end;
  for await (const lines of linesBackwards(file, end)) {
    for (const line of lines) {
      const at = seqOf(line.bytes);
      if (at !== undefined && at <= seq) return found;
      if (at !== undefined) found = line.start;
    }
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
  return (record.v ?? 1) <= (VERSIONS.get(record.type) ?? 0);
}

const VERSIONS: ReadonlyMap<string, number> = new Map(
  Object.entries(RECORDS).map(([type, { version }]) => [type, version]),
);

function parseCommit(line: string): Commit | "blank" | undefined {
  const text = line.charCodeAt(0) === 0xfeff ? line.slice(1) : line;
  try {
    const value = JSON.parse(text) as Commit;
    const sound =
      Number.isSafeInteger(value.seq) && Number.isSafeInteger(value.epoch) && Array.isArray(value.records);
    return sound ? value : undefined;
  } catch {
    return text.trim() === "" ? "blank" : undefined;
  }
}

/** One commit, one line. The seq comes first: `locate` looks for it there. */
export function commitLine({ seq, epoch, prev, records }: Commit): Buffer {
  return Buffer.from(`{"seq":${seq},"epoch":${epoch},"prev":${prev},"records":${JSON.stringify(records)}}\n`);
}
