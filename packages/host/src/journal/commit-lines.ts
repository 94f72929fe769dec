import { isAscii } from "node:buffer";
import type { ReadFile } from "../platform/platform.ts";

const CHUNK = 64 * 1024;
/** Whoever reads on and on reads more at once, but never so much that others would notice. */
const MAX_CHUNK = 256 * 1024;
/** No commit is longer. What is, is passed over without being held in memory. */
export const MAX_LINE = 256 * 1024 * 1024;
const LF = 0x0a;
const EMPTY: Buffer = Buffer.alloc(0);

/**
 * Whole lines of a file before `end`, last first, a chunk at a time. What is behind the last LF is not a line; lines that
 * are empty are passed over.
 */
export async function* linesBackwards(
  file: ReadFile,
  end: number,
  maxLine = MAX_LINE,
): AsyncGenerator<readonly Line[]> {
  /** Bytes from `start` on that belong to a line which begins further left. */
  let rest: Uint8Array = EMPTY;
  let start = end;
  let step = CHUNK;
  let ahead: Promise<Uint8Array> | undefined;
  /** The end of a line that is too long, while its beginning is looked for. */
  let endOfTooLong: number | undefined;
  // A line longer than a chunk is read in steps that grow with it, so that its bytes are not copied over and over.
  const wanted = (): number => Math.min(start, Math.max(step, rest.length));
  while (start > 0) {
    const want = wanted();
    start -= want;
    const chunk = Buffer.concat([await (ahead ?? file.read(start, want)), rest]);
    const text = asciiOf(chunk);
    const lines: Line[] = [];
    let right = chunk.length;
    for (;;) {
      // There may be a million empty lines: they cost a look at their bytes.
      while (right > 1 && chunk[right - 1] === LF && chunk[right - 2] === LF) right--;
      const left = right < 2 ? -1 : chunk.lastIndexOf(LF, right - 2);
      if (left < 0) break;
      if (endOfTooLong !== undefined) lines.push(tooLongLine(start + left + 1, endOfTooLong));
      else lines.push(new Line(chunk, text, left + 1, right, start));
      endOfTooLong = undefined;
      right = left + 1;
    }
    rest = chunk.subarray(0, right);
    if (rest.length > maxLine) endOfTooLong ??= start + rest.length;
    if (endOfTooLong !== undefined) rest = EMPTY;
    // Whoever came for more than one chunk will want the next one, too: it is read while this one is worked on.
    const further = step > CHUNK && start > 0;
    step = Math.min(MAX_CHUNK, step * 2);
    ahead = further ? readAhead(file, start - wanted(), wanted()) : undefined;
    if (lines.length > 0) yield lines;
  }
  if (endOfTooLong !== undefined) yield [tooLongLine(0, endOfTooLong)];
  else if (rest.length > 0) yield [new Line(rest, undefined, 0, rest.length, 0)];
}

/** Whole lines of a file from `start` to `end`, first first, a chunk at a time. */
export async function* linesForwards(
  file: ReadFile,
  start: number,
  end: number,
  maxLine = MAX_LINE,
): AsyncGenerator<readonly Line[]> {
  let rest: Buffer = EMPTY;
  let at = start;
  /** The start of a line that is too long, while its end is looked for. */
  let startOfTooLong: number | undefined;
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
    for (;;) {
      while (startOfTooLong === undefined && bytes[left] === LF) left++;
      const right = bytes.indexOf(LF, left);
      if (right < 0) break;
      if (startOfTooLong !== undefined) lines.push(tooLongLine(startOfTooLong, base + right + 1));
      else lines.push(new Line(bytes, text, left, right + 1, base));
      startOfTooLong = undefined;
      left = right + 1;
    }
    rest = bytes.subarray(left);
    if (rest.length > maxLine) startOfTooLong ??= base + left;
    if (startOfTooLong !== undefined) rest = EMPTY;
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

  has(text: string): boolean {
    const { buffer, byteOffset, length } = this.bytes;
    return Buffer.from(buffer, byteOffset, length).includes(text);
  }

  /** Longer than any commit: its bytes were not kept. */
  get tooLong(): boolean {
    return this.#right > this.#chunk.length;
  }

  get text(): string {
    if (this.#ascii !== undefined) return this.#ascii.slice(this.#left, this.#right);
    const { buffer, byteOffset, length } = this.bytes;
    return Buffer.from(buffer, byteOffset, length).toString("utf8");
  }
}

function tooLongLine(start: number, end: number): Line {
  return new Line(EMPTY, undefined, 0, end - start, start);
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

const HEAD_BYTES = 96;
const HEAD = /^(?:\xef\xbb\xbf)?\{"seq":(\d+),"epoch":\d+,"prev":(\d+),/;

/** Undefined for a line that is no commit: its numbers vouch for each other. */
function seqOf(bytes: Uint8Array): number | undefined {
  const length = Math.min(bytes.length, HEAD_BYTES);
  const found = HEAD.exec(Buffer.from(bytes.buffer, bytes.byteOffset, length).toString("latin1"));
  return found !== null && Number(found[1]) === Number(found[2]) + 1 ? Number(found[1]) : undefined;
}
