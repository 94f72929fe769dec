import { isAscii } from "node:buffer";
import type { ReadFile } from "../../platform/platform.ts";

const CHUNK = 64 * 1024;
/** The maximum size of a read. Larger reads would delay other requests. */
const MAX_CHUNK = 256 * 1024;
/**
 * Limit on the length of a commit. Longer lines are skipped without buffering them. A client's message of 64 MiB may
 * become one commit, and its numbers may be written with four times as many digits.
 */
export const MAX_LINE = 320 * 1024 * 1024;
const LF = 0x0a;
const EMPTY: Buffer = Buffer.alloc(0);

/**
 * Yields the complete lines of a file before `end`, the last one first, in batches. Bytes after the last LF are not a
 * line; empty lines are skipped.
 */
export async function* linesBackwards(
  file: ReadFile,
  end: number,
  maxLine = MAX_LINE,
): AsyncGenerator<readonly Line[]> {
  /** The part of a line from `start` on, whose beginning is before `start`. */
  let rest: Uint8Array = EMPTY;
  let start = end;
  let step = CHUNK;
  let ahead: Promise<Uint8Array> | undefined;
  /** The end of an overlong line, while its start is being searched. */
  let endOfTooLong: number | undefined;
  // For a line longer than a chunk, reads grow with the line, so that its bytes are not copied again and again.
  const wanted = (): number => Math.min(start, Math.max(step, rest.length));
  while (start > 0) {
    const want = wanted();
    start -= want;
    const chunk = Buffer.concat([await (ahead ?? file.read(start, want)), rest]);
    const text = asciiOf(chunk);
    const lines: Line[] = [];
    let right = chunk.length;
    for (;;) {
      // Empty lines are skipped one byte at a time: there may be a million of them.
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
    // A reader that took more than one chunk will take the next one, too, so that one is read ahead.
    const further = step > CHUNK && start > 0;
    step = Math.min(MAX_CHUNK, step * 2);
    ahead = further ? readAhead(file, start - wanted(), wanted()) : undefined;
    if (lines.length > 0) yield lines;
  }
  if (endOfTooLong !== undefined) yield [tooLongLine(0, endOfTooLong)];
  else if (rest.length > 0) yield [new Line(rest, undefined, 0, rest.length, 0)];
}

/** Yields the complete lines of a file from `start` to `end`, the first one first, in batches. */
export async function* linesForwards(
  file: ReadFile,
  start: number,
  end: number,
  maxLine = MAX_LINE,
): AsyncGenerator<readonly Line[]> {
  let rest: Buffer = EMPTY;
  let at = start;
  /** The start of an overlong line, while its end is being searched. */
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

/** A line with its LF, and its position. Its text is decoded on demand. */
export class Line {
  readonly #chunk: Uint8Array;
  /** The chunk as text, if it is ASCII, so that byte offsets are character offsets. */
  readonly #ascii: string | undefined;
  readonly #left: number;
  readonly #right: number;
  readonly #base: number;

  /** `base`: the offset of the chunk in the file. */
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

  /** Whether the line is longer than `MAX_LINE`. The bytes of such a line are not buffered. */
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

/** Starts a read. A failure is thrown where the caller awaits the bytes. */
function readAhead(file: ReadFile, start: number, length: number): Promise<Uint8Array> {
  const read = file.read(start, length);
  read.catch(() => {});
  return read;
}

const HEAD_BYTES = 96;
const HEAD = /^(?:\xef\xbb\xbf)?\{"seq":(\d+),"epoch":\d+,"prev":(\d+),/;
const BEGINNING = Buffer.from('{"seq":');
const BOM = Buffer.from("\ufeff");

/**
 * Returns the sequence number of the line that starts at `from`; undefined if the line is no commit, or if its numbers
 * are inconsistent.
 */
export function seqOf(bytes: Uint8Array, from = 0): number | undefined {
  // Decoding is expensive, and there may be a million lines that are no commits.
  const begin = hasAt(bytes, from, BOM) ? from + BOM.length : from;
  if (!hasAt(bytes, begin, BEGINNING)) return undefined;
  const length = Math.min(bytes.length - from, HEAD_BYTES);
  const found = HEAD.exec(Buffer.from(bytes.buffer, bytes.byteOffset + from, length).toString("latin1"));
  return found !== null && Number(found[1]) === Number(found[2]) + 1 ? Number(found[1]) : undefined;
}

function hasAt(bytes: Uint8Array, from: number, wanted: Uint8Array): boolean {
  for (let nth = 0; nth < wanted.length; nth++) if (bytes[from + nth] !== wanted[nth]) return false;
  return true;
}
